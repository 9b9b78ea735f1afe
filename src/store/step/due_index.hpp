// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/waiting.hpp"
#include "ports/step_store.hpp"
#include "store/engine/row_reader.hpp"

namespace ratchet {

/// Before these times a stream's two indexes have nothing. What was due and is done leaves tombstones there,
/// which no look needs to walk over again. Thread-safety: one owner thread.
class due_bounds {
 public:
  /// A backlog is written with these times.
  void note(const backlog& written);
  [[nodiscard]] timestamp wake() const noexcept { return wake_; }
  [[nodiscard]] timestamp gap() const noexcept { return gap_; }
  /// Nothing was found before `first`; none: nothing at all.
  void raise_wake(std::optional<timestamp> first) { wake_ = first.value_or(timestamp::max()); }
  void raise_gap(std::optional<timestamp> first) { gap_ = first.value_or(timestamp::max()); }

 private:
  timestamp wake_{timestamp::min()};
  timestamp gap_{timestamp::min()};
};

/// As store::due(). The database must have all steps. Errors: state_damaged; of RocksDB.
[[nodiscard]] result<due_aggregates> find_due(const row_reader&, stream_slot, due_bounds&, timestamp now,
                                              std::optional<timestamp> gaps, std::size_t limit);

/// As store::due_behind(). The database must have all steps. Errors: state_damaged; of RocksDB.
[[nodiscard]] result<std::vector<std::string>> find_due_behind(const row_reader&, stream_slot,
                                                               timestamp until, std::size_t limit);

}  // namespace ratchet
