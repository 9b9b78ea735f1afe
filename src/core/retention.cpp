// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/retention.hpp"

#include <algorithm>

#include "core/aggregate_backlog.hpp"

namespace ratchet {

namespace {

/// None where the stream has no time, or one that says nothing: see has_no_time().
[[nodiscard]] std::optional<timestamp> trusted_time(const stream_rules& rules, const stream_state& state) {
  if (has_no_time(rules, state.floor)) return std::nullopt;
  return stream_time(rules, state);
}

}  // namespace

void keep_up_retention(const stream_rules& rules, stream_state& state) {
  retention_state& of = state.retention;
  if (!rules.retention) {
    // Rows that are written from now on have no time: if it comes back, they count from then.
    of.since.reset();
    return;
  }
  const std::optional<timestamp> time = trusted_time(rules, state);
  if (!time) return;
  if (!of.since) of.since = time;
  of.before = std::max(of.before, std::optional{*time - *rules.retention});  // none is below all
}

event_age age_of(const stream_rules& rules, const stream_state& state, const partition_state& partition,
                 std::optional<timestamp> record_time) {
  event_age age{.before = state.retention.before};
  if (rules.retention) {
    const std::optional<timestamp> reached = std::max(partition.highest_time, trusted_time(rules, state));
    if (reached) age.before = std::max(age.before, std::optional{*reached - *rules.retention});
    age.seen = std::max(reached, record_time);
  }
  age.forgets_untimed = age.before && state.retention.since && *state.retention.since < *age.before;
  return age;
}

bool is_too_old(const stream_rules& rules, const decoded_event& e, const event_age& age, bool seen) noexcept {
  if (!rules.retention) return false;
  // Whatever its age, it is not to wait for somebody to decide: no aggregate has this number.
  if (rules.parks_too_old && gate_detail::is_below_first(rules.gate, e.sequence)) return false;
  const std::optional<timestamp> time = e.time ? e.time : e.record_time;
  return seen || (time && age.before && *time < *age.before);
}

stream_change remove_forgotten(const stream_rules& rules, const stream_state& before, const step_plan& plan,
                               const step_rows& rows) {
  stream_change change;
  change.after = before;
  change.opaque_ids = rules.opaque_ids;
  change.looked_at = plan.aggregates.size();
  keep_up_retention(rules, change.after);
  for (std::uint32_t i = 0; i < rows.aggregates.size(); ++i) {
    const auto& row = rows.aggregates[i];
    if (!row || !is_forgotten(change.after.retention, row->seen)) continue;
    const backlog_rows* stored = find_backlog(rows, i);
    if (stored != nullptr && stored->backlog.events() > 0) continue;
    aggregate_row gone;
    gone.has_last = false;
    gone.deleted = true;
    change.rows.push_back({i, std::move(gone)});
    if (stored != nullptr) {
      backlog_change& backlog = change.backlogs.emplace_back();
      backlog.aggregate = i;
      backlog.before = stored->backlog;
    }
    if (row->has_last) ++change.after.counters.forgotten;
  }
  return change;
}

}  // namespace ratchet
