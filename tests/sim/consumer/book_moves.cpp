// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Positions that move without records, and which partitions count for the floor.
#include <algorithm>
#include <string>
#include <utility>

#include "sim/consumer/book_messages.hpp"
#include "sim/consumer/step_book.hpp"

namespace ratchet::sim {

void step_book::take_moves(step& s, std::uint32_t stream, const stream_change& change,
                           const stream_rows& before, const std::vector<audit_row>& audits,
                           const cluster& c) {
  std::vector<std::uint32_t> left_out;
  bool counts_more = false;
  const bool forgets = forgets_positions(audits);
  if (forgets) {
    (void)add(s, {.what = operation::kind::forget, .stream = stream});
  }
  for (const auto& [where, after] : change.after.partitions) {
    const auto partition = static_cast<std::uint32_t>(where.partition);
    const auto was = before.state.partitions.find(where);
    const bool was_known = was != before.state.partitions.end();
    const bool is_new = !was_known || !was->second.has_position() || forgets;
    if (after.has_position() && (is_new || was->second.next() != after.next())) {
      const bool elsewhere = check_jump(stream, c.logs[c.index_of(where)],
                                        is_new ? std::nullopt : std::optional{was->second.next_offset},
                                        after.next_offset, audits);
      (void)add(s, {.what = operation::kind::go_on,
                    .stream = stream,
                    .partition = partition,
                    .offset = after.next_offset,
                    .elsewhere = elsewhere});
    }
    const bool counted = was_known && !was->second.idle;
    if (!after.idle && !counted) {
      counts_more = true;
      (void)add(s, {.what = operation::kind::count_in, .stream = stream, .partition = partition});
    }
    if (after.idle && (!was_known || counted)) left_out.push_back(partition);
  }
  // Both move the floor: with what counts again the stream may have a time, where nothing counted before.
  if (left_out.empty() && !counts_more) return;
  (void)add(s, {.what = operation::kind::leave_out, .stream = stream, .left_out = std::move(left_out)});
}

/// A position moves without records only where there are none, or with an audit row that names the range.
bool step_book::check_jump(std::uint32_t stream, const partition_log& log, std::optional<std::int64_t> from,
                           std::int64_t to, const std::vector<audit_row>& audits) const {
  const bool audited = std::any_of(audits.begin(), audits.end(), [&](const audit_row& a) {
    return a.where == log.where &&
           (!from || (a.not_handled && a.not_handled->from <= *from && a.not_handled->to >= to));
  });
  if (audited) return true;
  if (!from) {
    // The end of what is given out: what an open transaction holds back is still to come.
    const bool at_end = history_->streams[stream].starts_at_end && to == log.stable_end();
    if (to == log.start || at_end) return true;
    throw broken(place(log.where) + " starts at offset " + std::to_string(to) +
                 ", which is not where its log starts");
  }
  const bool holds_none =
      std::none_of(log.from(*from), log.from(to), [](const log_entry& e) { return e.what != nullptr; });
  // What was told to be empty stays so, also where the log's start has gone past it since.
  const auto lost = std::lower_bound(log.expired.begin(), log.expired.end(), *from);
  const bool lost_none = lost == log.expired.end() || *lost >= to;
  if (holds_none && lost_none) return false;
  throw broken(place(log.where) + ": offsets " + std::to_string(*from) + " to " + std::to_string(to) +
               " were skipped without an audit row");
}

}  // namespace ratchet::sim
