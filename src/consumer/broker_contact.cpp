// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/broker_contact.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "ports/source_condition.hpp"

namespace ratchet {

namespace {

using std::chrono::seconds;

/// How often the brokers are asked about partitions that wait for their answer, and about the others.
constexpr seconds k_ask_again{1};
constexpr seconds k_ask_ends{5};
/// One partition is asked about behind the other, each no longer than this.
constexpr seconds k_one_question{2};
/// No answer to any question for so long: the brokers are away.
constexpr seconds k_silence{5};

}  // namespace

void broker_contact::note_answer() {
  last_answer_ = deps_.clock.steady();
  unanswered_since_.reset();
  if (std::exchange(are_away_, false)) deps_.status.clear_condition(k_brokers_condition);
}

void broker_contact::note_records() {
  note_answer();
  if (std::exchange(in_trouble_, false)) tell(deps_.log, log_kind::brokers_back, "records flow again");
}

void broker_contact::note_trouble(const notice::trouble& t) {
  if (t.code == source_condition::all_brokers_down) {
    are_away_ = true;
    deps_.status.raise_condition(k_brokers_condition, "no broker answers: " + t.text);
  }
  if (!troubles_.due(deps_.clock.steady())) return;
  in_trouble_ = true;
  tell(deps_.log, log_kind::brokers_away, "the Kafka client reports: {}; Ratchet keeps trying{}", t.text,
       troubles_.suppressed());
}

/// A connection that hangs says nothing by itself.
void broker_contact::tell_of_silence(time_point now) {
  if (are_away_ || !unanswered_since_ || now - *unanswered_since_ < k_silence) return;
  are_away_ = true;
  tell(deps_.log, log_kind::brokers_away, "no broker has answered for {} seconds; Ratchet keeps trying",
       k_silence.count());
  deps_.status.raise_condition(k_brokers_condition, "no broker answers");
}

void broker_contact::turn(time_point now, bool is_urgent, const std::function<questions()>& what) {
  // Whoever stood still himself, as behind SIGSTOP, has heard nothing that was said meanwhile.
  if (unanswered_since_ && last_turn_ && now - *last_turn_ >= k_silence) unanswered_since_ = now;
  last_turn_ = now;
  tell_of_silence(now);
  const seconds pause = is_urgent || unanswered_since_ ? k_ask_again : k_ask_ends;
  if (last_asked_ && now - *last_asked_ < pause) return;
  // The answers of a round come one by one: their lateness is no silence of all brokers.
  if (!open_.empty() && now < round_ends_) return;
  last_asked_ = now;
  const questions q = what();
  std::vector<topic_partition> wanted;
  if (are_away_ || is_urgent || !last_answer_ || now - *last_answer_ >= k_ask_ends) {
    // First of all: those behind it may be the ones whose brokers are away.
    if (const auto any = next_of(q.known)) wanted.push_back(*any);
  }
  wanted.insert(wanted.end(), q.anyhow.begin(), q.anyhow.end());
  if (wanted.empty()) return;
  if (!unanswered_since_) unanswered_since_ = now;
  open_ = {wanted.begin(), wanted.end()};
  round_ends_ = now + static_cast<std::int64_t>(wanted.size()) * k_one_question;
  deps_.source.ask_bounds(wanted);
}

std::optional<topic_partition> broker_contact::next_of(std::span<const topic_partition> known) {
  if (known.empty()) return std::nullopt;
  const auto next = asked_last_ ? std::upper_bound(known.begin(), known.end(), *asked_last_) : known.begin();
  asked_last_ = next == known.end() ? known.front() : *next;
  return asked_last_;
}

}  // namespace ratchet
