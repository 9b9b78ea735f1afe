// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "core/ordered_text.hpp"
#include "ratchet/gate.hpp"

namespace ratchet {

/// Which of them is newer, nobody can tell: one is a number and the other text, or both are digits as text,
/// of two lengths.
[[nodiscard]] inline bool has_no_order(const gate_rules& rules, sequence last, sequence next) noexcept {
  if (!rules.numbers_or_text) return false;
  if (last.epoch == 0 || next.epoch == 0) return last.epoch != next.epoch;
  const std::size_t digits = digits_in_text(last);
  if (digits == 0) return false;
  const std::size_t of_next = digits_in_text(next);
  return of_next != 0 && of_next != digits;
}

/// decide(), but where the sequences of CloudEvents are text, digits of two lengths are refused like a number
/// and a text: as text "10" is below "9", so whoever counts without padding would lose the newer event in
/// silence, or have an older one win.
[[nodiscard]] inline decision decide_version(const gate_rules& rules, const gate_facts& facts) noexcept {
  const decision d = decide(rules, facts);
  const bool is_compared = d.verdict == verdict::applied || d.verdict == verdict::stale;
  if (!facts.last || !is_compared || !has_no_order(rules, *facts.last, facts.incoming)) return d;
  return {verdict::rejected, reject_reason::sequence_mixed};
}

}  // namespace ratchet
