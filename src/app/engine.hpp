// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "app/consumer_session.hpp"
#include "app/control_server.hpp"
#include "app/live_board.hpp"
#include "app/log.hpp"
#include "app/status_report.hpp"
#include "app/stream_runtime.hpp"
#include "ports/clock.hpp"
#include "ports/store.hpp"
#include "ratchet/app.hpp"
#include "ratchet/config.hpp"
#include "ratchet/reducer.hpp"

namespace ratchet {

struct engine_options {
  log_ptr log;  ///< none: silent
  resume_option resume{resume_option::none};
  const clock_port* clock{nullptr};  ///< none: the system's
};

/// An open state directory with its streams: what `run`, `apply` and the public app share. One owner thread;
/// read() of the store's views is thread-safe.
class engine {
 public:
  /// Opens (or makes) the state directory and reads the streams' states.
  /// Errors: config_invalid; state_busy, state_foreign, state_newer_schema, state_damaged; io.
  [[nodiscard]] static reported<std::unique_ptr<engine>> open(config, const reducers&, engine_options);
  ~engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;
  engine(engine&&) = delete;
  engine& operator=(engine&&) = delete;

  /// Consumes from Kafka until `stop` is set, or with `until_end` until every partition has reached the end
  /// it had. Starts a new client where the old one cannot go on, and opens the store again where a write
  /// failed. Errors: partition_stopped (only at the end of `until_end` or a drain); what a start can be
  /// refused for.
  [[nodiscard]] std::optional<problem> run(bool until_end, const std::atomic<bool>& stop);

  /// What is stored of an aggregate. Any thread. Errors: not_found; state_damaged.
  [[nodiscard]] result<snapshot> read(std::string_view stream, std::string_view aggregate) const;

  [[nodiscard]] stream_list& streams() noexcept { return streams_; }
  [[nodiscard]] store& state() noexcept { return *store_; }
  [[nodiscard]] const config& settings() const noexcept { return config_; }
  [[nodiscard]] const clock_port& clock() const noexcept { return *options_.clock; }
  [[nodiscard]] live_board& board() noexcept { return board_; }
  [[nodiscard]] const log_ptr& log() const noexcept { return options_.log; }

  /// Lets get, scan and status ask this process. Errors: state_busy; io.
  [[nodiscard]] reported<void> serve();
  /// When the records of the last session of run() flowed.
  [[nodiscard]] const flow_times& times() const noexcept { return times_; }
  /// What this run did so far, stream by stream.
  [[nodiscard]] std::vector<stream_report> reports() const;

 private:
  engine(config, stream_list, engine_options);

  [[nodiscard]] std::optional<problem> open_store();
  void close_store();
  [[nodiscard]] std::optional<problem> reopen_store(const problem& why);
  /// Moves the state directory to `<path>.old-<time>`; nothing is deleted.
  [[nodiscard]] std::optional<problem> move_aside();
  [[nodiscard]] std::optional<problem> rebuild();
  [[nodiscard]] session_result one_session(bool until_end, const std::atomic<bool>& stop);
  [[nodiscard]] std::optional<problem> stopped_partitions() const;

  config config_;
  stream_list streams_;
  engine_options options_;
  live_board board_;
  mutable std::shared_mutex store_mutex_;  ///< held by readers, and while the store is opened again
  std::unique_ptr<store> store_;
  std::unique_ptr<control_server> control_;  ///< reads the store: goes before it
  flow_times times_;
  bool has_consumed_{false};  ///< a session of this engine got as far as an assignment
  int reopened_in_a_row_{0};
  std::uint64_t durable_at_reopen_{0};
};

}  // namespace ratchet
