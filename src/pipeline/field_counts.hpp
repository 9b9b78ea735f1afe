// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/decoded_event.hpp"
#include "process/log.hpp"
#include "streams/partition_task.hpp"
#include "telemetry/instance_status.hpp"

/// In how many events the fields of an envelope were found. A pointer to `type` or `time` that never fits
/// says nothing by itself, as events may lack both; the others are malformed without their fields.
namespace ratchet {

struct decoded_input;

/// After so many events it is said which fields none of them had.
inline constexpr std::uint64_t k_events_to_tell = 1'000;

/// Tombstones are not looked at: they have no value where a field could be.
[[nodiscard]] field_counts count_fields(std::span<const decoded_event>) noexcept;

/// What of it is shown: each field that the config maps, in the order of the config's description.
[[nodiscard]] live_fields fields_of(const stream_config&, const field_counts&);

/// Adds what a batch brought to its streams, shows it on the status, and tells once of each field that was in
/// none of the first thousand events. The owner's thread.
void note_fields(const decoded_input&, const task_list&, instance_status&, const log_ptr&);

}  // namespace ratchet
