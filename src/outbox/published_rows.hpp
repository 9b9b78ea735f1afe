// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "core/output.hpp"
#include "core/step.hpp"
#include "decode/event_id_text.hpp"
#include "streams/stream_definition.hpp"

/// What reducers published, as messages of the outbox. Pure; any thread.
namespace ratchet {

/// Whose reducer published.
struct output_origin {
  std::string_view group;
  std::string_view stream;
  stream_id id{0};
  gate_rules gate{};
  bool ids_have_time{true};  ///< false: they are opaque
  bool forgets{false};       ///< `retention`: numbers of aggregates that are forgotten come again
};
[[nodiscard]] inline output_origin origin_of(const stream_definition& s) {
  return {s.group,
          s.config.name,
          s.id,
          s.rules.gate,
          has_own_time(s.config.dedup.ids),
          s.rules.retention.has_value()};
}

/// Adds what the step published. Ids are made of the cause and of the message's place among those of its
/// event, so that the same event, handled again, publishes the same ids. Takes the bytes out of `published`;
/// positions and the epoch are the caller's.
void add_published(const output_origin&, const step_plan&, std::vector<published_outputs>&& published,
                   std::vector<output_row>&);

/// The headers that a published row is sent with, in place of what `out` holds: a CloudEvent in binary mode
/// (Kafka protocol binding 1.0.2, section 3.2). Other kinds have theirs in their row. Keeps the memory of
/// `out`: to make them anew for each message took a tenth of the processor time of publishing.
void write_event_headers(const output_row&, output_headers& out);

}  // namespace ratchet
