// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "consumer/assignment.hpp"
#include "consumer/cluster_questions.hpp"
#include "consumer/offset_commits.hpp"
#include "consumer/partition_set.hpp"
#include "consumer/turn_result.hpp"
#include "pipeline/pipeline.hpp"
#include "ports/clock.hpp"
#include "ports/source.hpp"
#include "ports/store_lineage.hpp"
#include "process/log.hpp"
#include "ratchet/config.hpp"
#include "telemetry/instance_status.hpp"

namespace ratchet {

/// Whether this instance may read a partition, and from where. One state directory owns a whole group: it is
/// looked at before joining, once more at the first assignment, and claimed by committing offsets with the
/// store's mark. Nothing is read, written or sent before take() said so. Thread-safety: the owner's thread.
class group_ownership {
 public:
  struct dependencies {
    const config& settings;
    store_lineage& store;
    ratchet::source& source;
    const clock_port& clock;
    instance_status& status;
    log_ptr log;
    pipeline& steps;
    offset_commits& commits;
    const partition_set& partitions;
    cluster_questions& questions;
    resume_wish wish;                      ///< holds for the first assignment
    std::uint64_t random{0};               ///< for the incarnation
    std::function<bool()> stop_requested;  ///< then a wait ends as drained
  };
  explicit group_ownership(dependencies deps) : deps_{std::move(deps)} {}

  /// The state was read from another cluster than this one, which it goes on with as the option says.
  void meet_other_cluster(std::string id) { deps_.wish.other_cluster = std::move(id); }
  /// Looks whether the group may be joined, so that an incumbent sees no rebalance, and waits until it has no
  /// members. Ends: refused, drained, client_lost; as cluster_questions::do_meanwhile().
  [[nodiscard]] turn_result<> check_before_joining();
  /// Draws the incarnation whose mark all commits carry: one past this counter. Ends: store_lost.
  [[nodiscard]] turn_result<> sign(std::uint64_t past_counter = 0);

  /// Two instances may have joined at once: one of them leaves. Ends: refused, client_lost.
  [[nodiscard]] turn_result<> check_first_assignment(const std::vector<topic_partition>& given);
  /// Where to read these on, by the resume rules. None: they are asked about again, `more` being beside what
  /// is read already. Ends: refused, rebuild, client_lost.
  [[nodiscard]] turn_result<std::optional<resolved_assignment>> resolve(std::span<const topic_partition>,
                                                                        bool more);
  /// Makes these this instance's: writes where each is read on, waits until that is durable, and claims.
  /// Those named last do not count as read to their end. False: they are not, and are asked about again
  /// (`more`), or come with the group's next assignment. Ends: refused, store_lost, client_lost.
  [[nodiscard]] turn_result<bool> take(resolved_assignment&,
                                       std::span<const topic_partition> not_at_their_end, bool more);
  /// There is no group: nothing is to be claimed.
  void take_alone() noexcept { has_taken_ = true; }
  /// An assignment was claimed since the start: the state is this instance's.
  [[nodiscard]] bool has_taken() const noexcept { return has_taken_; }

  /// The group does not give these to this instance, though it has claimed: shows on the status who is in the
  /// group beside it, and which topics are gone. Asks the brokers every few seconds. Ends: refused, where
  /// another state directory has claimed one of them, as each would have a part of the state.
  [[nodiscard]] turn_result<> look_for_others(std::span<const topic_partition> not_given,
                                              std::chrono::steady_clock::time_point now);
  [[nodiscard]] bool is_time_to_look(std::chrono::steady_clock::time_point now) const;
  /// All are given, or none: nothing is shown any more.
  void forget_others();

  /// What the operator said answers for the directory as a whole, so that all partitions are looked at first.
  [[nodiscard]] bool needs_all_answers() const noexcept;
  /// Says so, where the option had nothing to do.
  void tell_of_option(const resolved_assignment&) const;

  [[nodiscard]] std::chrono::milliseconds session_timeout() const;
  /// How long the group may keep partitions for a member that is no more.
  [[nodiscard]] std::chrono::milliseconds longest_absence() const;

  /// Those of the topics that no broker knows; none: nobody could tell. Asks the brokers, and waits for them.
  [[nodiscard]] std::optional<std::vector<std::string>> gone_among(std::span<const std::string> topics) const;
  [[nodiscard]] static std::string no_broker_knows(const std::vector<std::string>& topics);

 private:
  [[nodiscard]] turn_result<> wait_until_alone(const std::optional<committed_offset>& overridden);
  [[nodiscard]] problem has_members(const std::string& members,
                                    const std::optional<committed_offset>& overridden) const;
  /// How long these may be there although they were killed.
  [[nodiscard]] std::chrono::milliseconds patience_with(const std::vector<group_member>&) const;
  [[nodiscard]] bool reads_others_than(std::span<const topic_partition>) const;
  [[nodiscard]] result<bool> is_alone();
  void show_others(const std::string& found);
  [[nodiscard]] result<std::optional<problem>> must_leave(const std::vector<topic_partition>& given);
  [[nodiscard]] store_change change_of_store(resolved_assignment&) const;
  /// It is the first assignment of a state that was read from another cluster.
  [[nodiscard]] bool moves() const noexcept { return !has_taken_ && !deps_.wish.other_cluster.empty(); }
  [[nodiscard]] turn_result<bool> claim_failed(std::error_code, bool more);
  [[nodiscard]] turn_result<> meets_a_copy(std::size_t claimed);

  dependencies deps_;
  bool has_taken_{false};
  std::optional<std::chrono::steady_clock::time_point> last_look_;  ///< for others
  std::string others_;                                              ///< as shown
};

}  // namespace ratchet
