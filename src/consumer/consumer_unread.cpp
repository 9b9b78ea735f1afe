// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The part of consumer_session that looks after what it holds and does not read: partitions that the brokers
// do not answer for, which are asked about until they do, and the ends of logs that no fetch tells.
#include <algorithm>
#include <utility>

#include "consumer/consumer_session.hpp"
#include "core/shown_text.hpp"
#include "core/typed_command.hpp"
#include "ports/error_class.hpp"
#include "text/counted.hpp"
#include "text/partition_name.hpp"

namespace ratchet {

namespace {

using std::chrono::seconds;

/// How often the ends of the logs that are read are looked up, in the client's memory.
constexpr seconds k_log_end_interval{1};
/// `until_end` waits for the brokers of a partition so long; then it is told that this one was not read.
constexpr seconds k_end_patience{60};
/// What cannot be read so often, one time behind the other, is not the network's fault.
constexpr int k_most_unreadable = 3;
constexpr std::size_t k_most_names = 5;
constexpr const char* k_held_condition = "held";

/// What to type, as nobody but an operator can decide about it.
std::string way_past_batch(const topic_partition& where, const config& settings) {
  const kafka_config& kafka = settings.kafka;
  const std::string stop = settings.replicate ? "stop all instances of the log" : "stop this instance";
  return "nothing is lost: if another replica has the batch whole, make that replica the leader and start "
         "again; to skip the batch, " +
         stop +
         ", find its last offset on the broker with "
         "`kafka-dump-log.sh --files`, run `kafka-consumer-groups.sh --bootstrap-server " +
         shell_word(kafka.brokers.front()) + " --group " + shell_word(kafka.group) + " --topic " +
         shell_word(where.topic + ":" + std::to_string(static_cast<std::int32_t>(where.partition))) +
         " --reset-offsets --execute --to-offset N` with N the offset after it, then run " +
         typed_command("run", "--resume kafka");
}

}  // namespace

void consumer_session::hold(const topic_partition& where, const std::string& why) {
  const time_point now = deps_.clock.steady();
  const partition_set::was before = partitions_.hold(where, why, now);
  if (before != partition_set::was::held && held_lines_.due(now)) {
    tell(deps_.log, log_kind::partition_held,
         "{} cannot be read now: {}; Ratchet asks again until it can be read{}", to_string(where), why,
         held_lines_.suppressed());
  }
  if (before == partition_set::was::assigned) pause(where);
  ends_.leave(where);
}

void consumer_session::tell_of_held() {
  const auto& held = partitions_.held();
  if (held.empty()) return deps_.status.clear_condition(k_held_condition);
  std::string names;
  std::size_t named = 0;
  for (const auto& [where, unused] : held) {
    if (++named > k_most_names) {
      names += ", ...";
      break;
    }
    names += (names.empty() ? "" : ", ") + to_string(where);
  }
  deps_.status.raise_condition(k_held_condition, counted(held.size(), "partition") + " (" + names +
                                                     ") cannot be read now: " + held.begin()->second.why +
                                                     "; Ratchet asks again until they can be read");
}

void consumer_session::give_up_held(time_point now) {
  if (partitions_.held_since(now - k_end_patience).empty()) return;
  // What must be decided for all of them together is decided for none.
  const auto given_up = partitions_.held_since(ownership_.needs_all_answers() ? now : now - k_end_patience);
  for (const topic_partition& where : given_up)
    on_dead_partition(where, partitions_.release(where), make_error_code(errc::source_unavailable));
  tell_of_held();
}

turn_result<> consumer_session::take_up_held(time_point now) {
  if (options_.until_end) give_up_held(now);
  if (ownership_.needs_all_answers() && !partitions_.all_held_answered()) return go_on();
  const std::vector<topic_partition> answered = partitions_.take_answered();
  if (answered.empty()) return go_on();
  const run_meter::long_work answering{deps_.meter, "looking at partitions whose brokers are back"};
  RATCHET_TRY(drain_to_go_on());
  return take_up(answered, true);
}

/// Reads it again from the state's position, as the client may have gone on behind the batch.
turn_result<> consumer_session::on_unreadable(const notice::unreadable& u) {
  if (!partitions_.is_read(u.where)) return go_on();
  RATCHET_TRY(drain_to_go_on());
  const std::int64_t next = pipeline_.find(u.where)->next_offset;
  const std::int64_t offset = std::max(u.offset, next);
  const std::string what =
      to_string(u.where) + " cannot be read at offset " + std::to_string(offset) + ": " + shown_text(u.text);
  if (troubles_.note_unreadable(u.where, next) < k_most_unreadable) {
    if (topic_troubles_.due(deps_.clock.steady()))
      tell(deps_.log, log_kind::topic_unreadable, "{}; fetching it again{}", what,
           topic_troubles_.suppressed());
    return read_again();
  }
  const std::string why = what + "; stopped before it\n" + way_past_batch(u.where, deps_.settings);
  tell_of_stop(u.where, why, {.offset = offset});
  stop_outside_a_step(u.where, make_error_code(errc::partition_stopped), offset, why);
  pause(u.where);
  return go_on();
}

bool consumer_session::is_fetched(const topic_partition& where) const {
  if (flow_.holds_all() || !partitions_.is_read(where)) return false;
  const partition_task* task = pipeline_.task_of(where.topic);
  return task == nullptr || !flow_.holds(task->stream.id);
}

void consumer_session::tell_log_ends(time_point now) {
  if (last_log_ends_ && now - *last_log_ends_ < k_log_end_interval) return;
  last_log_ends_ = now;
  for (const auto& [where, unused] : partitions_.assigned()) {
    if (!is_fetched(where)) continue;  // what the client knows is of its last fetch
    const auto asked = ends_.asked(where);
    const auto end = deps_.source.known_end(where);
    // An end that was told with all that came before it is not taken back by an older answer.
    const partition_state* state = pipeline_.find(where);
    if (!end || state == nullptr || *end < state->next_offset) continue;
    if (asked && *end < *asked) continue;
    deps_.status.set_log_end(stream_name(where), where, *end);
  }
  look_what_stands_still(now);
}

void consumer_session::ask_brokers(time_point now) {
  std::vector<topic_partition> known;
  brokers_.turn(now, !partitions_.held().empty() || !stand_still_.empty(), [&] {
    broker_contact::questions ask;
    ask.anyhow = stand_still_;
    for (const auto& [where, unused] : partitions_.held()) ask.anyhow.push_back(where);
    ask.anyhow.insert(ask.anyhow.end(), partitions_.stopped().begin(), partitions_.stopped().end());
    for (const auto& [where, unused] : partitions_.assigned()) {
      known.push_back(where);
      if (!partitions_.is_stopped(where) && !is_fetched(where)) ask.anyhow.push_back(where);
    }
    ask.known = known.empty() ? std::span<const topic_partition>{partitions_.all()} : known;
    return ask;
  });
}

void consumer_session::on_bounds_told(const notice::bounds_told& told) {
  brokers_.note_told(told.where);
  if (told.code) {
    if (classify(told.code) == error_class::missing) brokers_.note_answer();  // somebody says so
    if (partitions_.set_why(told.where, told.code.message())) tell_of_held();
    return;
  }
  brokers_.note_answer();
  const bool is_given = partitions_.is_stopped(told.where) || partitions_.is_held(told.where) ||
                        partitions_.is_assigned(told.where);
  if (!is_given) return;  // given back since
  partitions_.note_answer(told.where);
  if (is_fetched(told.where)) {  // fetches tell its end
    note_open_transaction(told);
    return;
  }
  ends_.note_asked(told.where, told.found.last());
  deps_.status.set_log_end(stream_name(told.where), told.where, told.found.last());
}

}  // namespace ratchet
