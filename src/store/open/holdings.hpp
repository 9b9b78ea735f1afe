// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/stream_state.hpp"
#include "store/engine/column_families.hpp"

namespace ratchet {

/// What a directory holds of a stream that no log brings back as it is: what was handled, what waits, and
/// what an operator decided. Offsets, the floor, and records that were rejected or ignored are none of it.
struct holdings {
  counters counted;
  bool rows{false};  ///< of aggregates, ids, waiting events or tables; looked for where no counter tells

  /// Nothing would be lost with the stream.
  [[nodiscard]] bool none() const noexcept;
};

/// Errors: state_damaged; of RocksDB.
[[nodiscard]] result<holdings> holdings_of(const database&, const stream_state&, stream_id);

/// "3 events that wait (2 dead, 1 parked), 5 applied", for people; `none()` has no words.
[[nodiscard]] std::string describe(const holdings&);

}  // namespace ratchet
