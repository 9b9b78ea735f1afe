// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ports/source.hpp"
#include "sim/consumer/history.hpp"
#include "sim/consumer/world_port.hpp"

namespace ratchet::sim {

struct log_entry {
  std::int64_t offset{0};
  const message* what{nullptr};  ///< null: a transaction's marker
};

/// A partition: its log, and what the group committed.
struct partition_log {
  topic_partition where;
  std::uint32_t stream{0};
  std::deque<log_entry> entries;      ///< in the order of offsets, with holes
  std::vector<std::int64_t> expired;  ///< where retention took a record, in the order of offsets
  std::int64_t start{0};
  std::int64_t end{0};
  std::optional<std::int64_t> committed;
  std::string metadata;
  std::uint32_t made{0};  ///< how often the topic was made
  /// A transaction is open, and nothing from here on is given out.
  std::optional<std::int64_t> open_at;
  [[nodiscard]] std::int64_t stable_end() const { return open_at.value_or(end); }
  [[nodiscard]] log_bounds bounds() const { return {start, stable_end(), end}; }

  void append(const message* what) { entries.push_back({end++, what}); }
  /// The first entry at or above `offset`.
  [[nodiscard]] std::deque<log_entry>::const_iterator from(std::int64_t offset) const;
  /// The log's start moves up to `offset`.
  void expire_below(std::int64_t offset);
};

/// The brokers: logs, and the coordinator of one group with its members.
struct cluster {
  explicit cluster(const history&);

  [[nodiscard]] std::size_t index_of(const topic_partition&) const;
  void store_offsets(std::span<const commit_request>);
  /// Those of the members that still are.
  void take_late_commits();
  void pass_turn();
  /// Those members are in the group no more.
  void leave(std::string_view id) {
    std::erase_if(others, [&](const group_member& m) { return m.id == id; });
  }

  [[nodiscard]] std::string id() const { return "cluster-" + std::to_string(number); }

  std::vector<partition_log> logs;
  std::uint32_t number{1};               ///< of the cluster itself
  std::uint64_t generation{1};           ///< a commit of an older one is refused
  std::vector<group_member> others;      ///< who is listed beside this instance
  std::set<std::size_t> held_by_others;  ///< partitions that the next assignment leaves out
  bool answers{true};
  std::set<std::size_t> leaderless;  ///< partitions that nobody answers for; no client is told so
  std::uint32_t lost_commits{0};     ///< so many of the next ones fail, and are taken or not
  std::uint32_t late_commits{0};     ///< so many of the next ones are taken later
  struct late_commit {
    std::uint64_t generation;
    std::uint32_t in_turns;
    std::vector<commit_request> requests;
  };
  std::vector<late_commit> on_their_way;
};

/// Judges what the client does; the world.
class kafka_judge {
 public:
  virtual ~kafka_judge() = default;
  virtual void on_commit(const commit_request&) = 0;
  /// These were handed over in one batch, in this order.
  virtual void on_delivery(std::vector<std::pair<std::size_t, log_entry>> records) = 0;
  /// Nothing that was handed over before is still to be handled.
  virtual void on_assign() = 0;
  /// This log is read from here on, again or for the first time; or it is not read just now.
  virtual void on_unread(std::size_t log) = 0;
};

/// One client of the simulated brokers: librdkafka's behaviour, as the port promises it.
class simulated_source final : public source {
 public:
  simulated_source(cluster&, world_port&, kafka_judge&);

  // What the world does to it.
  /// The group takes all partitions away, to share them out anew. `lost`: this member is not asked; the
  /// brokers refuse its commits from now on, and it learns of that some turns later.
  void rebalance(bool lost);
  void die();
  void deliver_again(std::uint32_t back);
  void topic_gone(std::uint32_t stream);
  [[nodiscard]] bool joined() const noexcept { return joined_; }

  result<std::string> cluster_id(std::chrono::milliseconds) override;
  result<std::vector<topic_partition>> partitions(std::span<const std::string>,
                                                  std::chrono::milliseconds) override;
  result<std::vector<committed_offset>> committed(std::span<const topic_partition>,
                                                  std::chrono::milliseconds) override;
  result<std::vector<group_member>> members(std::chrono::milliseconds) override;
  std::vector<result<log_bounds>> bounds(std::span<const topic_partition>,
                                         std::chrono::milliseconds) override;
  std::vector<result<std::optional<owned_record>>> read_at(std::span<const position>,
                                                           std::chrono::milliseconds) override;
  result<void> join(std::span<const std::string> topics) override;
  result<void> assign(std::span<const position>) override;
  result<void> unassign() override;
  result<void> pause(std::span<const topic_partition>) override;
  result<void> resume(std::span<const topic_partition>) override;
  result<polled> poll(std::size_t max_records, std::chrono::milliseconds timeout) override;
  void wake() noexcept override {}
  result<void> commit(std::span<const commit_request>) override;
  result<void> commit_and_wait(std::span<const commit_request>, std::chrono::milliseconds) override;
  [[nodiscard]] std::optional<std::int64_t> known_end(const topic_partition&) const override;
  void ask_bounds(std::span<const topic_partition>) override;
  [[nodiscard]] std::size_t queued_bytes() const noexcept override { return 0; }
  void close(std::chrono::milliseconds) noexcept override {}

 private:
  enum class owed : std::uint8_t { nothing, assign, unassign };
  struct reading {
    std::optional<std::int64_t> next;  ///< none: not read
    bool paused{false};
    bool told_end{false};
    bool dead{false};
  };

  /// One question to the brokers: source_unavailable where they are away.
  [[nodiscard]] bool answered();
  void say_assignment();
  void say_revoked(bool lost);
  [[nodiscard]] std::unique_ptr<record_batch> collect(std::size_t most, std::vector<source_notice>&);
  [[nodiscard]] bool deliverable(std::size_t i, std::vector<source_notice>&);
  /// What the brokers make of a commit that was sent by a member of this generation.
  [[nodiscard]] std::error_code take(std::span<const commit_request>, std::uint64_t generation);
  /// The brokers take one client's requests in their order: what is under way comes before what follows it.
  void take_under_way();
  void end_commit(std::vector<source_notice>&);
  void trace(const char* what, std::span<const commit_request>);

  cluster& cluster_;
  world_port& world_;
  kafka_judge& judge_;
  bool joined_{false};
  bool dead_{false};
  std::uint64_t generation_{0};  ///< of the membership, as this client believes
  owed owed_{owed::nothing};
  std::uint32_t assigned_in_{0};            ///< turns until an assignment comes; 0: none is due
  std::optional<std::uint32_t> learns_in_;  ///< turns until it learns that its membership was lost
  std::vector<source_notice> notices_;
  std::vector<topic_partition> asked_;  ///< whose bounds are told at the next poll that is answered
  std::vector<reading> reading_;
  struct pending {
    std::vector<commit_request> requests;
    std::uint64_t generation;
    std::uint32_t in_turns;                  ///< until its answer comes
    std::optional<std::error_code> outcome;  ///< none: the brokers have not seen it yet
  };
  std::optional<pending> under_way_;
};

}  // namespace ratchet::sim
