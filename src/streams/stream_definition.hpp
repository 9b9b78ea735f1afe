// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/step.hpp"
#include "core/stream_state.hpp"
#include "decode/decoder.hpp"
#include "ports/stream_meaning.hpp"
#include "ratchet/config.hpp"
#include "ratchet/reducer.hpp"

namespace ratchet {

/// What is fixed of one configured stream while the program runs. Nothing but load_tasks() changes it, before
/// any thread but the owner's knows it; from then on any thread may read it.
struct stream_definition {
  stream_config config;
  std::string group;   ///< the consumer group
  stream_id id{0};     ///< the store's
  stream_rules rules;  ///< views point into `config`, so that a definition stays where it is
  decode_rules decode;
  ratchet::reducer reduce;

  stream_definition(stream_config, ratchet::reducer);
  stream_definition(const stream_definition&) = delete;
  stream_definition& operator=(const stream_definition&) = delete;
  stream_definition(stream_definition&&) = delete;
  stream_definition& operator=(stream_definition&&) = delete;
  ~stream_definition() = default;
};

using stream_list = std::vector<std::unique_ptr<stream_definition>>;

/// Empty where none of them has this id. Borrowed.
[[nodiscard]] std::string_view name_of_stream(const stream_list&, stream_id) noexcept;

/// Joins each stream with its reducer: the program's own, else the built-in one that the config names.
/// Errors: config_invalid, with all that check_config() finds as diagnostics; where a program names a stream
/// that the config lacks; or where a stream is of `kind: own` and the program does not bring the reducer that
/// it names.
[[nodiscard]] reported<stream_list> make_streams(const config&, const reducers&);

/// False for a stream without an envelope, of whose records nothing can be read: transactions alone feed it.
[[nodiscard]] bool takes_events(const stream_config&);

/// Where its `emit` publishes to, whatever the reducer.
[[nodiscard]] std::vector<std::string> emitted_to(const stream_config&);

/// Where the stream's reducer and its `emit` publish to: topics, and sinks as sink:NAME.
[[nodiscard]] std::vector<std::string> topics_published_to(const stream_config&);

/// The topics that are written to: what reducers publish, and what tells of records that were not handled.
/// None twice.
[[nodiscard]] std::vector<std::string> output_topics(const stream_list&);
/// The topics that are read, in the order of the config.
[[nodiscard]] std::vector<std::string> input_topics(const stream_list&);

/// Whether any of them is fed by Kafka.
[[nodiscard]] bool reads_topics(const stream_list&);

/// What the store must remember of the streams' meaning.
[[nodiscard]] std::vector<stream_meaning> meanings_of(const stream_list&);

}  // namespace ratchet
