// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/resume.hpp"
#include "pipeline/pipeline.hpp"
#include "ports/source.hpp"
#include "ports/store_lineage.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

/// How long one question to the brokers may take.
inline constexpr std::chrono::milliseconds k_query_timeout{10'000};

/// What the operator said with `--resume`, and what this process has made of it.
struct resume_wish {
  resume_option option{resume_option::none};
  std::string replaced_uuid;  ///< of the store that was put aside for a rebuild: who held its claims is us
  decider who{};              ///< said it
  bool was_used{false};       ///< it has put a directory aside already
  /// The brokers' cluster, where the state was read from another one; the option says how to go on with it.
  std::string other_cluster{};
  /// The state goes through a replicated log: only what a step can carry is an answer.
  bool replicated{false};

  /// For what is met behind the first assignment.
  [[nodiscard]] resume_wish without_option() const {
    resume_wish later;
    later.replicated = replicated;
    return later;
  }
};

/// What answers on a pair where no step can.
inline constexpr std::string_view k_new_pair =
    "stop all instances, and give them a log topic, a `kafka.group` and state directories that are new";

/// What was decided for the partitions of an assignment, before anything is written or claimed.
struct resolved_assignment {
  std::vector<position> start;         ///< where to read on
  std::vector<position> only_claimed;  ///< stopped, but taken over: the mark becomes ours
  std::vector<audit_row> audits;
  std::vector<problem> stops;  ///< one a stopped partition, for the log
  std::vector<std::pair<topic_partition, std::string>> stopped;
  /// What the brokers did not say enough of, and why: to be asked about again. The others need not wait.
  std::vector<std::pair<topic_partition, std::error_code>> held;
  std::map<topic_partition, log_bounds> logs;  ///< of those that they answered for
  std::vector<std::string> warnings;
  std::optional<problem> refused;  ///< do not start at all; who has claimed stops that partition instead
  /// Of these another copy of the directory, or another store, has claimed so many.
  std::size_t claimed_by_others{0};
  std::optional<problem> rebuild;  ///< put the directory aside and start over, for this
  bool takeover{false};            ///< draw a new incarnation past `takeover_counter`
  std::uint64_t takeover_counter{0};
  std::vector<incarnation> taken_over;  ///< whose commits count as this store's own from now on
  bool option_used{false};              ///< some partition was decided otherwise than without the option
};

/// What stands against joining the group.
struct joining_check {
  std::optional<problem> refused;
  /// The option goes over a claim that this store knows nothing of, as on this partition. Whoever made it
  /// must not be alive.
  std::optional<committed_offset> overridden;
};

/// Looks up the facts of each partition (stored and committed offset, bounds of the log, the last record) and
/// applies the resume rules. Changes nothing. Errors: source_unavailable, where the group's offsets cannot be
/// had; what the brokers hold against this user.
[[nodiscard]] result<resolved_assignment> resolve_assignment(source&, const store_lineage&, const pipeline&,
                                                             std::span<const topic_partition>,
                                                             const resume_wish&, timestamp now);

/// The rows that refuse, judged before the group is joined, so that an incumbent sees no rebalance: needs no
/// look at the log. Errors: source_unavailable.
[[nodiscard]] result<joining_check> check_before_joining(source&, const store_lineage&, const pipeline&,
                                                         std::span<const topic_partition>, const resume_wish&,
                                                         const std::string& group);

/// The first of these claims that the option goes over, and that the store knows nothing of.
[[nodiscard]] std::optional<committed_offset> overridden_claim(const store_lineage&, const pipeline&,
                                                               std::span<const committed_offset>,
                                                               const resume_wish&);

/// True where some committed offset carries this store's own mark.
[[nodiscard]] bool has_own_claim(const store_lineage&, std::span<const committed_offset>);

enum class claims_of : std::uint8_t { copies, copies_and_other_stores };
/// What says that another copy of this state directory, or another store, has claimed one of these
/// partitions; none where none has. Errors: source_unavailable.
[[nodiscard]] result<std::optional<problem>> foreign_claim(source&, const store_lineage&, const pipeline&,
                                                           std::span<const topic_partition>, claims_of,
                                                           std::chrono::milliseconds timeout);

/// Offsets from `from` on and below `to`, as in "[5, 9)".
[[nodiscard]] std::string range(std::int64_t from, std::int64_t to);

/// What a person reads of a row of the table: what was found on this partition, and what can be typed; with
/// the question that a program can answer. `log_known`: the bounds of the log are among the facts.
[[nodiscard]] problem describe(resume_row, const committed_offset&, const resume_facts&,
                               std::string_view stream, bool log_known, bool replicated);

}  // namespace ratchet
