// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// What befalls a store, as a list that can be made of a seed, read, and shortened.
namespace ratchet::store_sim {

enum class op_kind : std::uint8_t {
  step,
  steps_at_block_end,  ///< one of them begins where a block of the log does
  sync,
  sync_with_step_inside,
  background_sync,
  flush,
  compact,
  read,
  checkpoint,
  claim,         ///< an incarnation is drawn: a synced batch without a step
  name_cluster,  ///< another one
  reopen,
  kill,
  power_cut,
  fault,
  read_fault,
  damage,  ///< the last one of its history
};
[[nodiscard]] const char* name_of(op_kind) noexcept;

/// All that an operation leaves open comes of its own seed, so that leaving one out changes no other.
struct operation {
  op_kind kind{op_kind::step};
  std::uint64_t seed{0};
};
using history = std::vector<operation>;

[[nodiscard]] history make_history(std::uint64_t seed);
/// Everything that a store does, once each and without a fault: for failing each of its calls in turn.
[[nodiscard]] history plain_history();
[[nodiscard]] std::string to_text(const operation&);

}  // namespace ratchet::store_sim
