// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "ports/store.hpp"
#include "ratchet/error.hpp"
#include "store/engine/pending_rows.hpp"
#include "store/step/confirmed_rows.hpp"

/// A store whose steps go through a replicated log (docs/internals/replicated-log.md). No config key leads to
/// one yet.
namespace ratchet {

/// What the pending steps take up.
struct pending_use {
  std::size_t steps{0};
  std::size_t row_bytes{0};  ///< as the log has them
  std::size_t bytes{0};      ///< all of it in memory
};

/// What a store can do beside store where store_options::replicated is set. Its database changes by apply()
/// alone: write() only decides a step, whose rows are pending until the log has confirmed it. So last_step()
/// is the last step of the log that was decided or applied, and durable_step() the last one that was applied:
/// the log keeps it, whatever this directory loses. All look-ups see what is pending; views do not.
/// Thread-safety: the store's owner thread.
class replica {
 public:
  virtual ~replica() = default;

  /// How far the database is in the log; none: it has no step yet.
  [[nodiscard]] virtual std::optional<replicate::log_position> position() const = 0;
  /// The rows of a step that write() has decided, for the log; null where it is not pending (any more).
  [[nodiscard]] virtual pending_rows::step_bytes rows_of(std::uint64_t step) const = 0;
  [[nodiscard]] virtual pending_use pending() const = 0;

  /// Writes the rows of confirmed steps, of whoever decided them, and how far the store is with them, in one
  /// atomic batch. Own steps are pending no more then. Returns what was refused: then nothing is written.
  /// Errors: write_indeterminate, as store::write().
  [[nodiscard]] virtual result<std::optional<apply_refusal>> apply(std::span<const confirmed_rows>) = 0;
  /// Forgets all that is pending, and reads anew what the store remembers. Errors: state_damaged; of RocksDB.
  [[nodiscard]] virtual result<void> drop_pending() = 0;
  /// Reads anew what the store remembers. Wanted before a look-up or write() where steps of others were
  /// applied: these return `internal` until then. Errors: as drop_pending().
  [[nodiscard]] virtual result<void> reload() = 0;
};

/// The same store; null where store_options::replicated was not set.
[[nodiscard]] replica* replica_of(store&) noexcept;

}  // namespace ratchet
