// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ratchet/error.hpp"
#include "replicate/log_reader.hpp"
#include "replicate/row_buffer.hpp"

/// A store whose steps go through a replicated log (docs/internals/replicated-log.md).
namespace ratchet {

/// A step that counts for ever, as replicate::confirmed_step has it.
struct confirmed_rows {
  replicate::log_position position;  ///< with the step
  std::string_view rows;             ///< borrowed
  std::uint32_t layout{0};           ///< which layout the rows are written in
};

/// Why steps were not applied. Nothing was written then.
enum class apply_fault : std::uint8_t {
  wrong_step,      ///< does not follow the last step of the store
  at_fence,        ///< the position is not that of a step
  other_lineage,   ///< of another history
  other_chain,     ///< follows another step than the last one of the store, or has other rows
  older_epoch,     ///< of an epoch below that of the store's last step, or of another writer in that one
  offset_back,     ///< lies before the store's last step in the log
  newer_layout,    ///< a later version of Ratchet wrote the rows
  older_layout,    ///< no version has replicated rows in that layout
  damaged_rows,    ///< the bytes are no rows
  unknown_family,  ///< a row of a family that this version does not have
  local_row,       ///< a row that each replica has for itself
  other_decision,  ///< the store has decided another step of that number, which is pending
};

/// A word for people, as `wrong_step`.
[[nodiscard]] constexpr const char* name_of(apply_fault f) noexcept {
  switch (f) {
    case apply_fault::wrong_step:
      return "wrong_step";
    case apply_fault::at_fence:
      return "at_fence";
    case apply_fault::other_lineage:
      return "other_lineage";
    case apply_fault::other_chain:
      return "other_chain";
    case apply_fault::older_epoch:
      return "older_epoch";
    case apply_fault::offset_back:
      return "offset_back";
    case apply_fault::newer_layout:
      return "newer_layout";
    case apply_fault::older_layout:
      return "older_layout";
    case apply_fault::damaged_rows:
      return "damaged_rows";
    case apply_fault::unknown_family:
      return "unknown_family";
    case apply_fault::local_row:
      return "local_row";
    case apply_fault::other_decision:
      return "other_decision";
  }
  return "unknown";
}

/// What was refused.
struct apply_refusal {
  apply_fault fault{apply_fault::wrong_step};
  std::uint64_t step{0};  ///< the first step that was refused
};

/// What the pending steps take up.
struct pending_use {
  std::size_t steps{0};
  std::size_t row_bytes{0};  ///< as the log has them
  std::size_t bytes{0};      ///< all of it in memory
};

/// Whose fence the log has last, and where that instance is reached: both as the fence says, for people.
struct slot_owner {
  replicate::log_epoch epoch;
  std::string instance;
  std::string advertise;  ///< may be empty
  friend bool operator==(const slot_owner&, const slot_owner&) = default;
};

/// What a directory says of the log that it follows.
struct replica_at_rest {
  replicate::log_position position;
  std::optional<slot_owner> owner;
};

/// A place among the rows of a copy.
struct row_place {
  std::uint8_t part{0};  ///< of the state, in the order in which a copy has them
  std::string key;       ///< the first one that is not below it
  friend bool operator==(const row_place&, const row_place&) = default;
};

/// The rows that a log has, as of one of its steps, in one order on all replicas. Ids below the floor of that
/// step are left out, as each replica drops them when it likes. It stays as it is while the store goes on.
/// Thread-safety: one thread, which need not be the store's; the store must outlive it.
class replica_copy {
 public:
  virtual ~replica_copy() = default;
  /// Behind the last step that is in it.
  [[nodiscard]] virtual const replicate::log_position& position() const = 0;
  /// Of the next row; none behind the last one.
  [[nodiscard]] virtual std::optional<row_place> place() const = 0;
  /// Appends some rows, as many as make `bytes` or a little more. Adds none behind the last one. Errors: of
  /// the database.
  [[nodiscard]] virtual result<void> next(std::size_t bytes, replicate::row_buffer& to) = 0;
};

/// What a store can do beside store where its database changes by apply() alone: write() only decides a step,
/// whose rows are pending until the log has confirmed it. So last_step() is the last step of the log that was
/// decided or applied, and durable_step() the last one that was applied: the log keeps it, whatever this
/// directory loses. All look-ups see what is pending; views do not. Thread-safety: the store's owner thread.
class replica {
 public:
  virtual ~replica() = default;

  /// How far the database is in the log; none: it has no step yet.
  [[nodiscard]] virtual std::optional<replicate::log_position> position() const = 0;
  /// The rows of a step that write() has decided, for the log; null where it is not pending (any more).
  [[nodiscard]] virtual std::shared_ptr<const std::string> rows_of(std::uint64_t step) const = 0;
  [[nodiscard]] virtual pending_use pending() const = 0;

  /// The owner that was noted last, also by an earlier process; none: nobody was.
  [[nodiscard]] virtual std::optional<slot_owner> owner() const = 0;
  /// It stands in the database with the next step that is applied.
  virtual void note_owner(const slot_owner&) = 0;

  /// Writes the rows of confirmed steps, of whoever decided them, and how far the store is with them, in one
  /// atomic batch. Own steps are pending no more then. Returns what was refused: then nothing is written.
  /// Errors: write_indeterminate, as store::write().
  [[nodiscard]] virtual result<std::optional<apply_refusal>> apply(std::span<const confirmed_rows>) = 0;
  /// Forgets all that is pending, and reads anew what the store remembers. Errors: state_damaged; of the
  /// database.
  [[nodiscard]] virtual result<void> drop_pending() = 0;
  /// Reads anew what the store remembers. Wanted before a look-up or write() where steps of others were
  /// applied: these return `internal` until then. Errors: as drop_pending().
  [[nodiscard]] virtual result<void> reload() = 0;

  /// What the database has now, from a place on. Errors: not_found, where it has no step yet; of the
  /// database.
  [[nodiscard]] virtual result<std::unique_ptr<replica_copy>> copy(const row_place& from = {}) = 0;

  /// From begin_restore() until end_restore(), or until the first step is applied, the rows are those of no
  /// step: nobody may look at them. A process that dies meanwhile finds it so when it comes back. Any thread.
  [[nodiscard]] virtual bool is_restoring() const = 0;
  /// Erases all rows that a log has. Nothing may be pending. Errors: write_indeterminate.
  [[nodiscard]] virtual result<void> begin_restore() = 0;
  /// Puts rows of a base. Returns what was refused: then nothing is written. Errors: write_indeterminate.
  [[nodiscard]] virtual result<std::optional<apply_fault>> restore(std::string_view rows) = 0;
  /// All rows as of this position are there: steps may be applied behind it. Errors: write_indeterminate.
  [[nodiscard]] virtual result<void> end_restore(const replicate::log_position&) = 0;
};

}  // namespace ratchet
