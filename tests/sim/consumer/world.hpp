// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "consumer/consumer_session.hpp"
#include "consumer/session_loop.hpp"
#include "ports/disk_space.hpp"
#include "sim/consumer/callers.hpp"
#include "sim/consumer/history.hpp"
#include "sim/consumer/plain_oracle.hpp"
#include "sim/consumer/simulated_kafka.hpp"
#include "sim/consumer/simulated_outlet.hpp"
#include "sim/consumer/simulated_store.hpp"
#include "sim/consumer/step_book.hpp"
#include "sim/consumer/world_port.hpp"
#include "streams/partition_task.hpp"

namespace ratchet::sim {

inline constexpr std::size_t k_session_ends = 6;

/// What was met on the way: so that a campaign can show that it was not a quiet one.
struct census {
  std::array<std::uint64_t, k_fault_kinds> faults{};
  std::array<std::uint64_t, k_fates> fates{};  ///< records, at the end
  std::array<std::uint64_t, k_session_ends> session_ends{};
  std::map<std::string, std::uint64_t> audits;  ///< by kind
  std::uint64_t full{0};                        ///< partitions that stopped, as no more may wait
  std::uint64_t reducer_stops{0};               ///< and as their reducer says so
  std::uint64_t processes{0};
  std::uint64_t steps{0};
  std::uint64_t outputs{0};  ///< that were to be sent
  std::uint64_t table_changes{0};
  std::uint64_t lost_steps{0};       ///< directories that came back from before
  std::uint64_t ends_within{0};      ///< steps that left a record in part
  std::uint64_t forgotten{0};        ///< aggregates
  std::uint64_t old_decided{0};      ///< decisions about old events of unknown aggregates
  std::uint64_t restarts_within{0};  ///< processes that began there
  call_census calls;

  void add(const census&);
};

/// What a history came to.
struct history_result {
  std::string broken;  ///< what did not hold; empty: all did
  census met;
};

/// Plays one history: the real session and pipeline over simulated brokers, disk and clock. First with
/// faults, and everything that must always hold is checked at every write and commit; then the faults end,
/// and it must come to rest at the end of the log, equal to the oracle.
class world final : public world_port, public kafka_judge, public store_judge {
 public:
  /// `trace`: where each call goes as a line; may be null.
  world(const history&, std::vector<std::string>* trace);
  ~world() override;
  world(const world&) = delete;
  world& operator=(const world&) = delete;
  world(world&&) = delete;
  world& operator=(world&&) = delete;

  [[nodiscard]] history_result run();

  void pass_call() override;
  void pass_turn(std::chrono::milliseconds waited) override;
  [[nodiscard]] std::uint32_t draw(std::uint32_t bound) override {
    return static_cast<std::uint32_t>(dice_.below(bound));
  }
  [[nodiscard]] bool traces() const override { return trace_ != nullptr; }
  void trace(std::string line) override;
  void on_commit(const commit_request&) override;
  void on_delivery(std::vector<std::pair<std::size_t, log_entry>>) override;
  void on_assign() override { book_.drop_deliveries(); }
  void on_unread(std::size_t log) override { book_.lies_unread(log, cluster_.logs[log].end); }
  void on_write(const step_batch&, const simulated_disk::contents& before) override;
  void on_look_up(stream_id, const step_plan&) override;

 private:
  class space final : public disk_space_port {
   public:
    [[nodiscard]] result<disk_space> look(const std::filesystem::path&) const override {
      constexpr std::uint64_t k_size = std::uint64_t{1} << 40U;
      return disk_space{low ? 0 : k_size / 2, k_size};
    }
    bool low{false};
  };
  /// What lasts for some turns.
  struct spell {
    std::uint32_t until{0};
    fault_kind kind{};
  };

  // The process and who runs it.
  void live();
  [[nodiscard]] bool follow(next_move, const session_result&);
  [[nodiscard]] std::pair<session_result, bool> one_session();
  [[nodiscard]] bool open_store();
  void choose_running();
  void new_directory();
  void be_down(bool killed);
  void choose_option(const std::string& told);
  void note_lost_steps();

  // Turns.
  void produce();
  void apply_due_faults();
  void apply(const fault&);
  void apply_to_brokers(const fault&);
  void apply_while_down(const fault&);
  void make_topic_anew(const fault&);
  void move_cluster(const fault&);
  void end_transactions();
  void end_spells(bool all);
  void begin_spell(const fault&);
  void heal();
  [[nodiscard]] bool at_rest() const;
  [[nodiscard]] bool has_stopped_partitions() const;
  void look_for_rest();
  void stop_process(const fault& then);
  /// On the owner's thread, between two steps.
  void decide(const fault&, pipeline&);

  const history& history_;
  std::vector<std::string>* trace_;
  workload_random dice_;
  sim_clock clock_;
  cluster cluster_;
  disk_faults disk_faults_;
  space space_;
  std::optional<simulated_disk> disk_;
  running running_;  ///< of this process; the book and the reducers look at it
  step_book book_;
  mail_book mail_{0};
  callers callers_;
  mailbox* inbox_{nullptr};  ///< of this process
  struct backup {
    simulated_disk::contents contents;
    step_book book;
    mail_book mail;
  };
  std::optional<backup> backup_;

  config settings_;
  stream_list streams_;
  task_list tasks_;
  log_ptr log_;
  std::optional<instance_status> status_;
  std::optional<run_meter> meter_;
  std::unique_ptr<simulated_store> store_;
  std::unique_ptr<simulated_source> source_;
  std::unique_ptr<simulated_outlet> outlet_;
  std::unique_ptr<simulated_outlet> sink_;
  std::atomic<bool> stop_{false};
  resume_option typed_{resume_option::none};  ///< behind `--resume`, at the next start
  resume_wish wish_;                          ///< of this process

  std::uint32_t turn_{0};
  std::uint32_t last_turn_;     ///< of the faults
  std::uint32_t healed_at_{0};  ///< 0: not yet
  std::uint32_t stopped_since_{0};
  std::size_t produced_{0};
  std::size_t next_fault_{0};
  std::vector<spell> spells_;
  std::optional<std::pair<std::uint32_t, fault>> anew_later_;  ///< from which turn on
  std::vector<fault> while_down_;
  std::optional<std::uint32_t> dies_in_;  ///< calls
  bool with_power_{false};                ///< it dies of a power cut
  bool finished_{false};
  bool older_at_the_end_{false};  ///< a backup was put back, and no process has seen it: it is not at rest
  std::uint32_t uuids_{0};
  std::uint64_t incarnations_{0};
  history_result result_;
};

/// Plays it, whatever it comes to.
[[nodiscard]] history_result play(const history&, std::vector<std::string>* trace = nullptr);

}  // namespace ratchet::sim
