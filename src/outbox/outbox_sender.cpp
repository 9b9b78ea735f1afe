// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "outbox/outbox_sender.hpp"

#include <algorithm>
#include <utility>

#include "core/assert.hpp"
#include "core/shown_id.hpp"
#include "core/typed_command.hpp"
#include "outbox/dead_letters.hpp"
#include "outbox/published_rows.hpp"

namespace ratchet {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds k_first_pause{500};
constexpr milliseconds k_longest_pause{30'000};

/// Nothing else is under way while those that were refused are sent alone, or together. So many times are in
/// a row, which begins no new one behind some time, and then the others have as long as these took, within
/// bounds.
constexpr std::size_t k_most_alone = 10;
constexpr std::uint64_t k_most_company_bytes = std::uint64_t{4} << 20U;
constexpr milliseconds k_longest_row{1'000};
constexpr milliseconds k_least_for_others{100};
constexpr milliseconds k_most_for_others = k_longest_pause + outbox_sender::k_longest_quiet;
/// What has to be tried again is so at once for all that are due since.
constexpr milliseconds k_wake_pause{1'000};
constexpr std::size_t k_woken_by_success = 10;
constexpr const char* k_doubtful = "it is not smaller than one that was refused for its size";

milliseconds pause_behind(std::uint32_t attempts) {
  constexpr std::uint32_t k_enough = 20;
  const std::int64_t times = std::int64_t{1} << std::min(attempts - 1, k_enough);
  return std::min(outbox_sender::k_longest_stuck_pause, outbox_sender::k_stuck_pause * times);
}

}  // namespace

outbox_sender::outbox_sender(const outbox_store& from, publisher& to, log_ptr log)
    : store_{from},
      to_{to},
      log_{std::move(log)},
      lane_{{}, store_.outbox(), store_.last_step()},
      read_{lane_.first()},
      next_{read_} {}

bool outbox_sender::idle() const noexcept {
  return !waits_for_sync() && entries_.empty() && apart_.empty() && held_.empty() &&
         read_ == lane_.durable_next();
}

bool outbox_sender::is_drained() const noexcept {
  const bool none_but_refused =
      entries_.size() <= k_most_company &&
      std::all_of(entries_.begin(), entries_.end(), [&](const auto& e) { return apart_.contains(e.first); });
  return !waits_for_sync() && none_but_refused && apart_.size() == refused_ && !held_.next() &&
         read_ == lane_.durable_next();
}

result<void> outbox_sender::turn(time_point now) {
  lane_.note_durable(store_.durable_step());
  take_deliveries(now);
  tell_if_over();
  RATCHET_TRY(send_all(now));
  advance();
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

void outbox_sender::take_deliveries(time_point now) {
  for (const delivery& d : to_.delivered()) {
    const auto at = entries_.find(d.position);
    if (at == entries_.end() || at->second.at == step_of::queued) {  // sent before this one was made
      while (!passed_.empty()) take_up(std::string{passed_.begin()->first});
      continue;
    }
    --under_way_;
    take_up(at->second.row.topic);
    ended(at, d, now);
  }
}

void outbox_sender::ended(entries::iterator at, const delivery& d, time_point now) {
  const bool was_alone = at->second.at == step_of::alone;
  if (d.ended == delivery::how::done) {
    ++sent_total_;
    delivered(at);
  } else if (d.ended == delivery::how::again) {
    failed(at, d.text, now);
  } else if (d.ended == delivery::how::unfit) {
    if (apart_.contains(at->first) || set_apart(at)) return refused_alone(at, d.text, now);
    drop(at);
  } else if (was_alone) {
    in_company_ = 0;  // so that the next one is alone, too
    refused_alone(at, d.text, now);
  } else {
    refused_in_company(at);
  }
}

void outbox_sender::delivered(entries::iterator at) {
  const entry& e = at->second;
  lane_.delivered(at->first, e.bytes);
  if (const auto of = apart_.find(at->first); of != apart_.end()) {
    got_through_ = got_through_ || of->second.attempts > 0;
    forget(at->first);
    if (e.row.kind == output_kind::published) held_.release(e.row);
  }
  drop(at);
}

void outbox_sender::failed(entries::iterator at, const std::string& why, time_point now) {
  entry& e = at->second;
  if (!again_at_) {
    pause_ = std::clamp(pause_ * 2, k_first_pause, k_longest_pause);
    again_at_ = now + pause_;
  }
  away_to_ = std::max(away_to_, at->first + 1);
  away_ = "the topic `" + e.row.topic + "` takes no messages: " + why;
  if (troubles_.due(now))
    tell(log_, log_kind::messages_in_trouble, "{}; messages are kept and sent again{}", *away_,
         troubles_.suppressed());
  if (const auto of = apart_.find(at->first); of != apart_.end()) {
    note_failing(of->second, true);
    return put_apart_again(at);
  }
  mending_ = true;
  e.at = step_of::queued;
  next_ = std::min(next_, at->first);
}

/// Other refused ones have their turn before it, as it may end so for ever, and what was not refused before
/// them.
void outbox_sender::put_apart_again(entries::iterator at) {
  alone_.insert(at->first);
  alone_from_ = at->first + 1;
  in_row_ = k_most_alone;
  drop(at);
}

void outbox_sender::note_failing(apart& of, bool fails) {
  if (of.fails) --failing_;
  if (fails) ++failing_;
  of.fails = fails;
}

/// One of them may be the cause, or all are too large together.
void outbox_sender::refused_in_company(entries::iterator at) {
  if (const auto of = apart_.find(at->first); of != apart_.end()) {
    note_failing(of->second, false);
    company_refused_ = true;
    alone_.insert(at->first);
  } else if (set_apart(at)) {
    alone_.insert(at->first);
    ++apart_anew_;
  }
  drop(at);
}

/// False: it waits behind another one that was.
bool outbox_sender::set_apart(entries::iterator at) {
  const output_row& row = at->second.row;
  if (row.kind == output_kind::published) {
    const held_aggregates::verdict v = held_.refuse(row);
    if (v.was_first) forget(*v.was_first);
    if (!v.is_first) return false;
  }
  apart_.try_emplace(at->first);
  return true;
}

void outbox_sender::refused_alone(entries::iterator at, const std::string& why, time_point now) {
  entry& e = at->second;
  apart& of = apart_.at(at->first);
  note_failing(of, false);
  if (e.row.kind == output_kind::published) {
    hold_back(e, of, why, now);
  } else if (!of.without_value && without_value(e.row)) {
    of.without_value = true;
    alone_.insert(at->first);
  } else {
    lane_.delivered(at->first, e.bytes);
    forget(at->first);
    given_up_.push_back({e.row, why});
  }
  drop(at);
}

void outbox_sender::hold_back(const entry& e, apart& of, const std::string& why, time_point now) {
  if (++of.attempts == 1) {
    ++refused_;
    of.told = skipped_row(e.row);
    of.told.kind = e.row.kind;
    of.told.type = e.row.type;
    of.bytes = e.bytes;
  } else {
    alone_from_ = e.row.position + 1;  // so that each that is due has its turn
  }
  of.why = why;
  of.until = now + pause_behind(of.attempts);
  waiting_.emplace(*of.until, e.row.position);
  refusal_ = "the topic `" + e.row.topic + "` does not take a message of `" + shown_id(e.row.aggregate) +
             "`: " + why;
  if (!troubles_.due(now)) return;
  tell(log_, log_kind::messages_in_trouble,
       "{}; it is kept and tried again, and later messages of its aggregate wait: check the topic's limit "
       "(max.message.bytes), and see {}{}",
       *refusal_, typed_command("sinks list"), troubles_.suppressed());
}

/// It is no longer among those that were refused.
void outbox_sender::forget(std::uint64_t position) {
  const auto at = apart_.find(position);
  if (at == apart_.end()) return;
  if (at->second.attempts > 0) --refused_;
  note_failing(at->second, false);
  if (at->second.until) waiting_.erase({*at->second.until, position});
  alone_.erase(position);
  apart_.erase(at);
}

outbox_sender::entries::iterator outbox_sender::drop(entries::iterator at) {
  if (at->second.was_held) held_.ended(at->second.row);
  held_bytes_ -= at->second.bytes;
  return entries_.erase(at);
}

/// The lowest one that was not delivered is known: it is here, or it is the first of its aggregate that
/// waits.
void outbox_sender::advance() {
  std::uint64_t first = read_;
  if (!entries_.empty()) first = std::min(first, entries_.begin()->first);
  if (!apart_.empty()) first = std::min(first, apart_.begin()->first);
  if (const auto held = held_.next()) first = std::min(first, *held);
  lane_.advance(first);
}

void outbox_sender::tell_if_over() {
  const bool had = trouble().has_value();
  if (refused_ == 0) refusal_.reset();
  if (away_ && !again_at_ && (entries_.empty() || entries_.begin()->first >= away_to_)) {
    pause_ = {};
    if (failing_ == 0) away_.reset();
  }
  if (had && !trouble())
    tell(log_, log_kind::messages_get_through, "the messages of the outbox get through again");
}

std::vector<refused_message> outbox_sender::refused(time_point now, std::size_t limit) const {
  std::vector<refused_message> out;
  for (const auto& [position, of] : apart_) {
    if (out.size() == std::min(limit, refused_)) break;
    if (of.attempts == 0) continue;
    const bool waits = of.until && now < *of.until;
    const auto rest = waits ? *of.until - now : time_point::duration{0};
    out.push_back({of.told, of.attempts, std::chrono::ceil<milliseconds>(rest), of.why});
  }
  return out;
}

bool outbox_sender::retry(std::uint64_t position) {
  const auto at = apart_.find(position);
  if (at == apart_.end() || at->second.attempts == 0) return false;
  apart& of = at->second;
  if (!of.until) return true;  // it is about to be
  waiting_.erase({*of.until, position});
  of.until.reset();
  alone_.insert(position);
  return true;
}

std::optional<skipped_output> outbox_sender::skip(std::uint64_t position) const {
  const auto at = apart_.find(position);
  if (at == apart_.end() || at->second.attempts == 0 || entries_.contains(position)) return std::nullopt;
  return skipped_output{skipped_row(at->second.told), at->second.bytes};
}

void outbox_sender::skipped(const skipped_output& of) {
  const std::uint64_t position = of.row.position;
  held_.release(apart_.at(position).told);
  forget(position);
  lane_.delivered(position, of.row.bytes());
  tell_if_over();
  advance();
}

sending outbox_sender::hand_over(output_row& row) {
  RATCHET_ASSERT(row.position < lane_.durable_next());  // what a power cut could take back is not told
  if (row.kind != output_kind::published) return to_.send(row);
  write_event_headers(row, headers_);
  row.headers.swap(headers_);
  const sending s = to_.send(row);
  row.headers.swap(headers_);
  return s;
}

result<void> outbox_sender::send_all(time_point now) {
  reads_on_ = false;
  if (mending_ && under_way_ > 0) return BOOST_OUTCOME_V2_NAMESPACE::success();
  if (again_at_ && now < *again_at_) return BOOST_OUTCOME_V2_NAMESPACE::success();
  again_at_.reset();
  mending_ = false;
  if (quiet_since_ && under_way_ > 0) {
    if (now - *quiet_since_ < k_longest_quiet) return BOOST_OUTCOME_V2_NAMESPACE::success();
    go_on_beside();
  }
  quiet_since_.reset();
  wake_waiting(now);
  if (may_try_alone(now)) return try_alone(now);
  end_row(now);
  if (!send_queued(read_, now)) return BOOST_OUTCOME_V2_NAMESPACE::success();
  RATCHET_TRY(take_held());
  if (!send_queued(read_, now)) return BOOST_OUTCOME_V2_NAMESPACE::success();
  return send_new(now);
}

/// Those that are due; where one got through, the next ones before their time.
void outbox_sender::wake_waiting(time_point now) {
  if (!got_through_ && next_wake_ && now < *next_wake_) return;
  std::size_t early = std::exchange(got_through_, false) ? k_woken_by_success : 0;
  while (!waiting_.empty() && (waiting_.begin()->first <= now || early > 0)) {
    if (early > 0) --early;
    const std::uint64_t position = waiting_.begin()->second;
    waiting_.erase(waiting_.begin());
    apart_.at(position).until.reset();
    alone_.insert(position);
    next_wake_ = now + k_wake_pause;
  }
}

bool outbox_sender::has_other_work() const noexcept {
  return under_way_ > 0 || next_ < read_ || (has_room() && (held_.next() || read_ != lane_.durable_next()));
}

bool outbox_sender::may_try_alone(time_point now) const noexcept {
  if (alone_.empty()) return false;
  const bool has_turn = row_began_ ? !is_row_over(now) : now >= row_again_;
  return has_turn || !has_other_work();
}

bool outbox_sender::is_row_over(time_point now) const noexcept {
  return in_row_ >= k_most_alone || (in_row_ > 0 && now - *row_began_ >= k_longest_row);
}

/// Those have no order among each other: they are of distinct aggregates, or of none.
std::uint64_t outbox_sender::next_alone() const {
  const auto next = alone_.lower_bound(alone_from_);
  return next == alone_.end() ? *alone_.begin() : *next;
}

/// Alone, or with others like it: a batch of which one is refused costs as many tries as it can be halved.
result<void> outbox_sender::try_alone(time_point now) {
  const std::uint64_t first = next_alone();
  if (!row_began_ || is_row_over(now)) {
    row_began_ = now;
    in_row_ = 0;
  }
  if (under_way_ == 0) fit_company();
  auto at_last = alone_.find(first);
  for (std::size_t n = 1; n < company_ && std::next(at_last) != alone_.end(); ++n) ++at_last;
  const std::uint64_t last = *at_last;
  // What comes before them of their aggregates is sent first.
  if (under_way_ == 0 && !send_queued(last, now)) return BOOST_OUTCOME_V2_NAMESPACE::success();
  quiet_since_ = now;
  if (under_way_ > 0) return BOOST_OUTCOME_V2_NAMESPACE::success();
  const step_of as = last == first ? step_of::alone : step_of::under_way;
  const std::uint64_t most_bytes = held_bytes_ + k_most_company_bytes;
  std::uint64_t position = first;
  RATCHET_TRY(bool taken, send_apart(position, as));
  while (taken) {
    ++in_company_;
    if (position == last || held_bytes_ >= most_bytes) break;
    position = next_alone();
    RATCHET_TRY(taken, send_apart(position, as));
  }
  if (in_company_ > 0) ++in_row_;
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

/// False: there is no room for it now, or it is doubtful: then it is asked about when it is the first.
result<bool> outbox_sender::send_apart(std::uint64_t position, step_of as) {
  RATCHET_TRY(output_row row, read_again(position));
  const std::uint64_t bytes = row.bytes();
  if (apart_.at(position).without_value) row = *without_value(row);
  if (!is_taken(hand_over(row))) return false;
  entries_.emplace(position, entry{std::move(row), bytes, as});
  held_bytes_ += bytes;
  ++under_way_;
  alone_.erase(position);
  return true;
}

/// By what came of those that went together last, and not all that were refused together since.
void outbox_sender::fit_company() {
  if (company_refused_) {
    company_ = std::max<std::size_t>(1, in_company_ / 2);
  } else if (in_company_ == company_) {
    company_ = std::min(k_most_company, 2 * company_);
  }
  if (apart_anew_ > 0) company_ = std::clamp<std::size_t>(apart_anew_ / 2, 1, company_);
  apart_anew_ = 0;
  in_company_ = 0;
  company_refused_ = false;
}

/// What is under way may never end: brokers that are away keep it as long as they are.
void outbox_sender::go_on_beside() {
  in_row_ = k_most_alone;
  if (!alone_.empty()) alone_from_ = next_alone() + 1;
  for (auto& [position, e] : entries_) {
    if (e.at != step_of::alone) continue;
    e.at = step_of::under_way;  // and not alone: if it is refused now, that may be for its company
    alone_from_ = position + 1;
  }
}

/// The others have their turn.
void outbox_sender::end_row(time_point now) {
  if (!row_began_) return;
  const auto took = std::chrono::duration_cast<milliseconds>(now - *row_began_);
  row_again_ = now + std::clamp(took, k_least_for_others, k_most_for_others);
  row_began_.reset();
  in_row_ = 0;
}

/// It is held without asking; but a letter would lose its value by that, and keeps no others waiting.
outbox_sender::entries::iterator outbox_sender::doubted(entries::iterator at, time_point now) {
  if (!set_apart(at)) return drop(at);
  if (at->second.row.kind == output_kind::published) {
    hold_back(at->second, apart_.at(at->first), k_doubtful, now);
  } else {
    alone_.insert(at->first);
  }
  return drop(at);
}

/// The others of its topic wait behind it, so that they stay in order.
void outbox_sender::pass_over(const entry& e) {
  const auto [at, is_new] = passed_.try_emplace(e.row.topic, e.row.position);
  if (!is_new) at->second = std::min(at->second, e.row.position);
}

/// Something of the topic has ended, so that more of it may be taken.
void outbox_sender::take_up(const std::string& topic) {
  if (passed_.empty()) return;
  const auto at = passed_.find(topic);
  if (at == passed_.end()) return;
  next_ = std::min(next_, at->second);
  passed_.erase(at);
}

/// False: there is no room for more at the moment, or one came to its end, which may hold back others.
bool outbox_sender::send_queued(std::uint64_t until, time_point now) {
  for (auto at = entries_.lower_bound(next_); at != entries_.end() && at->first < until;) {
    entry& e = at->second;
    if (e.at == step_of::queued && held_.holds(e.row)) {
      held_.push(e.row);
      at = drop(at);
      continue;
    }
    if (e.at == step_of::queued && passed_.contains(e.row.topic)) {
      pass_over(e);
    } else if (e.at == step_of::queued) {
      const sending s = hand_over(e.row);
      if (s == sending::doubtful) {
        at = doubted(at, now);
        continue;
      }
      next_ = at->first;
      if (s == sending::full) return false;
      if (s == sending::topic_waits) {
        pass_over(e);
      } else {
        e.at = step_of::under_way;
        ++under_way_;
      }
      if (s == sending::ended) return false;
    }
    ++at;
  }
  next_ = std::max(next_, until);
  return true;
}

}  // namespace ratchet
