// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "cli/bench_usage.hpp"
#include "core/stream_state.hpp"
#include "ratchet/config.hpp"
#include "ratchet/error.hpp"
#include "ratchet/gate.hpp"
#include "ratchet/types.hpp"
#include "workload/workload_digest.hpp"
#include "workload/workload_kafka.hpp"

/// The runs that `ratchet bench` measures. Each takes in a whole topic of made-up records.
namespace ratchet::cli {

/// How Ratchet is set up in a measured run; the rest is as its defaults are.
struct bench_setup {
  std::string group;
  std::filesystem::path state;
  ratchet::order order{order::latest};
  bool every_step{false};
  bool dedup{true};
  std::uint64_t memory_limit{0};  ///< 0: the default
  /// Where given, the consumer is gone within this time after it was killed.
  std::string session_timeout_ms;
};

[[nodiscard]] config bench_config(const bench_setup&, const kafka_target&);

struct raw_run {
  std::uint64_t records{0};
  double seconds{0};  ///< from the first record to the last
  process_usage used;
  [[nodiscard]] double per_second() const noexcept { return static_cast<double>(records) / seconds; }
};

/// The client library alone. Errors: those of raw_consume().
[[nodiscard]] reported<raw_run> run_raw(const kafka_target&, std::uint64_t expected_records);

struct state_run {
  std::uint64_t records{0};      ///< that the state has handled, in all
  std::uint64_t handled{0};      ///< of them, by this run
  double seconds{0};             ///< from the first record to all of them durable
  double open_seconds{0};        ///< of opening the state directory
  double first_step_seconds{0};  ///< from the group's assignment to the first step written
  process_usage used;            ///< from the opening to the end of the run
  ratchet::counters counters;
  /// Records a second in each fifth of them, by the times at which they were durable.
  std::array<double, 5> fifths{};
  [[nodiscard]] double per_second() const noexcept { return static_cast<double>(handled) / seconds; }
};

/// What is found in the state after a run.
struct state_found {
  workload_digest digest;
  process_usage used;  ///< since the run's opening, with everything flushed to files
};

struct state_run_options {
  std::uint64_t expected_records{0};  ///< in all, those of an earlier run on the same state among them
  /// The process kills itself when so many are durable: what is found afterwards is what a crash leaves.
  std::optional<std::uint64_t> kill_at;
  /// Afterwards the state is flushed into this directory, as a checkpoint, and read. None: not asked for.
  std::filesystem::path flush_into;
};

struct state_outcome {
  state_run run;
  std::optional<state_found> found;
};

/// From the topic to durable state. Errors: those of the engine; check_failed, where it took in other than
/// the expected records.
[[nodiscard]] reported<state_outcome> run_state(const bench_setup&, const kafka_target&,
                                                const state_run_options&);

/// Each as one JSON object.
[[nodiscard]] std::string json_of(const raw_run&);
[[nodiscard]] std::string json_of(const state_outcome&);

}  // namespace ratchet::cli
