// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

#include "ratchet/error.hpp"
#include "store/open/read_only.hpp"
#include "workload/workload_campaign.hpp"
#include "workload/workload_oracle.hpp"

namespace ratchet {

/// What a state directory holds of a stream while nobody runs on it.
struct workload_state {
  partition_offsets next_offsets;
  workload_ledger ledger;
};

/// Opens the directory read-only. A directory or a stream that does not exist yet holds nothing. Errors:
/// those of open_store_read_only() and of reading.
[[nodiscard]] reported<workload_state> read_stored(const std::filesystem::path& state,
                                                   std::string_view stream);

/// Passes every snapshot on to the comparison, and finishes it. Errors: as read_stored().
[[nodiscard]] reported<void> compare_stored(const std::filesystem::path& state, std::string_view stream,
                                            workload_comparison&);

}  // namespace ratchet
