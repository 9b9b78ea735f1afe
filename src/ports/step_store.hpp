// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/retention.hpp"
#include "core/step.hpp"
#include "core/stream_state.hpp"
#include "ports/durable_steps.hpp"
#include "ports/step_batch.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

/// Aggregates with something to do, and when there is more.
struct due_aggregates {
  std::vector<std::string> names;      ///< none twice
  std::optional<timestamp> next_wake;  ///< of those that are not named, by the clock
  std::optional<timestamp> next_gap;   ///< the oldest gap of those that are not named, in stream time
};

/// Some of the aggregates that are forgotten.
struct forgotten_aggregates {
  std::vector<std::string> names;
  /// Behind this one the walk is to go on; none: it is at its end.
  std::optional<std::string> last{};
};

/// What steps are made from and written to. Thread-safety: the owner's thread alone.
class step_store : public virtual durable_steps {
 public:
  [[nodiscard]] virtual stream_id id_of(std::string_view stream) const = 0;
  [[nodiscard]] virtual result<stream_state> load(stream_slot) const = 0;
  [[nodiscard]] virtual result<void> lookup(stream_slot, const step_plan&, step_rows& out) = 0;
  /// The aggregates whose backlog says wake <= `now`, or gap_since <= `gaps`, at most `limit`, those that are
  /// due the longest first. Errors: state_damaged; of the database.
  [[nodiscard]] virtual result<due_aggregates> due(stream_slot, timestamp now, std::optional<timestamp> gaps,
                                                   std::size_t limit) = 0;
  /// The aggregates whose backlog says wake > `until`, at most `limit`. Errors: state_damaged; of the
  /// database.
  [[nodiscard]] virtual result<std::vector<std::string>> due_behind(stream_slot, timestamp until,
                                                                    std::size_t limit) = 0;

  /// Walks through the rows of a stream behind `after`, in any order that stays the same, and names those of
  /// aggregates that are forgotten, though events of some may wait. Looks at `rows` of them at most.
  /// Errors: state_damaged; of the database.
  [[nodiscard]] virtual result<forgotten_aggregates> find_forgotten(stream_slot, const retention_state&,
                                                                    const std::optional<std::string>& after,
                                                                    std::size_t rows) = 0;

  /// When the rejected record of the stream was rejected that goes next for its age, by the clock; none where
  /// none is kept. Costs no read.
  [[nodiscard]] virtual std::optional<timestamp> oldest_rejected(stream_id) const = 0;

  /// Writes the step atomically, without a sync. May return before it is written; every call that reads comes
  /// after it, and all that the step borrows is free.
  /// Errors: write_indeterminate, of this step or of one before it, which may or may not be there; where the
  /// step is written later, the next call tells it. Drop this store, open it again, read the truth. What had
  /// to be read first and could not be is told by its own code (state_damaged, of the system); the same holds
  /// then.
  [[nodiscard]] virtual result<void> write(const step_batch&) = 0;
};

}  // namespace ratchet
