// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/step.hpp"
#include "store/engine/row_reader.hpp"
#include "store/layout/layout.hpp"
#include "store/step/row_sink.hpp"

namespace ratchet {

/// Packs the ids of a step into runs. Those of streams whose ids are opaque are no runs. Keeps its buffers.
/// Thread-safety: one owner thread.
class id_run_writer {
 public:
  /// Puts them in the order of their keys. Ids that come twice are stored once.
  void put(row_sink&, stream_slot, std::uint64_t step, const step_plan&, std::span<const id_of_aggregate>);

 private:
  std::vector<layout::filed_id> ids_;
  std::string key_;
  std::string value_;
};

/// Sets found[i] to 1 for each i of `asked` whose id of the plan is stored. Reads the runs of each span that
/// one of them lies in once. `asked` is put in the order of ids. Errors: state_damaged; of RocksDB.
[[nodiscard]] result<void> find_in_runs(const row_reader&, stream_slot, const step_plan&,
                                        std::vector<std::uint32_t>& asked, std::vector<std::uint8_t>& found);

/// The aggregates, at most `limit`, for which this id is stored. Errors: state_damaged; of RocksDB.
[[nodiscard]] result<std::vector<std::string>> aggregates_in_runs(const database&,
                                                                  const rocksdb::ReadOptions&, stream_slot,
                                                                  const event_id&, std::size_t limit);

}  // namespace ratchet
