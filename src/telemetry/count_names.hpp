// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "core/stream_state.hpp"

/// The counters of a stream by the names under which `status` and metrics show them.
namespace ratchet {

using named_count = std::pair<const char*, std::uint64_t>;

[[nodiscard]] constexpr std::array<named_count, 8> verdict_counts(const counters& c) noexcept {
  return {{{"applied", c.applied},
           {"superseded", c.superseded},
           {"duplicate", c.duplicate},
           {"stale", c.stale},
           {"rejected", c.rejected()},
           {"ignored", c.ignored},
           {"skipped", c.skipped},
           {"discarded", c.discarded}}};
}

[[nodiscard]] constexpr std::array<named_count, 7> reason_counts(const counters& c) noexcept {
  return {{{"malformed", c.rejected_malformed},
           {"conflict", c.rejected_conflict},
           {"too_old", c.rejected_too_old},
           {"late", c.rejected_late},
           {"id_reused", c.rejected_id_reused},
           {"below_first", c.rejected_below_first},
           {"sequence_mixed", c.rejected_sequence_mixed}}};
}

[[nodiscard]] constexpr std::array<named_count, 3> counts_of_waiting(const counters& c) noexcept {
  return {{{"parked", c.waiting_parked}, {"retrying", c.waiting_retrying}, {"dead", c.waiting_dead}}};
}

}  // namespace ratchet
