// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "core/step.hpp"
#include "store/engine/row_reader.hpp"

namespace ratchet {

/// Reads out.backlogs of these aggregates of the plan, whose rows are in out.aggregates: indexes in ascending
/// order. The first waiting event of each is always read; the others, up to what k_queue_events leaves to all
/// of them, where the step can use them. It takes no waiting event to lie below the last sequence that its
/// aggregate has handled. The database must have all steps. Errors: state_damaged; of RocksDB.
[[nodiscard]] result<void> find_backlogs(const row_reader&, stream_slot, const step_plan&,
                                         std::span<const std::uint32_t> waits, step_rows& out);

}  // namespace ratchet
