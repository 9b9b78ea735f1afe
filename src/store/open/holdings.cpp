// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/open/holdings.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "store/layout/layout.hpp"
#include "store/layout/tables.hpp"
#include "store/layout/waiting.hpp"

namespace ratchet {

namespace {

result<bool> has_row(const database& db, family f, const std::string& prefix) {
  bool found = false;
  RATCHET_TRY(db.for_each({}, f, prefix, [&](std::string_view, std::string_view) -> result<bool> {
    found = true;
    return false;
  }));
  return found;
}

result<bool> has_rows(const database& db, stream_id stream) {
  using layout::waiting_kind;
  const std::array<std::pair<family, std::string>, 10> k_places{{
      {family::sequences, layout::stream_prefix(stream)},
      {family::snapshots, layout::stream_prefix(stream)},
      {family::dedup, layout::stream_prefix(stream)},
      {family::dedup, layout::opaque_ids_prefix(stream)},
      {family::waiting, layout::waiting_prefix(waiting_kind::event, stream)},
      {family::waiting, layout::waiting_prefix(waiting_kind::backlog, stream)},
      {family::waiting, layout::waiting_prefix(waiting_kind::wake, stream)},
      {family::waiting, layout::waiting_prefix(waiting_kind::gap, stream)},
      {family::waiting, layout::waiting_prefix(waiting_kind::id, stream)},
      {family::tables, layout::tables_prefix(stream)},
  }};
  for (const auto& [f, prefix] : k_places) {
    RATCHET_TRY(const bool found, has_row(db, f, prefix));
    if (found) return true;
  }
  return false;
}

void append(std::string& list, std::uint64_t count, std::string_view what) {
  if (count == 0) return;
  if (!list.empty()) list += ", ";
  list += std::to_string(count);
  list += what;
}

}  // namespace

bool holdings::none() const noexcept {
  return !rows && counted.waiting() == 0 && counted.applied == 0 && counted.superseded == 0 &&
         counted.skipped == 0 && counted.discarded == 0;
}

result<holdings> holdings_of(const database& db, const stream_state& state, stream_id stream) {
  holdings out;
  out.counted = state.counters;
  if (out.none()) {
    RATCHET_TRY(out.rows, has_rows(db, stream));
  }
  return out;
}

std::string describe(const holdings& h) {
  const counters& c = h.counted;
  std::string waiting;
  append(waiting, c.waiting_dead, " dead");
  append(waiting, c.waiting_retrying, " to be tried again");
  append(waiting, c.waiting_parked, " parked");
  std::string text;
  append(text, c.waiting(), c.waiting() == 1 ? " event that waits (" : " events that wait (");
  if (!text.empty()) text += waiting + ")";
  append(text, c.applied, " applied");
  append(text, c.superseded, " superseded");
  append(text, c.skipped, " skipped");
  append(text, c.discarded, " discarded");
  return text.empty() ? "rows of aggregates or tables" : text;
}

}  // namespace ratchet
