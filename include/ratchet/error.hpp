// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/outcome/std_result.hpp>
#include <boost/outcome/try.hpp>
#include <string>
#include <system_error>
#include <type_traits>
#include <vector>

#include "ratchet/export.hpp"
#include "ratchet/resume.hpp"
#include "ratchet/types.hpp"

/// Returns the error of EXPR from the enclosing function, or goes on with its value.
#define RATCHET_TRY(...) BOOST_OUTCOME_TRY(__VA_ARGS__)

namespace ratchet {

/// A value or an error code. Reading the side that is missing aborts: it is an error of the program.
template <class T>
using result = BOOST_OUTCOME_V2_NAMESPACE::basic_result<T, std::error_code,
                                                        BOOST_OUTCOME_V2_NAMESPACE::policy::terminate>;

/// The errors of Ratchet to which a caller can react. Errors of libraries keep their value in a category of
/// their own ("kafka", "rocksdb").
enum class errc {
  config_invalid = 1,      ///< the config has errors; they are listed. Correct the file.
  usage = 2,               ///< the command line is wrong.
  not_built_yet = 3,       ///< a documented feature that this version refuses. Leave it out.
  reducer_failed = 4,      ///< a reducer stopped its partition; or it threw, and is tried again.
  poisoned = 5,            ///< too many malformed records in a row on a partition. Check envelope and topic.
  state_busy = 6,          ///< another process has the state directory open. Stop that process, or ask it.
  state_missing = 7,       ///< there is no state directory. Run first, or name another one.
  state_foreign = 8,       ///< the directory is of another store, group, cluster or meaning. Nothing changed.
  state_newer_schema = 9,  ///< a newer version wrote the directory. Use that version.
  state_damaged = 10,      ///< a checksum or the layout is wrong, or synced steps are missing.
  write_indeterminate = 11,  ///< a write failed, and may be stored or not. Open the directory again.
  source_unavailable = 12,   ///< the brokers cannot be reached. Try again.
  source_fatal = 13,         ///< the client cannot go on. Make a new one and resume from the store.
  resume_refused = 14,       ///< the offsets do not fit the state. The hint names the choices.
  group_taken = 15,          ///< another state directory holds the group. This one left it, or did not join.
  topic_missing = 16,        ///< a configured topic does not exist.
  partition_stopped = 17,    ///< at least one partition is stopped; the others went on.
  check_failed = 18,         ///< a check found a fault (verify, demo, --strict).
  not_found = 19,            ///< there is no entry of that name.
  io = 20,                   ///< a file could not be read or written.
  aborted = 21,              ///< a second signal ended the process at once.
  internal = 22,             ///< an invariant of Ratchet does not hold. Please report it.
  access_denied = 23,        ///< the brokers refuse the login, certificate or ACL. Correct it.
  reducer_slow = 24,         ///< a reducer took longer than `reducer.timeout`. Its event is tried again.
  waiting_full = 25,  ///< more events would wait than the stream's limits allow. See `ratchet waiting list`.
  gap_too_old = 26,   ///< `gap.policy: stop`: missing numbers did not come in time. See `ratchet status`.
  /// the `outputs` of the stream or the reducer's traits do not announce a message, or a reply has no caller.
  output_undeclared = 27,
  output_lacking = 28,      ///< an event lacks a field that an `emit` of its stream uses. It is dead.
  output_too_large = 29,    ///< an event's message is larger than `outbox.message_bytes`. The event is dead.
  table_undeclared = 30,    ///< a reducer writes, or a program reads, a table that no `tables` announces.
  table_key_invalid = 31,   ///< a key does not fit the encoding of its table.
  snapshot_too_large = 32,  ///< a snapshot or a row is above `state.snapshot_bytes`. Its event is dead.
  aggregate_blocked = 33,   ///< earlier events of the aggregate wait; a transaction cannot go before them.
  not_running = 34,      ///< no run() is under way, or it ended before the answer. Repeat with the same key.
  timed_out = 35,        ///< no answer in time; it may have been done. Repeat with the same key.
  key_reused = 36,       ///< the key is of a request with another fingerprint. Use a new key.
  held_back = 37,        ///< disk, outbox or mailbox is (nearly) full; nothing was done. Repeat later.
  sink_missing = 38,     ///< messages wait for a sink that the config no longer has. Add it, or discard them.
  state_restoring = 39,  ///< a copy of the state is being read. Repeat when it is complete.
  not_owner = 40,        ///< this instance follows a replicated log. Ask the one that owns the state.
  no_standby = 41,       ///< no other instance could own the state. Start one, and repeat when it is ready.
};

[[nodiscard]] RATCHET_EXPORT const std::error_category& ratchet_category() noexcept;
[[nodiscard]] RATCHET_EXPORT std::error_code make_error_code(errc) noexcept;

/// One finding in a config file. Line and column start at 1; 0 means that the finding has no place.
struct diagnostic {
  std::string file;
  int line{0};
  int column{0};
  std::string path;     ///< the key's path, as in "streams[0].dedup.ids"
  std::string message;  ///< what is wrong
  std::string hint;     ///< what to do; may be empty
};

/// An error for a person: what happened, where, and what to do.
struct problem {
  std::error_code code;
  std::string message;
  std::string hint;
  std::vector<diagnostic> diagnostics;  ///< filled for config errors, all of them at once
  /// The decisions that are needed before it can go on. A program can answer them: see resume.hpp.
  std::vector<question> questions{};
};

/// A value or a problem, for calls that a person starts (open, load, run). `*r` and `r->` are the value.
template <class T>
class [[nodiscard]] reported
    : public BOOST_OUTCOME_V2_NAMESPACE::basic_result<T, problem,
                                                      BOOST_OUTCOME_V2_NAMESPACE::policy::terminate> {
  using base =
      BOOST_OUTCOME_V2_NAMESPACE::basic_result<T, problem, BOOST_OUTCOME_V2_NAMESPACE::policy::terminate>;

 public:
  using base::base;
  [[nodiscard]] auto& operator*() & requires(!std::is_void_v<T>) { return base::value(); }
  [[nodiscard]] const auto& operator*() const& requires(!std::is_void_v<T>) { return base::value(); }
  [[nodiscard]] auto* operator->() requires(!std::is_void_v<T>) { return &base::value(); }
  [[nodiscard]] const auto* operator->() const requires(!std::is_void_v<T>) { return &base::value(); }
};

/// The exit code of `ratchet`: 0 success, 1 a check failed, 64 usage, 69 unavailable, 70 internal, 74 I/O,
/// 78 config (sysexits.h).
[[nodiscard]] RATCHET_EXPORT int exit_code(const std::error_code&) noexcept;
[[nodiscard]] inline int exit_code(const reported<void>& r) noexcept {
  return r ? 0 : exit_code(r.error().code);
}

/// Prints the problem to standard error and returns its exit code. No other call of the library prints.
RATCHET_EXPORT int report(const problem&);

/// The text that report() prints, with a line feed at its end.
[[nodiscard]] RATCHET_EXPORT std::string to_text(const problem&);

}  // namespace ratchet

template <>
struct std::is_error_code_enum<ratchet::errc> : std::true_type {};
