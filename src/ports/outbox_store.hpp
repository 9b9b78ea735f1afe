// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/output.hpp"
#include "ports/durable_steps.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

/// The messages that wait to be sent, in lanes. Thread-safety: the owner's thread alone.
class outbox_store : public virtual durable_steps {
 public:
  /// What the lanes of the outbox hold, as of last_step().
  [[nodiscard]] virtual outbox_lanes outboxes() const = 0;
  /// Kafka's lane of these.
  [[nodiscard]] outbox_state outbox() const { return outboxes().of({}); }
  /// Grows when the store was restored or taken over, so that {epoch, position} of the outbox only grows.
  [[nodiscard]] virtual std::uint64_t outbox_epoch() const = 0;
  /// The rows of a lane from this position up to, but without, `until`, in order, at most `limit` and,
  /// but for the first, `bytes`. They must be of durable steps; those that were trimmed are left out. Does
  /// not wait for a step that is being written. Errors: state_damaged; of the database.
  [[nodiscard]] virtual result<std::vector<output_row>> outputs(std::string_view lane, std::uint64_t from,
                                                                std::uint64_t until, std::size_t limit,
                                                                std::uint64_t bytes) const = 0;
};

}  // namespace ratchet
