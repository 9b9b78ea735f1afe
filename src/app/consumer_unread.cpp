// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The part of consumer_session that looks after what it holds and does not read: partitions that the brokers
// do not answer for, which are asked about until they do, and the ends of logs that no fetch tells.
#include <algorithm>
#include <utility>

#include "app/consumer_session.hpp"
#include "app/counted.hpp"
#include "kafka/kafka_error.hpp"

namespace ratchet {

namespace {

using std::chrono::seconds;

/// How often the brokers are asked about partitions that wait for their answer, and about the others.
constexpr seconds k_ask_again{1};
constexpr seconds k_ask_ends{5};
/// `until_end` waits for the brokers of a partition so long; then it is told that this one was not read.
constexpr seconds k_end_patience{60};
constexpr std::size_t k_most_names = 5;
constexpr const char* k_held_obstacle = "held";
constexpr const char* k_away_obstacle = "brokers";

}  // namespace

void consumer_session::hold(const topic_partition& where, const std::string& why) {
  const auto [at, is_new] = held_.try_emplace(where, held_partition{why, around_.clock.steady(), false});
  if (!is_new) at->second.answered = false;
  if (is_new && held_lines_.due(around_.clock.steady())) {
    around_.log->warn("{} cannot be read now: {}; it is asked about again, and the others are read{}",
                      to_string(where), why, held_lines_.held_back());
  }
  if (assigned_.erase(where) != 0) {
    if (const auto paused = around_.from.pause(std::span{&where, 1}); !paused)
      around_.log->warn("{} could not be paused: {}", to_string(where), paused.error().message());
  }
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

std::optional<session_result> consumer_session::take_up_held(time_point now) {
  std::vector<topic_partition> answered;
  std::vector<topic_partition> given_up;
  for (auto& [where, held] : held_) {
    if (held.answered) answered.push_back(where);
    if (options_.until_end && assigned_once_ && now - held.since >= k_end_patience) given_up.push_back(where);
  }
  for (const topic_partition& where : given_up) {
    const std::string why = held_.extract(where).mapped().why;
    on_dead_partition(where, why, make_error_code(errc::source_unavailable));
    std::erase(answered, where);
  }
  if (!given_up.empty()) tell_of_held();
  if (answered.empty() || (needs_all_answers() && answered.size() < held_.size())) return std::nullopt;
  for (const topic_partition& where : answered) held_.at(where).answered = false;
  const run_meter::long_work answering{around_.meter, "looking at partitions whose brokers are back"};
  if (auto ended = settle()) return ended;
  return take_up(answered, true);
}

bool consumer_session::is_fetched(const topic_partition& where) const {
  if (held_back() || !assigned_.contains(where) || reported_stops_.contains(where)) return false;
  const stream_runtime* stream = pipeline_.stream_of(where.topic);
  return stream == nullptr || !held_streams_.contains(stream->id);
}

void consumer_session::ask_brokers(time_point now) {
  if (last_asked_ && now - *last_asked_ < (held_.empty() ? seconds{k_ask_ends} : seconds{k_ask_again}))
    return;
  last_asked_ = now;
  std::vector<topic_partition> wanted;
  for (const auto& [where, unused] : held_) wanted.push_back(where);
  for (const topic_partition& where : reported_stops_) wanted.push_back(where);
  for (const auto& [where, unused] : assigned_) {
    const bool is_stopped = reported_stops_.contains(where);
    // While no broker answers, one partition is asked about, only to see when they do.
    if (!is_stopped && (!is_fetched(where) || (are_away_ && wanted.empty()))) wanted.push_back(where);
  }
  if (!wanted.empty()) around_.from.ask_bounds(wanted);
}

void consumer_session::on_bounds_told(const notice::bounds_told& told) {
  const auto held = held_.find(told.where);
  if (told.code) {
    if (held != held_.end()) held->second.why = told.code.message();
    return;
  }
  note_answer();
  const bool is_stopped = reported_stops_.contains(told.where);
  if (!is_stopped && held == held_.end() && !assigned_.contains(told.where)) return;  // given back since
  if (held != held_.end()) held->second.answered = true;
  if (is_fetched(told.where)) return;  // fetches tell it
  asked_ends_.insert_or_assign(told.where, told.found.end);
  around_.board.set_log_end(stream_name(told.where), told.where, told.found.end);
}

void consumer_session::note_trouble(const notice::trouble& t) {
  if (is_all_brokers_down(t.code)) {
    are_away_ = true;
    around_.board.set_obstacle(k_away_obstacle, "no broker answers: " + t.text);
  }
  if (!troubles_.due(around_.clock.steady())) return;
  in_trouble_ = true;
  around_.log->warn("brokers: {}; it goes on by itself{}", t.text, troubles_.held_back());
}

void consumer_session::note_answer() {
  if (std::exchange(are_away_, false)) around_.board.clear_obstacle(k_away_obstacle);
}

}  // namespace ratchet
