// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rocksdb/write_batch.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "replicate/log_reader.hpp"
#include "store/engine/column_families.hpp"

/// The one way in which a replica changes its rows: by the confirmed steps of a log, in their order.
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
[[nodiscard]] const char* name_of(apply_fault) noexcept;

/// What was refused.
struct apply_refusal {
  apply_fault fault{apply_fault::wrong_step};
  std::uint64_t step{0};  ///< the first step that was refused
};

/// A floor that the steps move; the database may forget ids below it once they are written.
struct applied_floor {
  stream_id stream{0};
  timestamp floor;
};

/// Puts confirmed steps into a batch: the store's own next step number first, then the rows, then how far the
/// store is in the log. So they and that number are in the database together, or not at all. `from`: how far
/// it is; none: it has no step of a log. Adds the floors that the steps move to `floors`. A refusal leaves a
/// batch that must not be written. Keeps nothing.
[[nodiscard]] std::optional<apply_refusal> put_confirmed(rocksdb::WriteBatch&, const database&,
                                                         std::uint64_t local_step, slot,
                                                         const std::optional<replicate::log_position>& from,
                                                         std::span<const confirmed_rows>,
                                                         std::vector<applied_floor>& floors);

}  // namespace ratchet
