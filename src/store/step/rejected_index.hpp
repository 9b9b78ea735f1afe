// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "core/kept_rejected.hpp"
#include "store/engine/column_families.hpp"
#include "store/layout/layout.hpp"
#include "store/step/row_sink.hpp"

namespace ratchet {

/// Keeps the newest rejected rows of each stream, and has the others go in the step that adds one or finds
/// one too old. Rows are keyed by their position; this index knows their age. Thread-safety: one owner
/// thread.
class rejected_index {
 public:
  /// Reads what is stored. Errors: state_damaged; of RocksDB.
  [[nodiscard]] result<void> load(const database&, std::span<const stream_id>);
  /// Adds the rows of one step, in their order, and removes those that the limits let go.
  void add(row_sink&, stream_id, std::uint64_t step, std::span<const rejected_row>, const rejected_limits&);
  /// When the one was rejected that goes next for its age; none where none is kept.
  [[nodiscard]] std::optional<timestamp> oldest(stream_id) const;
  /// Removes all rows of a stream.
  void clear(row_sink&, stream_id);

 private:
  std::map<stream_id, kept_rejected> streams_;
};

}  // namespace ratchet
