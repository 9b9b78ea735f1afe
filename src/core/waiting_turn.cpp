// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Whose turn it is among waiting events, and what stands in the way of others.
#include <algorithm>

#include "core/aggregate_backlog.hpp"
#include "core/sequence_range.hpp"

namespace ratchet {

/// Some waiting events lie between those that were loaded and those that are known by their heads alone.
bool aggregate_backlog::next_is_hidden() const {
  return last_loaded_ && (entries_.empty() || is_behind_hidden(entries_.begin()));
}

/// Below it others may wait that are not at hand.
bool aggregate_backlog::is_behind_hidden(entries::const_iterator at) const {
  return last_loaded_ && at->first > *last_loaded_ && !at->second.asked;
}

/// What waits blocks an event that begins above it. What waits inside the event's own range does not, but for
/// one that failed: that had its turn first.
bool aggregate_backlog::is_blocked(sequence s, std::optional<std::uint64_t> begins_at) const {
  if (is_latest() || not_accepted() == 0) return false;
  if (is_arrival() || backlog_.held || is_unknown() || next_is_hidden()) return true;
  const sequence begin{s.epoch, begins_at.value_or(s.number)};
  if (entries_.begin()->first < begin) return true;
  if (!begins_at) return false;
  return has_hidden_below(s) || std::any_of(entries_.begin(), entries_.lower_bound(s), [](const auto& known) {
           return known.second.event.head.state != waiting_state::parked;
         });
}

/// Strict: nobody knows where the aggregate is, and somebody is to decide about an event of it that came too
/// old. So whatever came since waits for that, also below it.
bool aggregate_backlog::is_unknown() const noexcept {
  return is_strict() && !has_last_ && backlog_.too_old > 0;
}

/// It may have its turn by its number, but not before somebody has decided. One that failed had it already,
/// as an operator said so.
bool aggregate_backlog::waits_for_unknown(const waiting_head& head) const noexcept {
  return is_unknown() && head.state == waiting_state::parked;
}

/// Whether others wait that begin before this one does, accepted ones among them; also where some may.
bool aggregate_backlog::has_before(const waiting_head& of) const {
  if (accepted_events_ > 0 || (deps_.rules.has_ranges && last_loaded_)) return true;
  return std::any_of(entries_.begin(), entries_.end(),
                     [&of](const auto& known) { return known.second.event.head.begin() < of.begin(); });
}

/// Some that wait below it may not be known.
bool aggregate_backlog::has_hidden_below(sequence s) const {
  return last_loaded_ && *last_loaded_ < s && backlog_.highest > *last_loaded_;
}

/// The one that is to be handled next, or stands in the way of all others. Only where some are at hand. That
/// is the lowest, unless ranges overlap: the first one that may be next or failed; or, where there is none,
/// the one that begins first.
aggregate_backlog::entries::iterator aggregate_backlog::next_in_turn() {
  const auto lowest = entries_.begin();
  if (!deps_.rules.has_ranges || !is_strict()) return lowest;
  auto first = lowest;
  for (auto at = lowest; at != entries_.end() && at->first.epoch == lowest->first.epoch; ++at) {
    if (last_loaded_ && *last_loaded_ < at->first) break;  // of those before it not all are known
    const waiting_head& head = at->second.event.head;
    if (head.state != waiting_state::parked || may_be_next(head)) return at;
    if (head.begin() < first->second.event.head.begin()) first = at;
  }
  return first;
}

sequence aggregate_backlog::next_number() const {
  const sequence highest = std::max(has_last_ ? last_ : seq(0), backlog_.highest);
  return behind(highest);
}

bool aggregate_backlog::may_be_next(const waiting_head& head) const {
  if (is_arrival()) return true;
  const gate_rules& rules = deps_.rules.gate;
  if (has_last_) return is_successor(last_, head.sequence, rules, head.begins_at);
  if (rules.first == first_number::any) return head.begins_at || backlog_.adopted == head.sequence;
  return is_first(head.sequence, rules, head.begins_at);
}

/// Where it is not `any`.
std::uint64_t aggregate_backlog::first_of_epoch() const noexcept {
  return deps_.rules.gate.first == first_number::one ? 1 : 0;
}

}  // namespace ratchet
