// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The part of consumer_session that finds out why a partition stands still before the end of its log: a
// transaction of some producer is open.
#include <chrono>
#include <string>
#include <vector>

#include "consumer/assignment.hpp"
#include "consumer/consumer_session.hpp"
#include "core/typed_command.hpp"
#include "text/partition_name.hpp"

namespace ratchet {

namespace {

using std::chrono::minutes;
using std::chrono::seconds;

/// Transactions of moments are how such topics are written: who stands still for longer asks.
constexpr seconds k_suspicious{1};
/// And says so behind this.
constexpr seconds k_worth_a_line{5};
/// Brokers end a transaction by themselves after its transaction.timeout.ms, of which they take 15 minutes
/// at most by default, and look whether it is over a few times a minute. `until_end` waits no longer.
constexpr minutes k_transaction_patience{16};

std::string what_is_held_back(const topic_partition& where, const open_transaction& open) {
  return to_string(where) + ": the transaction that began at offset " + std::to_string(open.offset) +
         " is open, and holds back " + range(open.offset, open.high);
}

std::string way_past_transaction(const topic_partition& where, const kafka_config& kafka) {
  const std::string brokers = "kafka-transactions.sh --bootstrap-server " + shell_word(kafka.brokers.front());
  return "start again: it goes on where it stands. If its producer does not end the transaction, `" +
         brokers + " find-hanging --topic " + shell_word(where.topic) + " --partition " +
         std::to_string(static_cast<std::int32_t>(where.partition)) +
         "` names it, and `abort` of that tool ends it";
}

}  // namespace

bool consumer_session::goes_on(const topic_partition& where) const {
  const partition_state* state = pipeline_.find(where);
  const auto end = deps_.source.known_end(where);
  return state != nullptr && end && *end > state->next_offset;
}

bool consumer_session::stands_still(const topic_partition& where, time_point now) const {
  const partition_state* state = pipeline_.find(where);
  if (state == nullptr || !is_fetched(where)) return false;
  const auto since = ends_.since(where, state->next_offset);
  return since && now - *since >= k_suspicious && goes_on(where);
}

void consumer_session::look_what_stands_still(time_point now) {
  stand_still_.clear();
  for (const auto& [where, unused] : partitions_.assigned()) {
    if (!transactions_.has(where) && stands_still(where, now)) stand_still_.push_back(where);
  }
}

void consumer_session::forget_transactions() {
  for (const auto& [where, unused] : transactions_.all())
    deps_.status.set_held_back(stream_name(where), where, std::nullopt);
  transactions_.forget();
  stand_still_.clear();
}

void consumer_session::note_open_transaction(const notice::bounds_told& told) {
  const time_point now = deps_.clock.steady();
  if (!stands_still(told.where, now)) return;
  const std::int64_t next = pipeline_.find(told.where)->next_offset;
  transactions_.note(told.where, told.found, next, ends_.since(told.where, next).value_or(now));
}

turn_result<> consumer_session::look_at_transactions(time_point now) {
  std::vector<topic_partition> moved_on;
  std::vector<topic_partition> idle;
  for (auto& [where, open] : transactions_.all()) {
    const partition_state* state = pipeline_.find(where);
    if (state == nullptr || state->next_offset > open.offset || !partitions_.is_read(where)) {
      moved_on.push_back(where);
      continue;
    }
    // What is held back has its times: they are still to come.
    if (state->idle) idle.push_back(where);
    deps_.status.set_held_back(stream_name(where), where, open.offset);
    tell_of_transaction(where, open, now);
    if (options_.until_end && !goals_.has_reached(where) && now - open.since >= k_transaction_patience) {
      moved_on.push_back(where);
      const std::string why =
          what_is_held_back(where, open) + ", for " + std::to_string(k_transaction_patience.count()) +
          " minutes: it is not waited for any longer\n" + way_past_transaction(where, deps_.settings.kafka);
      tell_of_stop(where, why, {.offset = open.offset});
      stop_outside_a_step(where, make_error_code(errc::partition_stopped), open.offset, why);
      pause(where);
    }
  }
  for (const topic_partition& where : moved_on) {
    transactions_.leave(where);
    deps_.status.set_held_back(stream_name(where), where, std::nullopt);
  }
  return stored(pipeline_.hold_floor_back(idle));
}

void consumer_session::tell_of_transaction(const topic_partition& where, open_transaction& open,
                                           time_point now) {
  if (open.told || now - open.since < k_worth_a_line || !transaction_lines_.due(now)) return;
  open.told = true;
  tell_of(deps_.log, log_kind::transaction_open,
          {.stream = stream_name(where), .where = &where, .offset = open.offset},
          what_is_held_back(where, open) +
              ": they are read once it is committed or aborted, which the brokers do by themselves after its "
              "transaction.timeout.ms" +
              transaction_lines_.suppressed());
}

}  // namespace ratchet
