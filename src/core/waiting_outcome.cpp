// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What a step leaves of an aggregate's waiting events: rows, audit rows, counts, and when to look again.
#include <algorithm>
#include <utility>

#include "core/aggregate_backlog.hpp"
#include "core/sequence_range.hpp"
#include "core/shown_id.hpp"

namespace ratchet {

verdict verdict_of(waiting_state state, bool held) noexcept {
  if (held || state == waiting_state::dead) return verdict::dead;
  return state == waiting_state::parked ? verdict::parked : verdict::retrying;
}

void aggregate_backlog::audit_skipped(const sequence_range& r, const char* why) {
  const auto text = deps_.rules.number_text;
  audit("gap_skipped", "aggregate `" + shown_id(aggregate_) + "`: " +
                           (r.first == r.last ? "number " + text(r.last)
                                              : "the numbers " + text(r.first) + " to " + text(r.last)) +
                           why);
}

void aggregate_backlog::audit(const char* kind, std::string text, audit_subject about) {
  audit_row row;
  row.kind = kind;
  row.stream = std::string{deps_.rules.stream};
  row.text = std::move(text);
  row.about = std::move(about);
  row.about.aggregate = aggregate_;
  audits_.push_back(std::move(row));
}

std::optional<timestamp> aggregate_backlog::wake_of(const ratchet::backlog& b, bool goes_on) {
  // What a step has left goes on whatever the clock says, also where somebody sets it back; what is accepted
  // queues up with what is tried again.
  if (goes_on) return timestamp{};
  if (defers_) return wake_of_accepted(b.ready);
  if (b.held) return std::nullopt;
  if (!is_latest()) {  // only the one whose turn it is can be tried
    if (entries_.empty()) return std::nullopt;
    const entry& next = next_in_turn()->second;
    return next.whole ? next.event.due : std::nullopt;
  }
  std::optional<timestamp> wake;
  std::uint64_t at_hand = 0;
  for (const auto& [number, e] : entries_) {
    if (!e.whole) continue;
    if (e.event.head.state == waiting_state::retrying) ++at_hand;
    if (e.event.due && (!wake || *e.event.due < *wake)) wake = e.event.due;
  }
  if (b.retrying <= at_hand) return wake;
  // Others are tried again that this step did not look up: when, only what was known before may tell.
  const auto known = stored_ != nullptr ? stored_->backlog.wake : std::nullopt;
  const timestamp latest = deps_.now + deps_.rules.retry.most;
  const timestamp look = known && *known > deps_.now ? std::min(*known, latest) : latest;
  return wake ? std::min(*wake, look) : look;
}

ratchet::backlog aggregate_backlog::backlog_after() {
  const auto gap_since = entries_.empty() ? std::nullopt : age_of_gap(entries_.begin()->second.event.head);
  const bool unknown = is_unknown();
  ratchet::backlog after = std::move(backlog_);
  after.accepted.reset();
  if (accepted_events_ > 0) after.accepted = {last_, id_, payload_hash_, accepted_events_};
  if (after.not_accepted() == 0) {
    after.held = false;
    after.opened.reset();
  }
  if (after.events() == 0) {
    after.highest = {};
    after.adopted.reset();
  }
  // In `latest` a newer event makes held ones needless, too.
  const bool goes_on = ready_ && after.not_accepted() > 0 && (!after.held || is_latest());
  after.ready = goes_on || accepted_is_ready();
  if (others_are_loaded_ || after.held) after.gap_since.reset();
  if (others_are_loaded_ && !after.held && after.not_accepted() > 0 && !next_is_hidden() && is_strict()) {
    const waiting_head& lowest = entries_.begin()->second.event.head;
    // An age is what skips a gap. One that only people end must have none, or it would be due for ever.
    const bool is_gap = lowest.state == waiting_state::parked && !is_never_skipped(lowest.sequence) &&
                        !unknown && next_in_turn()->second.event.head.state == waiting_state::parked;
    if (is_gap && !goes_on) after.gap_since = gap_since;
  }
  after.wake = wake_of(after, goes_on);
  return after;
}

void aggregate_backlog::finish(std::uint32_t aggregate, std::vector<resolved_event>& resolved,
                               stream_change& out) {
  folded_.fold();
  const auto before = stored_ != nullptr ? std::optional<ratchet::backlog>{stored_->backlog} : std::nullopt;
  backlog_change change;
  change.aggregate = aggregate;
  ratchet::backlog after = backlog_after();
  take_over_position();
  const auto count_of = [this](const ratchet::backlog& b, std::uint64_t sign) {
    const waiting_counts counts = b.counted();
    deps_.counts.waiting_parked += sign * counts.parked;
    deps_.counts.waiting_retrying += sign * counts.retrying;
    deps_.counts.waiting_dead += sign * counts.dead;
  };
  constexpr auto k_minus = ~std::uint64_t{0};  // modulo 2^64
  if (before) count_of(*before, k_minus);
  count_of(after, 1);
  const auto put = [&](entries& those, bool held) {
    for (auto& [number, e] : those) {
      if (e.index)
        resolved_.push_back({*e.index, {verdict_of(e.event.head.state, held), reject_reason::none}});
      if (e.changed) change.puts.push_back(std::move(e.event));
    }
  };
  put(accepted_, false);
  put(entries_, after.held);
  change.removals = std::move(removed_);
  change.accepted = std::move(newly_accepted_);
  const bool waits = !after.empty();
  if (waits) change.after = std::move(after);
  change.before = before;
  const bool flag_moved = (row_ != nullptr && row_->waits) != waits;
  const bool seen_moved = seen_ != (row_ != nullptr ? row_->seen : std::nullopt);
  if (moved_ || ran_ || flag_moved || seen_moved) {
    const bool known = row_ != nullptr && row_->has_last;
    aggregate_change row{.aggregate = aggregate, .row = {}, .keeps_snapshot = !ran_ && known};
    row.row.has_last = has_last_;
    row.row.waits = waits;
    row.row.last = has_last_ ? last_ : sequence{};
    row.row.id = id_;
    row.row.payload_hash = payload_hash_;
    row.row.time = time_;
    row.row.partial = !moved_ && !began_anew_ && row_ != nullptr && row_->partial;
    row.row.seen = seen_;
    row.row.deleted = ran_ ? !state_.exists() : !known || row_->deleted;
    if (ran_ && state_.exists()) row.row.snapshot = std::move(state_).take();
    out.rows.push_back(std::move(row));
  }
  if (before != change.after || !change.puts.empty() || !change.removals.empty() ||
      !change.accepted.empty()) {
    out.backlogs.push_back(std::move(change));
  }
  for (const auto& [id, filed] : filed_) out.ids.push_back({aggregate, id, filed});
  for (published_outputs& o : outputs_) {
    o.aggregate = aggregate;
    out.outputs.push_back(std::move(o));
  }
  for (table_change& c : tables_) {
    c.aggregate = aggregate;
    out.tables.push_back(std::move(c));
  }
  std::move(waits_.begin(), waits_.end(), std::back_inserter(out.waits));
  for (waiting_fate& f : fates_) {
    f.aggregate = aggregate;
    out.fates.push_back(std::move(f));
  }
  deps_.counts.ids_ahead += ids_ahead_;
  for (audit_row& row : audits_) out.audits.push_back(std::move(row));
  for (partition_stop& s : stops_) out.stops.push_back(std::move(s));
  resolved.insert(resolved.end(), resolved_.begin(), resolved_.end());
}

}  // namespace ratchet
