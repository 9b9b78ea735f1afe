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

/// Leaves an enclosing function with the error of EXPR, or goes on with its value.
#define RATCHET_TRY(...) BOOST_OUTCOME_TRY(__VA_ARGS__)

namespace ratchet {

/// A value or an error code. Reading the side that is not there is a programmer's error and aborts.
template <class T>
using result = BOOST_OUTCOME_V2_NAMESPACE::basic_result<T, std::error_code,
                                                        BOOST_OUTCOME_V2_NAMESPACE::policy::terminate>;

/// Every error of Ratchet's own that some caller can react to. Errors of the libraries below keep their value
/// in a category of their own ("kafka", "rocksdb"); nothing is translated away.
enum class errc {
  config_invalid = 1,  ///< the config has errors; they are listed. Mend the file.
  usage = 2,           ///< the command line is wrong.
  not_built_yet = 3,   ///< a documented feature that this version refuses. Leave it out.
  reducer_failed = 4,  ///< a reducer said stop: its partition is stopped. Or it threw, and is tried again.
  poisoned = 5,        ///< too many malformed records in a row on a partition. Check envelope and topic.
  state_busy = 6,      ///< another process has the state directory open. Stop it, or ask it.
  state_missing = 7,   ///< no state directory there. Run first, or name another.
  state_foreign = 8,  ///< the directory belongs to another store, group, cluster or meaning. Nothing changed.
  state_newer_schema = 9,    ///< written by a newer version. Use that version.
  state_damaged = 10,        ///< a checksum or the layout is wrong, or steps that were synced are missing.
  write_indeterminate = 11,  ///< a write failed and may or may not be there. Reopen and read the truth.
  source_unavailable = 12,   ///< the brokers cannot be reached. Try again.
  source_fatal = 13,         ///< the client cannot go on. Make a new one and resume from the store.
  resume_refused = 14,       ///< the offsets found do not fit the state. The message says what may be chosen.
  group_taken = 15,          ///< another store holds the group. This one did not join or has left.
  topic_missing = 16,        ///< a configured topic does not exist.
  partition_stopped = 17,    ///< at least one partition is stopped; the rest went on.
  check_failed = 18,         ///< a check found something (verify, demo, --strict).
  not_found = 19,            ///< nothing is stored under that name.
  io = 20,                   ///< a file could not be read or written.
  aborted = 21,              ///< told to stop at once (second signal).
  internal = 22,             ///< an invariant of Ratchet's own does not hold. Please report it.
  access_denied = 23,  ///< the brokers refuse this user: login, certificate or ACL. Somebody has to act.
  reducer_slow = 24,   ///< a reducer took longer than its time limit. Its event is tried again.
  waiting_full = 25,   ///< more events would wait than the stream's limits allow. See `ratchet waiting list`.
  gap_too_old = 26,    ///< `gap.policy: stop`: numbers did not come in time. See `ratchet status`.
  /// a reducer publishes what its stream's `outputs` or its traits do not announce, or replies to nobody.
  output_undeclared = 27,
  output_lacking = 28,      ///< an event lacks the field that an `emit` of its stream takes. It is dead.
  output_too_large = 29,    ///< an event's message is larger than `outbox.message_bytes`. The event is dead.
  table_undeclared = 30,    ///< a reducer writes, or somebody reads, a table that no `tables` announces.
  table_key_invalid = 31,   ///< a key does not fit the declared encoding of its table.
  snapshot_too_large = 32,  ///< a snapshot or a row above `state.snapshot_bytes`. Its event is dead.
  aggregate_blocked = 33,   ///< earlier events of the aggregate wait; a transaction cannot go before them.
  not_running = 34,   ///< run() does not last, or ended before it answered. Same again, with the same key.
  timed_out = 35,     ///< no answer in time; it may have been done. Same again, with the same key.
  key_reused = 36,    ///< the key was used for a request with another fingerprint. Take a new key.
  held_back = 37,     ///< disk or outbox are nearly full: nothing is done until there is room. Try later.
  sink_missing = 38,  ///< messages wait for a sink that the config has no more. Put it back, or discard.
};

[[nodiscard]] RATCHET_EXPORT const std::error_category& ratchet_category() noexcept;
[[nodiscard]] RATCHET_EXPORT std::error_code make_error_code(errc) noexcept;

/// One finding in a config file. line and column start at 1; 0 means that the finding has no place.
struct diagnostic {
  std::string file;
  int line{0};
  int column{0};
  std::string path;     ///< the key's path, as in "streams[0].dedup.ids"
  std::string message;  ///< what is wrong
  std::string hint;     ///< what to do; may be empty
};

/// An error for a person: what happened and where, and what to do next.
struct problem {
  std::error_code code;
  std::string message;
  std::string hint;
  std::vector<diagnostic> diagnostics;  ///< filled for config errors, all of them at once
  /// What a person must decide before it can go on, and a program can answer: see resume.hpp.
  std::vector<question> questions{};
};

/// A value or a problem; for the calls that a person starts (open, load, run). `*r` and `r->` are the value.
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

/// The exit code that `ratchet` ends with: 0 ok, 1 check failed, 64 usage, 69 unavailable, 70 internal, 74
/// I/O, 78 config (sysexits.h).
[[nodiscard]] RATCHET_EXPORT int exit_code(const std::error_code&) noexcept;
[[nodiscard]] inline int exit_code(const reported<void>& r) noexcept {
  return r ? 0 : exit_code(r.error().code);
}

/// Prints the problem to standard error and returns its exit code. The one call of the library that prints.
RATCHET_EXPORT int report(const problem&);

/// The problem as report() prints it, ending in a line feed.
[[nodiscard]] RATCHET_EXPORT std::string to_text(const problem&);

}  // namespace ratchet

template <>
struct std::is_error_code_enum<ratchet::errc> : std::true_type {};
