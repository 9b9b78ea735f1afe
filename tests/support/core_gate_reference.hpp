// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ratchet/gate.hpp"

/// The gate's table as conditions that are tried in order: written from the document, not from the code.
namespace ratchet::gate_reference {

constexpr decision k_apply{verdict::applied, reject_reason::none};
constexpr decision k_park{verdict::parked, reject_reason::none};
constexpr decision k_duplicate{verdict::duplicate, reject_reason::none};
constexpr decision k_stale{verdict::stale, reject_reason::none};
constexpr decision k_conflict{verdict::rejected, reject_reason::conflict};
constexpr decision k_too_old{verdict::rejected, reject_reason::too_old};
constexpr decision k_late{verdict::rejected, reject_reason::late};
constexpr decision k_id_reused{verdict::rejected, reject_reason::id_reused};
constexpr decision k_below_first{verdict::rejected, reject_reason::below_first};
constexpr decision k_mixed{verdict::rejected, reject_reason::sequence_mixed};

using condition = bool (*)(const gate_rules&, const gate_facts&);

struct reference_row {
  const char* name;
  condition fits;
  decision want;
};

constexpr bool seen(const gate_facts& f) {
  return f.has_id && f.id_seen;
}
constexpr bool is_arrival(const gate_rules& r) {
  return r.order == order::arrival;
}
constexpr bool is_latest(const gate_rules& r) {
  return r.order == order::latest;
}
constexpr bool equal(const gate_facts& f) {
  return f.last->epoch == f.incoming.epoch && f.last->number == f.incoming.number;
}
constexpr bool less(const gate_facts& f) {
  if (f.incoming.epoch != f.last->epoch) return f.incoming.epoch < f.last->epoch;
  return f.incoming.number < f.last->number;
}
constexpr bool mixed(const gate_rules& r, const gate_facts& f) {
  return r.numbers_or_text && (f.last->epoch > 0) != (f.incoming.epoch > 0);
}
constexpr bool succeeds(const gate_rules& r, const gate_facts& f) {
  const sequence next = f.incoming;
  if (next.epoch == f.last->epoch) return next.number != 0 && next.number - 1 == f.last->number;
  const bool is_first = (r.first == first_number::zero && next.number == 0) ||
                        (r.first == first_number::one && next.number == 1);
  return r.epoch_change == epoch_change::accept && next.epoch > f.last->epoch && is_first;
}
constexpr bool is_first(const gate_rules& r, const gate_facts& f) {
  return f.incoming.number == (r.first == first_number::zero ? 0U : 1U);
}

// clang-format off
constexpr reference_row k_table[] = {
    {"0",   [](const auto&, const auto& f) { return f.below_position; }, k_duplicate},
    {"1 same",  [](const auto&, const auto& f) { return f.waiting == claim::same_id; }, k_duplicate},
    {"1 other", [](const auto&, const auto& f) { return f.waiting == claim::other_id; }, k_conflict},
    {"2",   [](const auto& r, const auto& f) { return is_arrival(r) && seen(f); }, k_duplicate},
    {"3",   [](const auto& r, const auto& f) { return is_arrival(r) && f.has_id && f.id_below_floor; }, k_too_old},
    {"4 blocked", [](const auto& r, const auto& f) { return is_arrival(r) && f.blocked; }, k_park},
    {"4",   [](const auto& r, const auto&) { return is_arrival(r); }, k_apply},
    {"5",   [](const auto&, const auto& f) { return !f.last && f.older_than_retention; }, k_too_old},
    {"6 latest", [](const auto& r, const auto& f) { return !f.last && is_latest(r); }, k_apply},
    {"6 gap",    [](const auto&, const auto& f) { return !f.last && f.in_skipped_gap; }, k_late},
    {"6 any",    [](const auto& r, const auto& f) { return !f.last && r.first == first_number::any; }, k_park},
    {"6 below",  [](const auto& r, const auto& f) { return !f.last && r.first == first_number::one && f.incoming.number == 0; }, k_below_first},
    {"6 first",  [](const auto& r, const auto& f) { return !f.last && is_first(r, f) && !f.blocked; }, k_apply},
    {"6",   [](const auto&, const auto& f) { return !f.last; }, k_park},
    {"7 skipped",  [](const auto&, const auto& f) { return equal(f) && f.last_was_skipped; }, k_late},
    {"7 same id",  [](const auto&, const auto& f) { return equal(f) && f.has_id && f.same_id_as_last; }, k_duplicate},
    {"7 payload",  [](const auto&, const auto& f) { return equal(f) && f.same_payload_as_last; }, k_duplicate},
    {"7 tie again", [](const auto& r, const auto& f) { return equal(f) && r.ties_by_offset && seen(f); }, k_duplicate},
    {"7 tie",      [](const auto& r, const auto& f) { return equal(f) && r.ties_by_offset; }, k_apply},
    {"7",   [](const auto&, const auto& f) { return equal(f); }, k_conflict},
    {"7 mixed seen", [](const auto& r, const auto& f) { return mixed(r, f) && seen(f); }, k_duplicate},
    {"7 mixed",      [](const auto& r, const auto& f) { return mixed(r, f); }, k_mixed},
    {"8 seen", [](const auto&, const auto& f) { return less(f) && seen(f); }, k_duplicate},
    {"8 gap",  [](const auto&, const auto& f) { return less(f) && f.in_skipped_gap; }, k_late},
    {"8 below", [](const auto& r, const auto& f) { return less(f) && r.order == order::strict && r.first == first_number::one && f.incoming.number == 0; }, k_below_first},
    {"8",   [](const auto&, const auto& f) { return less(f); }, k_stale},
    {"9",   [](const auto&, const auto& f) { return seen(f); }, k_id_reused},
    {"10 latest", [](const auto& r, const auto&) { return is_latest(r); }, k_apply},
    {"10 gap",    [](const auto&, const auto& f) { return f.in_skipped_gap; }, k_late},
    {"10 below",  [](const auto& r, const auto& f) { return r.epoch_change == epoch_change::accept && r.first == first_number::one && f.incoming.number == 0; }, k_below_first},
    {"10 next",   [](const auto& r, const auto& f) { return succeeds(r, f) && !f.blocked; }, k_apply},
    {"10",  [](const auto&, const auto&) { return true; }, k_park},
};
// clang-format on

}  // namespace ratchet::gate_reference
