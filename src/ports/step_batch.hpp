// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/kept_rejected.hpp"
#include "core/output.hpp"
#include "core/resume.hpp"
#include "core/step.hpp"

namespace ratchet {

/// What a step does in one slot of a stream.
struct step_part {
  stream_id stream{0};
  const step_plan* plan{nullptr};  ///< names the aggregates that `change` speaks of by index; may be null
  const stream_change* change{nullptr};
  std::vector<rejected_row> rejected;  ///< the rows of change->rejected, with their bytes
  /// Looked at where there are such rows, or a time before which they go.
  rejected_limits keep_rejected{};
  ratchet::slot slot{k_instance_slot};

  [[nodiscard]] stream_slot place() const noexcept { return {stream, slot}; }
};

/// What a step changes of the store as a whole.
struct store_change {
  /// The outbox epoch becomes this, or one more than it is, whichever is higher.
  std::optional<std::uint64_t> outbox_epoch{};
  bool note_copy_opened{false};             ///< copy_mark::opened
  bool lift_copy_mark{false};               ///< from now on this is a store of its own
  std::vector<incarnation> taken_over{};    ///< of another copy: they count as this store's own from now on
  std::optional<std::string> cluster_id{};  ///< from now on it reads from this one
  friend bool operator==(const store_change&, const store_change&) = default;
};

/// All that one step writes, in one atomic batch.
struct step_batch {
  std::uint64_t step{0};  ///< the store's last_step() + 1
  std::vector<step_part> parts;
  std::vector<audit_row> audits;
  store_change change{};
  outbox_change outbox{};
};

}  // namespace ratchet
