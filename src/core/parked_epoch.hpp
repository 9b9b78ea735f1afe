// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/step.hpp"

namespace ratchet {

/// Behind `last`: it is of a higher epoch, which somebody has to let in, so that no number is missing that
/// could come.
[[nodiscard]] inline bool is_left_to_people(const gate_rules& rules, sequence last, sequence s) noexcept {
  return rules.order == order::strict && rules.epoch_change == epoch_change::park && s.epoch > last.epoch;
}

/// Where gaps are skipped no time-out ends its wait either: there is no gap below it that could grow old.
[[nodiscard]] inline bool is_never_skipped(const stream_rules& rules, sequence last, sequence s) noexcept {
  return rules.gap.policy == gap_policy::skip && is_left_to_people(rules.gate, last, s);
}

}  // namespace ratchet
