// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/output.hpp"
#include "streams/stream_definition.hpp"

/// What is told to others of a record that was not handled: a copy of it for the dead-letter topic, and an
/// answer to its sender. Both have an id that the same record always has. Pure; any thread.
namespace ratchet {

/// Adds what the stream's config wants told of a rejected record: to `dead_letter` the record, to
/// `rejections` a CloudEvent. `floor`: of the window before the record, so that the answer is the same
/// however records fall into steps. Positions in the outbox are the caller's.
void tell_of_rejected(const stream_definition&, const decoded_event&, const rejected_row& rejected,
                      std::optional<timestamp> floor, std::vector<output_row>&);

/// Adds the records of the events that the step left dead, where the stream has a `dead_letter` topic.
void tell_of_dead_ones(const stream_definition&, const step_plan&, const stream_change&,
                       std::vector<output_row>&);

/// A copy of a dead letter that was too large for its topic: everything but the value, of which a header says
/// how large it was. None where there is no value to leave out.
[[nodiscard]] std::optional<output_row> without_value(const output_row&);

}  // namespace ratchet
