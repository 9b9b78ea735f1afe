// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What waits: when it is tried again, released, superseded, and when a gap before it is skipped.
#include <algorithm>
#include <utility>

#include "core/backoff.hpp"  // documented, and without a state: what `due` means
#include "sim/consumer/plain_oracle.hpp"

namespace ratchet::sim {

/// It waits no more: applied, or superseded by a newer one.
void plain_oracle::leave(aggregate& a, std::map<place, waiter>::iterator at) {
  const waiter& w = at->second;
  ++counts_[static_cast<std::size_t>(fate::applied)];
  if (w.ticket) tickets_.at(*w.ticket) = fate::applied;
  file(*w.of, time_of_id(w));
  erase(a, at);
}

void plain_oracle::erase(aggregate& a, std::map<place, waiter>::iterator at) {
  a.waiting.erase(at);
  if (!a.waiting.empty()) return;
  a.held = false;
  if (a.accepted.empty()) a.highest = 0;
}

/// A time that lies further ahead than any pause is that of a clock that was set back since.
bool plain_oracle::is_time_of(const waiter& w, std::int64_t now) const {
  return *w.due <= now || *w.due - now > longest_pause(setup_->retry, w.attempts).count();
}

/// Numbers that were skipped stay so, also where what lies below them was taken back.
void plain_oracle::pass_skipped(aggregate& a) const {
  while (setup_->strict && a.exists && a.was_skipped(successor(a.last))) {
    a.last = successor(a.last);
    a.id.reset();
    a.payload.clear();
    a.adopted.reset();
  }
}

/// What waited for the one that was applied, one after the other.
void plain_oracle::release(aggregate& a) {
  pass_skipped(a);
  while (setup_->deferred && !a.held && !a.waiting.empty() && a.accept_bound != a.waiting.begin()->first) {
    const auto next = a.waiting.begin();
    if (!comes_next(a, next->first)) return;
    touch_released(a, next->second);
    accept(a, next->first, next->second);
    a.waiting.erase(next);
    pass_skipped(a);
  }
  if (setup_->deferred) return;
  while (!a.held && !a.waiting.empty() && a.bound != a.waiting.begin()->first) {
    const auto& [number, w] = *a.waiting.begin();
    if (w.state == fate::dead || (w.state == fate::retrying && !is_time_of(w, now_))) return;
    if (w.state == fate::parked && (!comes_next(a, number) || is_unknown(a))) return;
    if (!run(a, a.waiting.begin())) return;
    pass_skipped(a);
  }
}

/// Order latest: nothing older than the last one is needed.
void plain_oracle::supersede(aggregate& a) {
  while (!a.waiting.empty() && a.waiting.begin()->first < a.last && a.bound != a.waiting.begin()->first)
    leave(a, a.waiting.begin());
}

void plain_oracle::retry_latest(aggregate& a) {
  supersede(a);  // what a bounded step has left
  if (a.held) return;
  for (auto at = a.waiting.begin(); at != a.waiting.end();) {
    const place number = at->first;
    if (a.bound && *a.bound <= number) return;
    if (at->second.state == fate::retrying && is_time_of(at->second, now_) && run(a, at)) supersede(a);
    at = a.waiting.upper_bound(number);
  }
}

/// Nothing is missing before it: it is of a higher epoch.
bool plain_oracle::is_left_to_people(const aggregate& a, place p) const {
  return setup_->strict && a.exists && p.first > a.last.first && !setup_->accepts_epochs;
}

bool plain_oracle::is_old_gap(const aggregate& a) const {
  if (!setup_->strict || setup_->gap == gap_policy::wait || !floor_ || a.held || a.waiting.empty())
    return false;
  if (setup_->gap == gap_policy::skip && is_left_to_people(a, a.waiting.begin()->first)) return false;
  const waiter& w = a.waiting.begin()->second;
  if (w.state != fate::parked || !w.since || is_unknown(a)) return false;
  std::int64_t since = std::max(*w.since, a.opened.value_or(*w.since));
  if (setup_->gap == gap_policy::stop && began_) since = std::max(since, *began_);
  return since + setup_->gap_timeout <= *floor_ + setup_->window;
}

void plain_oracle::skip_old_gaps(aggregate& a) {
  const std::optional<place>& bound = setup_->deferred ? a.accept_bound : a.bound;
  while (setup_->gap == gap_policy::skip && is_old_gap(a) && bound != a.waiting.begin()->first) {
    skip_gap(a);
    (void)run_lowest(a);
    release(a);
  }
}

/// The lowest one that waits is next, whatever is missing below it.
void plain_oracle::skip_gap(aggregate& a) {
  const std::uint32_t which = a.waiting.begin()->second.of->aggregate;
  const place next = a.waiting.begin()->first;
  if (!a.exists && setup_->first == first_number::any) {
    a.adopted = next;
    sayings_.push_back({"first_adopted", which, {next.second}});
    return;
  }
  place from{next.first, setup_->first == first_number::one ? 1 : 0};
  if (a.exists) from = successor(a.last);
  const place to = predecessor(next);
  if (to < from) return;  // the last number of an epoch was the last one
  skip_range(a, which, from, to);
  touch(a, time());
  move_to(a, to);
}

/// Tells of the numbers that were not skipped before.
void plain_oracle::skip_range(aggregate& a, std::uint32_t which, place from, place to) {
  for (place at = from; at <= to;) {
    const auto holds = [&at](const auto& range) { return range.first <= at && at <= range.second; };
    const auto known = std::find_if(a.skipped.begin(), a.skipped.end(), holds);
    if (known != a.skipped.end()) {
      at = successor(known->second);
      continue;
    }
    place end = to;
    for (const auto& range : a.skipped) {
      if (at < range.first && range.first <= end) end = predecessor(range.first);
    }
    sayings_.push_back({"gap_skipped", which, {at.second, end.second}});
    at = successor(end);
  }
  a.skipped.emplace_back(from, to);
}

void plain_oracle::bind(std::uint32_t which, std::optional<place> first, std::optional<place> accept) {
  aggregates_[which].bound = first;
  aggregates_[which].accept_bound = accept;
}

bool plain_oracle::is_bound(std::uint32_t which, place p) const {
  const auto known = aggregates_.find(which);
  if (known == aggregates_.end() || known->second.bound != p) return false;
  const auto at = known->second.waiting.find(p);
  return at != known->second.waiting.end() && at->second.state == fate::parked;
}

void plain_oracle::run_bound(std::uint32_t which, std::int64_t now) {
  now_ = now;
  aggregate& a = aggregates_.at(which);
  const std::optional<place> bound = a.bound;
  a.bound = successor(*bound);
  release(a);
  a.bound = bound;
  end_touches();
}

void plain_oracle::resume(std::uint32_t which, std::int64_t now, bool runs_accepted) {
  const auto known = aggregates_.find(which);
  if (known == aggregates_.end()) return;
  now_ = now;
  aggregate& a = known->second;
  if (!setup_->strict && !setup_->arrival) {
    retry_latest(a);
    return end_touches();
  }
  if (!a.held) release(a);
  if (!setup_->deferred || !runs_accepted) skip_old_gaps(a);
  if (setup_->deferred && runs_accepted) work_off(a);
  catch_up(a);
  end_touches();
}

bool plain_oracle::is_due(std::uint32_t which, std::int64_t now) const {
  const auto known = aggregates_.find(which);
  if (known == aggregates_.end()) return false;
  const aggregate& a = known->second;
  if (setup_->deferred && !a.accepted.empty()) {
    const waiter& next = a.accepted.begin()->second;
    if (a.bound || next.state == fate::parked) return true;
    if (next.state == fate::retrying && is_time_of(next, now)) return true;
  }
  if (a.waiting.empty()) return false;
  if (a.accept_bound) return true;
  if (a.bound) return true;  // in order latest newer ones make held ones needless, too
  if (a.held) return false;
  if (setup_->gap == gap_policy::skip && is_old_gap(a)) return true;
  for (const auto& [number, w] : a.waiting) {
    if (w.state == fate::retrying && is_time_of(w, now)) return true;
    // When the other ones of a long queue are due a step cannot know: behind a clock that was set back it
    // looks too often.
    if (w.state == fate::retrying && !setup_->strict && !setup_->arrival && now < now_) return true;
    if (setup_->strict || setup_->arrival) return false;  // only the lowest is tried
  }
  return false;
}

}  // namespace ratchet::sim
