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
#include "ratchet/snapshot.hpp"
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

/// Until SIGINT or SIGTERM. A second signal ends the process at once. No other call installs signal handlers,
/// and they are removed when run() returns. A signal ends every app that runs this way.
[[nodiscard]] RATCHET_EXPORT until until_signal() noexcept;
/// Until every partition has reached the end it had when it was assigned.
[[nodiscard]] RATCHET_EXPORT until until_end() noexcept;
/// Until another thread sets the flag, which must outlive the run.
[[nodiscard]] RATCHET_EXPORT until until_set(const std::atomic<bool>&) noexcept;

/// Options of one call of transact().
struct transact_options {
  /// The longest time that the caller waits. Then the call ends with errc::timed_out.
  std::chrono::milliseconds timeout{std::chrono::seconds{10}};
  /// Distinguishes two requests with one key; usually the body of the request. Borrowed until transact()
  /// returns; only its hash is stored. None: the key alone counts.
  std::optional<std::string_view> fingerprint{};
};

/// The result of a transaction.
struct transacted {
  std::optional<std::string> reply;  ///< the bytes of fx.reply(); of a repeat, those of the first call
  /// The transaction was done under this key before, and was not done again.
  bool repeated{false};
  /// The number that the transaction has in its aggregate. If the key was the id of an event before: the
  /// aggregate's last number.
  ratchet::sequence sequence;
};

/// Ratchet inside a program: one open state directory, and the streams that feed it. Never prints, never
/// exits, and logs to the program's logger alone.
///
/// Thread-safety: run() on one thread. read(), last_sequence(), scan() and questions() on any thread, also
/// during run(). transact() on any thread but that of run().
class RATCHET_EXPORT app {
 public:
  /// Opens the state directory, or makes one.
  ///
  /// `own` holds the program's reducers; other streams use the `reducer` of the config. `to` holds a callback
  /// for each sink that the config marks `callback: true`, and for no other sink. `log` gets every log line
  /// until the app is destroyed; without it nothing is logged.
  ///
  /// `answer` answers a question of an earlier open() (problem::questions). `rebuild` moves away a directory
  /// that is damaged or has another meaning, and makes a new one. The answer also counts for the first run(),
  /// unless you give that run() an answer of its own.
  ///
  /// Errors: config_invalid; sink_missing; state_busy, state_foreign, state_newer_schema, state_damaged; io.
  [[nodiscard]] static reported<app> open(const config&, const reducers& own = {}, const sinks& to = {},
                                          const logger& log = {}, const resume_answer& answer = {});
  ~app();
  app(app&&) noexcept;
  app& operator=(app&&) noexcept;

  /// Consumes from Kafka, runs transactions, and sends published messages. Returns when `until` is reached,
  /// and everything handled is durable and committed. May be called again. If no stream has topics, it joins
  /// no group.
  ///
  /// If offsets and state do not fit, an operator must decide. Then the start is refused, or a partition
  /// stops and the others go on. The problem carries the questions, and questions() returns them. `answer`
  /// answers them in the next run(). It acts once, on what the first assignment finds, like `ratchet run
  /// --resume`. It changes nothing if all offsets fit, if it is not among the choices, or if the question has
  /// changed meanwhile. `rebuild` never deletes. The audit row of the decision holds resume_answer::by and
  /// resume_answer::why.
  ///
  /// Errors: partition_stopped; source_unavailable; resume_refused, group_taken, topic_missing, state_foreign
  /// (the hint says what to do); write_indeterminate, if the disk does not come back.
  [[nodiscard]] reported<void> run(until, const resume_answer& answer = {});

  /// The open questions: one for each partition that is stopped for a decision, and those for which the last
  /// run() was refused. Empty until a run() has looked at its partitions. A partition that stops for another
  /// reason (a reducer, malformed records) has no question. Any thread, also during run().
  [[nodiscard]] std::vector<question> questions() const;

  /// The snapshot of an aggregate, as of the last step. That step may not be durable yet. Errors: not_found,
  /// also if an event deleted the aggregate; state_damaged; not_running while the store is opened again after
  /// a failed write. After not_running, ask again.
  [[nodiscard]] reported<snapshot> read(std::string_view stream, std::string_view aggregate) const;
  /// The last sequence handled, also of a deleted aggregate. Errors: as read().
  [[nodiscard]] reported<sequence> last_sequence(std::string_view stream, std::string_view aggregate) const;

  /// The value of a row of a read-model table, as of the last step. That step may not be durable yet. Errors:
  /// not_found; not_running and state_damaged, as above; table_undeclared if no stream has the table;
  /// table_key_invalid.
  [[nodiscard]] reported<std::string> read(const table_key&) const;
  /// The rows of a range in the order of their keys: at most `limit` rows and about 16 MiB, and at least one
  /// row. To read on, pass table_page::next as `from`. Errors: as read(), without not_found;
  /// table_key_invalid also for a prefix of numbers.
  [[nodiscard]] reported<table_page> scan(const table_range&) const;

  /// Changes the state of an aggregate and publishes messages, in one step. Returns when that step is
  /// durable: a power cut does not undo a transaction that was reported as done.
  ///
  /// `function` gets the state of the aggregate. It may change the state, publish to the stream's `outputs`
  /// (fx.publish) and reply (fx.reply). It ends as a reducer does. It runs on the thread of run(): keep it
  /// short, and do not call transact() in it. If the disk fails in between, Ratchet calls it again. So it
  /// must not depend on anything that other threads change.
  ///
  /// `key` names the request. While the key is within the stream's window (`dedup.window`, by the clock), a
  /// second call with the same key and aggregate changes nothing and returns the same reply. So you may
  /// repeat a call that got no answer. `aggregate` and `key` have 1 to 1024 bytes. The stream must have the
  /// order `arrival` and opaque ids. Calls of several threads share steps and syncs.
  ///
  /// Any thread but that of run() and those of this app's sinks. A sink's thread gets errc::usage, because
  /// the end of a run waits for its callback.
  ///
  /// Errors that changed nothing: the code of `function` (reducer_failed if it threw or gave no code);
  /// aggregate_blocked; key_reused; held_back; output_undeclared, output_too_large, table_undeclared,
  /// table_key_invalid; not_found; usage. Errors after which the transaction may have been done: timed_out,
  /// not_running. Repeat the call with the same key to find out.
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
