// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "ports/source.hpp"
#include "sim/pair/setting.hpp"

namespace ratchet::pair_sim {

/// One client's life in the group. The client holds it, and the coordinator as long as it knows it.
struct group_client {
  std::string name;  ///< the group sorts by it
  time_point session_until;
  bool is_member{false};
  bool rejoins{false};      ///< it waits for the next assignment
  bool owes_answer{false};  ///< to a revoke
  std::uint32_t generation{0};
  std::deque<source_notice> notices;
};

/// A coordinator with one partition to give, under the classic protocol: a change of the members takes the
/// slot back from all, and the one whose name comes first gets it when all have answered.
class simulated_group {
 public:
  simulated_group(setting& in, topic_partition slot, milliseconds session)
      : in_{in}, slot_{std::move(slot)}, session_{session} {}

  void join(const std::shared_ptr<group_client>&);
  /// Its answer to a revoke: it joins again.
  void answer(const std::shared_ptr<group_client>&);
  void leave(const std::shared_ptr<group_client>&);
  /// A heartbeat, which comes as long as the process is not stopped.
  void beat(group_client&) const;
  /// Drops those that did not beat. To be called as time passes.
  void expire();
  /// Takes a commit, or says why not.
  [[nodiscard]] std::error_code commit(const group_client&, std::span<const commit_request>);

  // Faults.
  /// Someone's heartbeat is answered with a rebalance.
  void rebalance();
  /// The coordinator has lost its newest records: nobody is a member, and generations come again.
  void go_back(std::uint32_t generations);
  /// Somebody deletes the group, which must be empty. False: it is not.
  bool erase();

  [[nodiscard]] const std::map<topic_partition, committed_offset>& committed() const { return committed_; }
  [[nodiscard]] const std::vector<std::shared_ptr<group_client>>& members() const { return members_; }
  [[nodiscard]] std::uint32_t generation() const { return generation_; }
  [[nodiscard]] bool is_empty() const { return members_.empty(); }

 private:
  void begin_rebalance();
  void complete();
  void drop(group_client&);

  setting& in_;
  topic_partition slot_;
  milliseconds session_;
  std::vector<std::shared_ptr<group_client>> members_;
  bool is_preparing_{false};
  std::uint32_t generation_{0};
  std::map<topic_partition, committed_offset> committed_;
};

}  // namespace ratchet::pair_sim
