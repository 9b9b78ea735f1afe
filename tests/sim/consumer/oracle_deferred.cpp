// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Events whose reducer runs later: they are accepted, as if they had been applied, and then run in their
// order.
#include <algorithm>

#include "sim/consumer/plain_oracle.hpp"

namespace ratchet::sim {

plain_oracle::aggregate::position plain_oracle::handled(const aggregate& a) const {
  if (setup_->deferred) return a.handled;
  return {a.exists, a.last, a.id};
}

/// Its turn has come, but for its reducer.
void plain_oracle::let_in_later(place number, waiter w) {
  const std::uint32_t which = w.of->aggregate;
  aggregate& a = aggregates_[which];
  const auto above = a.waiting.upper_bound(number);
  if (above != a.waiting.end() && waited_for(a, above->first, number)) older_ = above->second.since;
  if (setup_->ids == id_kind::opaque) w.filed = time_of_id(*w.of);
  a.highest = std::max(a.highest, number.second);
  kept_ = std::pair{which, number};
  touch(a, std::max(time_reached(*w.of), w.of->time));
  accept(a, number, std::move(w));
  release(a);
  if (waiting_events() > setup_->most_events.value_or(~0ULL) ||
      waiting_bytes() > setup_->most_bytes.value_or(~0ULL))
    refused_ = refusal::full;
}

void plain_oracle::accept(aggregate& a, place number, waiter w) {
  take_in(a, number, w.what(), time_of_id(w));
  a.accepted.emplace(number, std::move(w));
}

bool plain_oracle::run_lowest(aggregate& a) {
  const auto lowest = a.waiting.begin();
  if (!setup_->deferred) return a.bound != lowest->first && run(a, lowest);
  if (a.accept_bound == lowest->first) return false;
  touch_released(a, lowest->second);
  accept(a, lowest->first, lowest->second);
  a.waiting.erase(lowest);
  return true;
}

/// The lowest of them; true where it was applied.
bool plain_oracle::run_accepted(aggregate& a) {
  const auto next = a.accepted.begin();
  const message& m = next->second.what();
  if (!succeeds(m, next->second.attempts + 1)) {
    fail(next->first, next->second);
    return false;
  }
  ++counts_[static_cast<std::size_t>(fate::applied)];
  if (next->second.ticket) tickets_.at(*next->second.ticket) = fate::applied;
  a.handled = {true, next->first, m.id};
  a.handled_payload = m.payload;
  touch_late(a);
  show(a, m);
  a.accepted.erase(next);
  return true;
}

void plain_oracle::work_off(aggregate& a) {
  while (!a.accepted.empty() && a.bound != a.accepted.begin()->first) {
    const waiter& w = a.accepted.begin()->second;
    if (w.state == fate::dead || (w.state == fate::retrying && !is_time_of(w, now_))) return;
    if (!run_accepted(a)) return;
  }
}

/// Where nothing is left to be run, numbers may have been skipped behind the last one that was.
void plain_oracle::catch_up(aggregate& a) {
  if (!a.accepted.empty()) return;
  if (a.exists && (!a.handled.exists || a.handled.last < a.last)) {
    a.handled = {true, a.last, a.id};
    a.handled_payload = a.payload;
  }
  if (a.waiting.empty()) a.highest = 0;
}

/// It was let in, and is neither applied nor to be: it may come again.
void plain_oracle::reopen(aggregate& a, const message& m) const {
  if (m.id && setup_->deferred && setup_->ids != id_kind::monotonic) a.reopened.insert(*m.id);
}

/// Its number is open again, and what was accepted behind it waits for it.
void plain_oracle::discard_accepted(aggregate& a, std::map<place, waiter>::iterator at) {
  const place gone = at->first;
  reopen(a, *at->second.of);
  a.accepted.erase(at);
  take_back(a, gone);
}

void plain_oracle::take_back(aggregate& a, place gone) {
  if (setup_->arrival && gone != a.last) return;
  a.waiting.merge(a.accepted);
  const auto first = a.waiting.lower_bound(gone);
  for (auto at = a.waiting.begin(); at != first; at = a.waiting.erase(at)) a.accepted.insert(*at);
  a.exists = a.handled.exists;
  a.last = a.handled.last;
  a.id = a.handled.id;
  a.payload = a.handled_payload;
  if (!a.accepted.empty()) {
    const auto& [number, w] = *a.accepted.rbegin();
    a.exists = true;
    a.last = number;
    a.id = w.of->id;
    a.payload = w.what().payload;
  }
  const place below = predecessor(gone);
  const bool has_below = gone != place{};
  if (!setup_->arrival && has_below && a.was_skipped(below) && (!a.exists || a.last < below)) {
    a.exists = true;
    a.last = below;
    a.id.reset();
    a.payload.clear();
  }
  if (setup_->arrival) a.highest = a.last.second;
  const bool is_any = setup_->strict && setup_->first == first_number::any;
  if (!a.exists && is_any && !a.waiting.empty()) a.adopted = gone;
}

/// The lowest of all goes, and the last-handled number moves past it.
waiting_answer plain_oracle::skip_accepted(aggregate& a, std::map<place, waiter>::iterator at) {
  if (at != a.accepted.begin()) return waiting_answer::not_first;
  const place number = at->first;
  sayings_.push_back({"waiting_skipped", at->second.of->aggregate, {number.second}});
  ++counts_[static_cast<std::size_t>(fate::skipped)];
  if (!setup_->arrival) reopen(a, *at->second.of);
  a.accepted.erase(at);
  a.skipped.emplace_back(number, number);
  a.handled = {true, number, std::nullopt};
  touch_late(a);
  a.handled_payload.clear();
  if (a.last == number) {
    a.id.reset();
    a.payload.clear();
  }
  return waiting_answer::done;
}

}  // namespace ratchet::sim
