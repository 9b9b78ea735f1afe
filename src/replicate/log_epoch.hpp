// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

namespace ratchet::replicate {

/// Which writer of a log goes on: the highest epoch does. Not the epoch of a sequence. {0, 0} is below every
/// writer's.
struct log_epoch {
  std::uint32_t generation{0};  ///< of the consumer group that gave the slot away
  std::uint32_t attempt{0};     ///< counts fences where the generation is not above that of the log
  friend constexpr auto operator<=>(const log_epoch&, const log_epoch&) = default;
};

/// No generation of a group is as high: Kafka's are below 2^31. A record that says so is nobody's, and no
/// fence could come behind it.
inline constexpr std::uint32_t k_generations_end = 0xFFFFFFFF;

/// Returns the lowest epoch above `highest` whose generation is at least `generation`.
/// Its generation is k_generations_end where there is none that an owner may have.
[[nodiscard]] log_epoch next_epoch(log_epoch highest, std::uint32_t generation) noexcept;

}  // namespace ratchet::replicate
