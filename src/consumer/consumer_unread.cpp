// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The part of consumer_session that looks after what it holds and does not read: partitions that the brokers
// do not answer for, which are asked about until they do, and the ends of logs that no fetch tells.
#include <algorithm>
#include <utility>

#include "consumer/consumer_session.hpp"
#include "core/shown_text.hpp"
#include "core/typed_command.hpp"
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
constexpr const char* k_held_obstacle = "held";

/// What to type, as nobody but an operator can decide about it.
std::string way_past(const topic_partition& where, const kafka_config& kafka) {
  return "nothing is lost: where another replica has it whole, make that one the leader and start again. To "
         "pass over it, stop this instance, let `kafka-dump-log.sh --files` show on the broker where its "
         "batch "
         "ends, type `kafka-consumer-groups.sh --bootstrap-server " +
         shell_word(kafka.brokers.front()) + " --group " + shell_word(kafka.group) + " --topic " +
         shell_word(where.topic + ":" + std::to_string(static_cast<std::int32_t>(where.partition))) +
         " --reset-offsets --execute --to-offset N`, where N is the offset behind that, and then " +
         typed_command("run", "--resume kafka");
}

}  // namespace

void consumer_session::hold(const topic_partition& where, const std::string& why) {
  const auto [at, is_new] = held_.try_emplace(where, held_partition{why, around_.clock.steady(), false});
  if (!is_new) at->second.answered = false;
  if (is_new && held_lines_.due(around_.clock.steady())) {
    tell(around_.log, log_kind::partition_held,
         "{} cannot be read now: {}; it is asked about again, and the others are read{}", to_string(where),
         why, held_lines_.held_back());
  }
  if (assigned_.erase(where) != 0) pause(where);
  at_end_.erase(where);
}

void consumer_session::tell_of_held() {
  if (held_.empty()) return around_.board.clear_obstacle(k_held_obstacle);
  std::string names;
  std::size_t named = 0;
  for (const auto& [where, unused] : held_) {
    if (++named > k_most_names) {
      names += ", ...";
      break;
    }
    names += (names.empty() ? "" : ", ") + to_string(where);
  }
  around_.board.set_obstacle(k_held_obstacle, counted(held_.size(), "partition") + " (" + names +
                                                  ") cannot be read now: " + held_.begin()->second.why +
                                                  "; asked about again until that has passed");
}

bool consumer_session::needs_all_answers() const {
  return !assigned_once_ && options_.resume.option != resume_option::none;
}

turn_result<> consumer_session::take_up_held(time_point now) {
  std::vector<topic_partition> answered;
  std::vector<topic_partition> given_up;
  for (auto& [where, held] : held_) {
    if (held.answered) answered.push_back(where);
    if (options_.until_end && now - held.since >= k_end_patience) given_up.push_back(where);
  }
  if (!given_up.empty() && needs_all_answers()) {
    given_up.clear();
    for (const auto& [where, unused] : held_) given_up.push_back(where);
  }
  for (const topic_partition& where : given_up) {
    const std::string why = held_.extract(where).mapped().why;
    on_dead_partition(where, why, make_error_code(errc::source_unavailable));
    std::erase(answered, where);
  }
  if (!given_up.empty()) tell_of_held();
  if (answered.empty() || (needs_all_answers() && answered.size() < held_.size())) return go_on();
  for (const topic_partition& where : answered) held_.at(where).answered = false;
  const run_meter::long_work answering{around_.meter, "looking at partitions whose brokers are back"};
  RATCHET_TRY(settle_to_go_on());
  return take_up(answered, true);
}

void consumer_session::on_unreadable(const notice::unreadable& u) {
  if (!assigned_.contains(u.where) || reported_stops_.contains(u.where)) return;
  const std::int64_t next = pipeline_.find(u.where)->next_offset;
  unreadable_batch& met = unreadable_[u.where];
  if (met.next_offset != next) met = {next, 0};
  const std::int64_t offset = std::max(u.offset, next);
  const std::string what =
      to_string(u.where) + " cannot be read at offset " + std::to_string(offset) + ": " + shown_text(u.text);
  if (++met.times < k_most_unreadable) {
    if (topic_troubles_.due(around_.clock.steady()))
      tell(around_.log, log_kind::topic_unreadable, "{}; it is fetched again{}", what,
           topic_troubles_.held_back());
    return;
  }
  const std::string why = what + "; stopped before it\n" + way_past(u.where, around_.settings.kafka);
  tell_of_stop(u.where, why, {.offset = offset});
  stop_outside_a_step(u.where, make_error_code(errc::partition_stopped), offset, why);
  pause(u.where);
}

bool consumer_session::is_fetched(const topic_partition& where) const {
  if (flow_.holds_all() || !assigned_.contains(where) || reported_stops_.contains(where)) return false;
  const stream_runtime* stream = pipeline_.stream_of(where.topic);
  return stream == nullptr || !flow_.holds(stream->id);
}

void consumer_session::tell_log_ends(time_point now) {
  if (last_log_ends_ && now - *last_log_ends_ < k_log_end_interval) return;
  last_log_ends_ = now;
  for (const auto& [where, unused] : assigned_) {
    if (!is_fetched(where)) continue;  // what the client knows is of its last fetch
    const auto asked = asked_ends_.find(where);
    const auto end = around_.from.known_end(where);
    // An end that was told with all that came before it is not taken back by an older answer.
    const partition_state* state = pipeline_.find(where);
    if (!end || state == nullptr || *end < state->next_offset) continue;
    if (asked != asked_ends_.end() && *end < asked->second) continue;
    around_.board.set_log_end(stream_name(where), where, *end);
  }
}

void consumer_session::ask_brokers(time_point now) {
  std::vector<topic_partition> known;
  brokers_.turn(now, !held_.empty(), [&] {
    broker_contact::questions ask;
    for (const auto& [where, unused] : held_) ask.anyhow.push_back(where);
    ask.anyhow.insert(ask.anyhow.end(), reported_stops_.begin(), reported_stops_.end());
    for (const auto& [where, unused] : assigned_) {
      known.push_back(where);
      if (!reported_stops_.contains(where) && !is_fetched(where)) ask.anyhow.push_back(where);
    }
    ask.known = known.empty() ? std::span<const topic_partition>{all_partitions_} : known;
    return ask;
  });
}

void consumer_session::on_bounds_told(const notice::bounds_told& told) {
  brokers_.note_told(told.where);
  const auto held = held_.find(told.where);
  if (told.code) {
    if (told.code == make_error_code(errc::topic_missing)) brokers_.note_answer();  // somebody says so
    if (held != held_.end()) {
      const std::string before = std::exchange(held->second.why, told.code.message());
      if (before != held->second.why) tell_of_held();
    }
    return;
  }
  brokers_.note_answer();
  const bool is_stopped = reported_stops_.contains(told.where);
  if (!is_stopped && held == held_.end() && !assigned_.contains(told.where)) return;  // given back since
  if (held != held_.end()) held->second.answered = true;
  if (is_fetched(told.where)) return;  // fetches tell it
  asked_ends_.insert_or_assign(told.where, told.found.end);
  around_.board.set_log_end(stream_name(told.where), told.where, told.found.end);
}

}  // namespace ratchet
