// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/resume.hpp"
#include "ports/durable_steps.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

/// Which store this is, of which others it is a copy, and which cluster it reads from. Thread-safety: the
/// owner's thread alone.
class store_lineage : public virtual durable_steps {
 public:
  [[nodiscard]] virtual std::string uuid() const = 0;  ///< 36 characters
  /// The cluster this store reads from; empty until it was first connected.
  [[nodiscard]] virtual std::string cluster_id() const = 0;
  [[nodiscard]] virtual result<void> set_cluster_id(std::string_view) = 0;

  /// Draws the next incarnation (counter past all known and past the outbox epoch, and `random`); syncs it,
  /// or has it go with the first step.
  [[nodiscard]] virtual result<incarnation> draw_incarnation(std::uint64_t past_counter,
                                                             std::uint64_t random) = 0;
  [[nodiscard]] virtual std::vector<incarnation> incarnations() const = 0;

  /// None but in a checkpoint that was not started yet.
  [[nodiscard]] virtual std::optional<copy_mark> copy() const = 0;
};

}  // namespace ratchet
