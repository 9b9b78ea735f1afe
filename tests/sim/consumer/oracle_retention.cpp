// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What is forgotten, by the words of the contract: by the times of records alone, record by record.
#include <algorithm>
#include <string>
#include <string_view>

#include "sim/consumer/plain_oracle.hpp"
#include "sim/consumer/world_port.hpp"

namespace ratchet::sim {

void plain_oracle::set_retention(std::optional<std::int64_t> retention) {
  retention_ = retention;
  forget_more();
}

/// The stream's.
std::optional<std::int64_t> plain_oracle::time() const {
  return floor_ ? std::optional{*floor_ + setup_->window} : std::nullopt;
}

/// Before this record: of its partition, or of the stream where that is further.
std::optional<std::int64_t> plain_oracle::time_reached(const message& m) const {
  return std::max(partitions_[m.partition].highest, time());
}

std::optional<std::int64_t> plain_oracle::forgets_before(const message& m) const {
  const auto reached = time_reached(m);
  if (!retention_ || !reached) return forgets_before_;
  return std::max(forgets_before_, std::optional{*reached - *retention_});
}

/// Nothing of it waits, and what was handled last lies too far back.
bool plain_oracle::is_over(const aggregate& a, std::optional<std::int64_t> before) const {
  const auto last = a.seen ? a.seen : counts_from_;
  return a.waiting.empty() && a.accepted.empty() && before && last && *last < *before;
}

bool plain_oracle::is_gone(const message& m) const {
  const auto known = aggregates_.find(m.aggregate);
  return known != aggregates_.end() && is_over(known->second, forgets_before(m));
}

bool plain_oracle::is_long_forgotten(const aggregate& a, std::int64_t by) const {
  return forgets_before_ && !a.was_decided && is_over(a, *forgets_before_ - by);
}

/// To be the first event of an aggregate that nobody knows: it may have been handled and forgotten.
bool plain_oracle::is_too_old(const message& m, bool seen) const {
  if (!retention_) return false;
  // Nobody is asked about a number that no aggregate has.
  if (setup_->parks_too_old && setup_->strict && setup_->first == first_number::one && m.number == 0)
    return false;
  const auto before = forgets_before(m);
  return seen || (m.time && before && *m.time < *before);
}

std::uint64_t plain_oracle::aggregate::undecided() const {
  return static_cast<std::uint64_t>(
      std::count_if(waiting.begin(), waiting.end(), [](const auto& w) { return w.second.undecided; }));
}

/// Nothing of it was handled that Ratchet knows of, and what is too old waits for an operator.
bool plain_oracle::is_unknown(const aggregate& a) const {
  return setup_->strict && !a.exists && a.undecided() > 0;
}

/// Its aggregate waits as a whole, but for what an operator has let in.
bool plain_oracle::waits_for_people(const aggregate& a, const waiter& w) const {
  return is_unknown(a) && w.state == fate::parked;
}

/// Of what is said about it.
std::uint64_t plain_oracle::bytes_of_too_old() const {
  constexpr std::string_view k_by_id =
      "its id is older than the window, so Ratchet cannot tell whether it was handled: replay it, or skip it";
  constexpr std::string_view k_by_time =
      "it is older than `retention` and its aggregate is unknown, so Ratchet cannot tell whether it was "
      "handled: replay it, or skip it";
  return setup_->arrival ? k_by_id.size() : k_by_time.size();
}

/// An operator lets it in: from now on it is as any other that came in time.
void plain_oracle::decide_about(aggregate& a, std::map<place, waiter>::iterator at) const {
  waiter& w = at->second;
  w.undecided = false;
  w.error_bytes = 0;
  const bool is_next = !setup_->strict || (at == a.waiting.begin() && comes_next(a, at->first));
  w.state = is_next ? fate::retrying : fate::parked;
  if (is_next) w.due = now_;
  if (!is_next && time()) a.opened = time();
}

void plain_oracle::begin_anew(std::uint32_t which) {
  aggregate& a = aggregates_[which];
  if (handled(a).exists) ++forgotten_;
  anew_.insert(which);
  aggregate blank;
  blank.bound = a.bound;  // where the step ended is its own choice, whatever it forgot before
  blank.accept_bound = a.accept_bound;
  a = std::move(blank);
}

void plain_oracle::take_away(std::uint32_t which) {
  forget_more();
  const auto known = aggregates_.find(which);
  const bool is_there = known != aggregates_.end();
  if (!is_there || !is_over(known->second, forgets_before_))
    throw broken("the rows of a" + std::to_string(which) + " are taken away, which is not forgotten");
  if (handled(known->second).exists) ++forgotten_;
  anew_.insert(which);
  aggregates_.erase(known);
}

/// What was reached once stays, however long aggregates are remembered from then on.
void plain_oracle::forget_more() {
  if (!retention_) {
    counts_from_.reset();
    return;
  }
  if (!time()) return;
  if (!counts_from_) counts_from_ = time();
  forgets_before_ = std::max(forgets_before_, std::optional{*time() - *retention_});
}

void plain_oracle::touch(aggregate& a, std::optional<std::int64_t> when) const {
  a.seen = retention_ ? std::max(a.seen, when) : std::nullopt;
}

/// What waited counts from when it is let go on: behind the event at hand, if there is one.
void plain_oracle::touch_released(aggregate& a, const waiter& w) const {
  touch(a, w.of->time);
  a.was_touched = true;
}

/// A reducer that was deferred counts for nothing, unless it comes so late that all would be forgotten.
void plain_oracle::touch_late(aggregate& a) const {
  const bool is_late = !a.seen || (time() && retention_ && *a.seen < *time() - *retention_);
  if (!retention_ || is_late) touch(a, time());
}

void plain_oracle::end_touches() {
  for (auto& [number, a] : aggregates_) {
    if (std::exchange(a.was_touched, false)) touch(a, time());
  }
}

}  // namespace ratchet::sim
