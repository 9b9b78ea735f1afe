// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/step.hpp"
#include "core/stream_state.hpp"
#include "decode/decoder.hpp"
#include "ports/store.hpp"
#include "ratchet/config.hpp"
#include "ratchet/reducer.hpp"

namespace ratchet {

/// One configured stream while the program runs: its rules, its reducer, and the state that the owner thread
/// holds.
struct stream_runtime {
  stream_config config;
  std::string group;  ///< the consumer group
  stream_id id{0};
  stream_rules rules;  ///< views point into `config`, so that a stream_runtime stays where it is
  decode_rules decode;
  ratchet::reducer reduce;
  stream_state state;     ///< as of the last step written
  stream_state at_start;  ///< to tell what this run did
  /// Not later than the first time, by the clock, when something that waits is to be done; none: nothing is.
  std::optional<timestamp> next_wake;
  /// Aggregates whose release was bounded by its step, and goes on before anything else.
  std::vector<std::string> ready;
  /// So many events are taken into the next step at most: twice those of the last one that a release, a limit
  /// or an old gap ended early, and more again with each that came to its end. Otherwise a batch that has to
  /// go in many steps would be looked up whole for each of them.
  std::size_t pace{std::numeric_limits<std::size_t>::max()};
  /// Of so many events a step runs the reducer at most, so that none lasts much longer than a second: between
  /// steps it is seen that the program is alive, and that it is to stop. Follows how long the last ones took.
  std::size_t events_in_time{1024};
  /// There may be others of which only the store knows.
  bool may_have_ready{false};
  /// `deferred`: of how many events a step runs the reducer, so that it takes about as long as it may.
  std::size_t events_at_once{16};
  /// Not later than the time, in stream time, when the oldest gap began.
  std::optional<timestamp> oldest_gap;
  /// Of what this process has decoded, and then handled.
  field_counts fields;
  /// When it was last looked for what is due too late, by the steady clock.
  std::optional<std::chrono::steady_clock::time_point> too_late_looked_at;
  /// When the ages of rejected records were last looked at, by the clock.
  std::optional<timestamp> rejected_looked_at;
  /// Rows of forgotten aggregates are being looked for, behind this aggregate.
  bool looks_for_forgotten{false};
  std::optional<std::string> forgotten_after;
  /// Those that were handled before this were looked for, or are.
  std::optional<timestamp> forgotten_looked_for;

  stream_runtime(stream_config, ratchet::reducer);
  stream_runtime(const stream_runtime&) = delete;
  stream_runtime& operator=(const stream_runtime&) = delete;
  stream_runtime(stream_runtime&&) = delete;
  stream_runtime& operator=(stream_runtime&&) = delete;
  ~stream_runtime() = default;
};

using stream_list = std::vector<std::unique_ptr<stream_runtime>>;

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

/// Whether any of them is fed by Kafka.
[[nodiscard]] bool reads_topics(const stream_list&);

/// What the store must remember of the streams' meaning.
[[nodiscard]] std::vector<stream_meaning> meanings_of(const stream_list&);

/// Reads ids and states from the store. Errors: those of store::load.
[[nodiscard]] result<void> load_states(const stream_list&, store&);

}  // namespace ratchet
