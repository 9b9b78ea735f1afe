// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/stream_state.hpp"

namespace ratchet {

namespace {

/// Every member, so that a new counter is forgotten in one place only.
constexpr std::uint64_t counters::*k_members[] = {
    &counters::applied,
    &counters::superseded,
    &counters::duplicate,
    &counters::stale,
    &counters::ignored,
    &counters::skipped,
    &counters::discarded,
    &counters::rejected_malformed,
    &counters::rejected_conflict,
    &counters::rejected_too_old,
    &counters::rejected_late,
    &counters::rejected_id_reused,
    &counters::rejected_below_first,
    &counters::rejected_sequence_mixed,
    &counters::waiting_parked,
    &counters::waiting_retrying,
    &counters::waiting_dead,
    &counters::consumed,
    &counters::ids_ahead,
    &counters::times_passed_over,
    &counters::times_behind,
    &counters::waiting_bytes,
    &counters::forgotten,
};
static_assert(sizeof(counters) == sizeof(std::uint64_t) * std::size(k_members));

std::uint64_t* rejected_counter(counters& c, reject_reason reason) noexcept {
  switch (reason) {
    case reject_reason::malformed:
      return &c.rejected_malformed;
    case reject_reason::conflict:
      return &c.rejected_conflict;
    case reject_reason::too_old:
      return &c.rejected_too_old;
    case reject_reason::late:
      return &c.rejected_late;
    case reject_reason::id_reused:
      return &c.rejected_id_reused;
    case reject_reason::below_first:
      return &c.rejected_below_first;
    case reject_reason::sequence_mixed:
      return &c.rejected_sequence_mixed;
    case reject_reason::none:
      return nullptr;
  }
  return nullptr;
}

}  // namespace

void counters::count(decision d) noexcept {
  std::uint64_t* which = nullptr;
  switch (d.verdict) {
    case verdict::applied:
      which = &applied;
      break;
    case verdict::superseded:
      which = &superseded;
      break;
    case verdict::duplicate:
      which = &duplicate;
      break;
    case verdict::stale:
      which = &stale;
      break;
    case verdict::rejected:
      which = rejected_counter(*this, d.reason);
      break;
    case verdict::ignored:
      which = &ignored;
      break;
    case verdict::parked:
      which = &waiting_parked;
      break;
    case verdict::retrying:
      which = &waiting_retrying;
      break;
    case verdict::dead:
      which = &waiting_dead;
      break;
    case verdict::unhandled:
      return;
  }
  if (which == nullptr) return;
  ++*which;
  ++consumed;
}

counters counters::since(const counters& before) const noexcept {
  counters difference = *this;
  for (const auto member : k_members) difference.*member -= before.*member;
  return difference;
}

}  // namespace ratchet
