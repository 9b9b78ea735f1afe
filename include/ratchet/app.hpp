// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ratchet/config.hpp"
#include "ratchet/error.hpp"
#include "ratchet/export.hpp"
#include "ratchet/log.hpp"
#include "ratchet/reducer.hpp"
#include "ratchet/resume.hpp"
#include "ratchet/sinks.hpp"
#include "ratchet/table.hpp"
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
/// handlers, and only while run() lasts. Of several apps that run so at a time each ends.
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

/// How a transaction is asked for.
struct transact_options {
  /// Longer than this no caller waits: errc::timed_out.
  std::chrono::milliseconds timeout{std::chrono::seconds{10}};
  /// What tells two requests with one key apart: the request's body, as a rule. Borrowed until transact()
  /// returns; only its hash is kept. None: the key alone counts.
  std::optional<std::string_view> fingerprint{};
};

/// What became of a transaction.
struct transacted {
  std::optional<std::string> reply;  ///< what fx.reply() was given, now or when it was done
  /// It had been done under this key before, and was not done again.
  bool repeated{false};
  /// The aggregate's number that it took. Where the key had come as the id of an event: the last one.
  ratchet::sequence sequence;
};

/// Ratchet inside a program: one open state directory, and the streams that feed it. Never prints, never
/// exits, logs to the program's logger alone. Thread-safety: run() on one thread; read() on any, also while
/// run() lasts; transact() on any other.
class RATCHET_EXPORT app {
 public:
  /// Opens or makes the state directory. `own` are the program's reducers; other streams use the config's.
  /// `to` are the callbacks of the sinks that the config names `callback: true`, all of them and no others.
  /// `log` is told what happens, from here on until the app's end; without it nothing is logged.
  /// `answer` is what a person has decided of a question that the problem of an earlier open() carried
  /// (problem::questions): `rebuild` moves a directory away whose meaning was changed, or that is damaged,
  /// and makes a new one. Like the others it also holds for what the first run() finds, unless that is given
  /// an answer of its own. Errors: config_invalid; sink_missing; state_busy, state_foreign,
  /// state_newer_schema, state_damaged; io.
  [[nodiscard]] static reported<app> open(const config&, const reducers& own = {}, const sinks& to = {},
                                          const logger& log = {}, const resume_answer& answer = {});
  ~app();
  app(app&&) noexcept;
  app& operator=(app&&) noexcept;

  /// Consumes from Kafka, does transactions, and sends what is published; returns when `until` says so, with
  /// everything handled durable and committed, and may be called again. Where no stream has topics, no group
  /// is joined.
  ///
  /// Where offsets and state do not fit, somebody has to decide: a start is refused, or a partition stops
  /// and the others go on. questions() tells which questions are open, and the problem carries them, too.
  /// `answer` is given to the next run(): it acts once, on what its first assignment finds, as
  /// `ratchet run --resume` does, and where nothing is amiss it does nothing. `rebuild` never deletes. An
  /// answer that is none, or of which the question has changed meanwhile, leaves things as they are; who
  /// answered, and why, stands in the audit row of what it did.
  ///
  /// Errors: partition_stopped; source_unavailable; resume_refused, group_taken, topic_missing, state_foreign
  /// (the problem says what can be done); write_indeterminate, where the disk does not come back.
  [[nodiscard]] reported<void> run(until, const resume_answer& answer = {});

  /// What somebody must decide now: one question for each partition that is stopped for it, and those that
  /// the last run() was refused for. Empty while a run() has not found out yet. Partitions that stop for
  /// another reason (a reducer, malformed records) ask nothing here. Any thread, also while run() lasts.
  [[nodiscard]] std::vector<question> questions() const;

  /// The last-handled sequence and the snapshot of an aggregate, as of the last step, which may not be
  /// durable yet. Errors: not_found; not_running, while the store is opened again behind a failed write:
  /// nobody knows now whether it is there, ask again; state_damaged.
  [[nodiscard]] result<snapshot> read(std::string_view stream, std::string_view aggregate) const;

  /// The value of a row of a read-model table, as of the last step, which may not be durable yet. Errors:
  /// not_found; not_running, as above; table_undeclared, where no stream has the table; table_key_invalid;
  /// state_damaged.
  [[nodiscard]] result<std::string> read(const table_key&) const;
  /// The rows of a range, in the order of keys, at most `limit` and, but for the first, 16 MiB of them; what
  /// is behind these is read from `next` on. Errors: as read(), but for not_found; table_key_invalid also for
  /// a prefix of numbers.
  [[nodiscard]] result<table_page> scan(const table_range&) const;

  /// Changes the state of an aggregate and publishes, in one step, and returns when that is durable: if it
  /// says done, a power cut does not undo it. `function` gets the aggregate's state, may change it, publish
  /// (fx.publish, to the stream's `outputs`) and reply (fx.reply), and ends as a reducer does. It runs on the
  /// thread of run(), so it should be short, must not call transact(), and must not rest on what other
  /// threads change: where the disk failed in between, it is called again.
  ///
  /// `key` names the request. While it is in the stream's window (`dedup.window`, by the clock), the same key
  /// for the same aggregate does nothing again and gets the same reply; so a caller that was told nothing
  /// asks again. `aggregate` and `key` have 1 to 1024 bytes. The stream must be of order arrival with opaque
  /// ids. Calls of several threads share steps and syncs. Any thread but the one that run() lasts on, and
  /// those that call this app's sinks: the end of a run waits for a callback's (errc::usage).
  ///
  /// Errors. Nothing was changed: whatever `function` ended with (reducer_failed, where it threw or named no
  /// code); aggregate_blocked; key_reused; held_back; output_undeclared, output_too_large, table_undeclared,
  /// table_key_invalid; not_found, usage. It may have been done, and the same key tells: timed_out,
  /// not_running.
  [[nodiscard]] reported<transacted> transact(std::string_view stream, std::string_view aggregate,
                                              std::string_view key,
                                              const std::function<outcome(state&, effects&)>& function,
                                              const transact_options& = {});

 private:
  struct implementation;
  explicit app(std::unique_ptr<implementation>);
  std::unique_ptr<implementation> self_;
};

}  // namespace ratchet
