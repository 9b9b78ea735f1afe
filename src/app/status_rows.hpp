// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/live_board.hpp"
#include "app/status_report.hpp"
#include "core/stream_state.hpp"

/// What the two forms of a status report share.
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

[[nodiscard]] constexpr std::array<named_count, 5> reason_counts(const counters& c) noexcept {
  return {{{"malformed", c.rejected_malformed},
           {"conflict", c.rejected_conflict},
           {"too_old", c.rejected_too_old},
           {"late", c.rejected_late},
           {"id_reused", c.rejected_id_reused}}};
}

[[nodiscard]] constexpr std::array<named_count, 3> counts_of_waiting(const counters& c) noexcept {
  return {{{"parked", c.waiting_parked}, {"retrying", c.waiting_retrying}, {"dead", c.waiting_dead}}};
}

struct partition_report {
  topic_partition where;
  std::optional<std::int64_t> next_offset;  ///< none: nothing is stored of it yet
  std::optional<live_partition> live;
  std::optional<std::int64_t> lag;
};

/// The partitions that the state or the running instance knows, in order. Plain files have none.
[[nodiscard]] std::vector<partition_report> partitions_of(const stream_report&);

}  // namespace ratchet
