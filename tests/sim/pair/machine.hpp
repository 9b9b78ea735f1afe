// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "consumer/lead_check.hpp"
#include "consumer/lead_handover.hpp"
#include "consumer/member_name.hpp"
#include "consumer/namesakes.hpp"
#include "consumer/replicated_store.hpp"
#include "consumer/standby.hpp"
#include "pipeline/mailbox.hpp"
#include "sim/pair/cluster.hpp"
#include "sim/pair/group_source.hpp"
#include "sim/pair/judge.hpp"
#include "sim/pair/player.hpp"
#include "sim/pair/process_ports.hpp"
#include "sim/pair/setting.hpp"
#include "streams/partition_task.hpp"
#include "support/fake_disk_space.hpp"
#include "support/temporary_directory.hpp"

namespace ratchet::pair_sim {

/// What processes did, so that a campaign can show that it was not a quiet one.
struct doings {
  std::uint64_t processes{0};
  std::uint64_t leads{0};
  std::uint64_t clients{0};
  std::uint64_t killed{0};
  std::uint64_t stopped{0};
  std::uint64_t handed_over{0};
  std::uint64_t compared{0};  ///< digests that were the owner's
  void add(const doings&);
};

/// One machine with a directory, and the processes that run on it one after the other: the real store,
/// standby and session, joined as the engine joins them.
class machine final : public process_calls {
 public:
  /// `bases`: as often as there can be.
  machine(cluster&, setting&, judge&, std::string name, bool bases);
  /// No process may be up.
  ~machine() override;
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;

  // Its process.
  void start();
  [[nodiscard]] bool is_up() const { return player_ != nullptr; }
  /// Lets it do something. Throws what its judge found.
  void go_on();
  /// SIGTERM.
  void stop() { stop_ = true; }
  /// Somebody asks it to give the state away.
  void hand_over() { asks_ = true; }
  /// Something else fills its disk, or makes room.
  void fill_disk(bool full) { space_.free = full ? 0 : space_.size; }
  [[nodiscard]] bool has_full_disk() const { return space_.free == 0; }
  /// Its config has no place for what the state holds, or has one again.
  void misfit(bool does) { is_misfit_ = does; }
  [[nodiscard]] bool is_misfit() const { return is_misfit_; }
  /// SIGKILL, in so many calls from now.
  void kill_in(std::uint32_t calls) { dies_in_ = calls; }
  /// SIGSTOP in so many calls from now, and SIGCONT so long after it.
  void freeze_in(std::uint32_t calls, milliseconds how_long) {
    freezes_in_ = calls;
    freezes_for_ = how_long;
  }
  [[nodiscard]] bool is_frozen() const { return in_.now < frozen_until_; }
  void thaw() { frozen_until_ = {}; }

  // Its directory, while no process is up.
  void lose_directory();
  void back_up();
  void put_back();
  /// The power was cut: what was written last is not there.
  void lose_tail();

  [[nodiscard]] bool leads() const { return store_ != nullptr && store_->is_leading(); }
  [[nodiscard]] std::uint64_t step() const { return store_ == nullptr ? 0 : store_->durable_step(); }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const doings& did() const { return did_; }
  [[nodiscard]] process_log* log() { return log_; }
  machine_clock& clock() { return clock_; }

  void call() override;
  void wait() override;
  [[nodiscard]] bool is_dead() const override { return is_dead_; }

 private:
  void live();
  void open();
  void run();
  [[nodiscard]] session_result follow_and_lead(standby&, source&);
  [[nodiscard]] session_result session(source&);
  void look_at_handover(source&);
  void close(bool is_killed);
  void pause();
  void note_synced();
  [[nodiscard]] std::filesystem::path newest_log() const;

  cluster& of_;
  setting& in_;
  judge& judge_;
  std::string name_;
  support::temporary_directory files_;
  bool has_backup_{false};
  std::optional<std::uint64_t> synced_;  ///< the step that the store said last
  std::uintmax_t safe_bytes_{0};         ///< of its write-ahead log
  machine_clock clock_;
  config settings_;
  stream_list streams_;
  task_list tasks_;
  log_ptr lines_;
  testing::fake_disk_space space_;
  bool is_misfit_{false};
  doings did_;

  // Of the process.
  std::optional<instance_status> status_;
  std::optional<run_meter> meter_;
  std::optional<mailbox> inbox_;
  std::optional<member_names> names_;
  std::optional<handover_desk> desk_;
  std::optional<lead_handover> handover_;
  std::optional<lead_check> check_;
  std::optional<namesakes> namesakes_;
  bool asks_{false};
  std::unique_ptr<judged_replica> replica_;
  std::unique_ptr<replicated_store> store_;
  store* rocks_{nullptr};
  process_log* log_{nullptr};
  group_source* source_{nullptr};
  std::atomic<bool> stop_{false};
  bool is_dead_{false};
  std::optional<std::uint32_t> dies_in_;
  std::optional<std::uint32_t> freezes_in_;
  milliseconds freezes_for_{0};
  time_point frozen_until_;
  std::string broken_;
  std::unique_ptr<player> player_;
};

}  // namespace ratchet::pair_sim
