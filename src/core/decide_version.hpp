// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/ordered_text.hpp"
#include "ratchet/gate.hpp"

namespace ratchet {

/// decide(), but where the sequences of CloudEvents are text, digits of two lengths are refused like a number
/// and a text: as text "10" is below "9", so whoever counts without padding would lose the newer event in
/// silence, or have an older one win.
[[nodiscard]] inline decision decide_version(const gate_rules& rules, const gate_facts& facts) noexcept {
  const decision d = decide(rules, facts);
  const bool is_compared = d.verdict == verdict::applied || d.verdict == verdict::stale;
  if (!rules.numbers_or_text || !facts.last || !is_compared) return d;
  if (facts.last->epoch == 0 || facts.incoming.epoch == 0) return d;
  const std::size_t last = digits_in_text(*facts.last);
  if (last == 0) return d;
  const std::size_t next = digits_in_text(facts.incoming);
  if (next == 0 || next == last) return d;
  return {verdict::rejected, reject_reason::sequence_mixed};
}

}  // namespace ratchet
