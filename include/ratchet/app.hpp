// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ratchet/config.hpp"
#include "ratchet/error.hpp"
#include "ratchet/export.hpp"
#include "ratchet/reducer.hpp"
#include "ratchet/types.hpp"

namespace ratchet {

/// When a run ends.
class until {
 public:
  enum class kind : std::uint8_t { signal, end, flag };
  [[nodiscard]] kind when() const noexcept { return kind_; }
  [[nodiscard]] const std::atomic<bool>* flag() const noexcept { return flag_; }

 private:
  friend until until_signal() noexcept;
  friend until until_end() noexcept;
  friend until until_set(const std::atomic<bool>&) noexcept;
  until(kind k, const std::atomic<bool>* flag) noexcept : kind_{k}, flag_{flag} {}
  kind kind_;
  const std::atomic<bool>* flag_;
};

/// Until SIGINT or SIGTERM; a second one ends the process at once. The only call that installs signal
/// handlers, and only while run() lasts.
[[nodiscard]] RATCHET_EXPORT until until_signal() noexcept;
/// Until every partition has reached the end it had when it was assigned.
[[nodiscard]] RATCHET_EXPORT until until_end() noexcept;
/// Until another thread sets the flag, which must outlive the run.
[[nodiscard]] RATCHET_EXPORT until until_set(const std::atomic<bool>&) noexcept;

/// What is stored of an aggregate.
struct snapshot {
  ratchet::sequence sequence;
  std::optional<event_id> id;
  std::optional<timestamp> time;
  std::optional<std::string> value;  ///< none: deleted
};

/// Ratchet inside a program: one open state directory, and the streams that feed it. Never prints, never
/// exits, logs nothing. Thread-safety: run() on one thread; read() on any, also while run() lasts.
class RATCHET_EXPORT app {
 public:
  /// Opens or makes the state directory. `own` are the program's reducers; other streams use the config's.
  /// Errors: config_invalid; state_busy, state_foreign, state_newer_schema, state_damaged; io.
  [[nodiscard]] static reported<app> open(const config&, const reducers& own = {});
  ~app();
  app(app&&) noexcept;
  app& operator=(app&&) noexcept;

  /// Consumes from Kafka; returns when `until` says so, with everything handled durable and committed.
  /// Errors: partition_stopped; source_unavailable; resume_refused, group_taken, topic_missing, state_foreign
  /// (the problem says what can be done); write_indeterminate, where the disk does not come back.
  [[nodiscard]] reported<void> run(until);

  /// The last-handled sequence and the snapshot of an aggregate, as of the last step, which may not be
  /// durable yet. Errors: not_found; state_damaged.
  [[nodiscard]] result<snapshot> read(std::string_view stream, std::string_view aggregate) const;

 private:
  struct implementation;
  explicit app(std::unique_ptr<implementation>);
  std::unique_ptr<implementation> self_;
};

}  // namespace ratchet
