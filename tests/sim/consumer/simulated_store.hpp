// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ports/store.hpp"
#include "sim/consumer/world_port.hpp"
#include "testing/memory_store.hpp"

namespace ratchet::sim {

/// All that a state directory holds of one stream.
using stream_rows = memory_store::stream_contents;

/// What lies on the disk: it outlives the process. Steps behind `durable` are in the log of RocksDB, and not
/// synced yet; each can be taken back, as a power cut does.
class simulated_disk {
 public:
  simulated_disk(std::string uuid, std::size_t streams);

  struct contents {
    std::string uuid;
    std::string cluster_id;
    std::uint64_t step{0};
    std::vector<stream_rows> streams;
    std::vector<audit_row> audits;
    std::vector<incarnation> incarnations;
    std::uint64_t outbox_epoch{0};
    memory_store::outbox_contents outbox;
  };

  void write(const step_batch&);
  /// All that was written is durable, and can no longer be taken back.
  void sync(std::uint64_t up_to);
  /// The directory as it is, to be put back later.
  [[nodiscard]] contents backup() const { return now_; }
  void restore(contents);
  void draw(const incarnation&);
  void set_cluster_id(std::string_view id) { now_.cluster_id = id; }

  /// The machine stops. What was not synced came to the disk whole, torn or not at all, in any order; the log
  /// is read up to the first step that is not whole. Returns the last step that is there.
  std::uint64_t power_cut(world_port&);
  /// The directory is opened: what the log holds is flushed, and so durable. Behind an fsync that failed,
  /// what it was to sync may be gone.
  void open(world_port&);
  bool sync_failed{false};

  /// Ids below the floor that was synced may go at any time.
  void drop_old_ids();

  [[nodiscard]] const contents& now() const noexcept { return now_; }
  [[nodiscard]] std::uint64_t durable() const noexcept { return durable_; }
  bool rotten{false};  ///< a stored byte has changed; its checksum does not fit
  /// What a power cut or a failed fsync took back; the world looks at it, and resets it.
  bool lost_steps{false};

 private:
  /// What a step changed, as it was before.
  struct undo {
    std::uint64_t step;
    struct of_stream {
      std::size_t stream;
      stream_state state;
      std::vector<std::pair<std::string, std::optional<aggregate_row>>> rows;
      std::vector<std::pair<std::pair<event_id, std::string>, std::optional<timestamp>>> ids;
      std::vector<std::pair<std::pair<event_id, std::string>, std::optional<kept_answer>>> answers;
      /// All of them, where the step changes any.
      std::optional<std::pair<std::map<kept_rejected::position, rejected_row>, kept_rejected>> rejected;
      std::vector<std::pair<std::string, std::optional<backlog>>> backlogs;
      std::vector<std::pair<std::pair<std::string, sequence>, std::optional<waiting_event>>> waiting;
      std::vector<std::pair<std::pair<std::string, std::string>, std::optional<std::string>>> tables;
    };
    std::vector<of_stream> streams;
    std::size_t audits;
    std::vector<incarnation> incarnations;
    std::uint64_t outbox_epoch;
    std::string cluster_id;
    memory_store::outbox_contents outbox;
  };
  void note_before(const step_part&, undo&) const;
  void take_back();

  contents now_;
  std::uint64_t durable_{0};
  std::vector<std::optional<timestamp>> durable_floors_;
  std::deque<undo> unsynced_;
};

/// Judges what is written; the world.
class store_judge {
 public:
  virtual ~store_judge() = default;
  /// Somebody plans a step; it may come to nothing.
  virtual void on_look_up(stream_id, const step_plan&) = 0;
  virtual void on_write(const step_batch&, const simulated_disk::contents& before) = 0;
};

/// What the world does to a store's writes and syncs.
struct disk_faults {
  bool full{false};
  std::uint32_t failing_writes{0};  ///< so many of the next ones fail, and are there or not
  std::uint32_t failing_syncs{0};
  std::uint32_t slow_syncs{0};  ///< a sync takes so many turns
};

/// An open store in front of the disk, with RocksDB's ways: a write is at once visible, and lasts when a sync
/// that began behind it has ended; after a failure it takes nothing more.
class simulated_store final : public store {
 public:
  simulated_store(simulated_disk&, disk_faults&, world_port&, store_judge&, std::size_t queue_events);

  /// One turn: a sync in the background comes to its end.
  void pass_turn();

  [[nodiscard]] stream_id id_of(std::string_view stream) const override;
  [[nodiscard]] result<stream_state> load(stream_slot) const override;
  [[nodiscard]] result<void> lookup(stream_slot, const step_plan&, step_rows& out) override;
  [[nodiscard]] result<due_aggregates> due(stream_slot, timestamp now, std::optional<timestamp> gaps,
                                           std::size_t limit) override;
  [[nodiscard]] result<std::vector<std::string>> due_behind(stream_slot, timestamp until,
                                                            std::size_t limit) override;
  [[nodiscard]] result<forgotten_aggregates> find_forgotten(stream_slot, const retention_state&,
                                                            const std::optional<std::string>& after,
                                                            std::size_t rows) override;
  [[nodiscard]] outbox_lanes outboxes() const override { return disk_.now().outbox.lanes; }
  [[nodiscard]] std::uint64_t outbox_epoch() const override { return disk_.now().outbox_epoch; }
  [[nodiscard]] result<std::vector<output_row>> outputs(std::string_view lane, std::uint64_t from,
                                                        std::uint64_t until, std::size_t limit,
                                                        std::uint64_t bytes) const override;
  [[nodiscard]] std::optional<timestamp> oldest_rejected(stream_id) const override;
  [[nodiscard]] result<void> write(const step_batch&) override;
  [[nodiscard]] std::uint64_t last_step() const noexcept override { return disk_.now().step; }
  [[nodiscard]] std::uint64_t durable_step() const noexcept override { return disk_.durable(); }
  void request_sync() override;
  [[nodiscard]] result<void> sync() override;
  [[nodiscard]] std::string failure() const override { return failed_ ? "input/output error" : ""; }
  [[nodiscard]] std::string uuid() const override { return disk_.now().uuid; }
  [[nodiscard]] std::string cluster_id() const override { return disk_.now().cluster_id; }
  [[nodiscard]] result<void> set_cluster_id(std::string_view) override;
  [[nodiscard]] result<incarnation> draw_incarnation(std::uint64_t past, std::uint64_t random) override;
  [[nodiscard]] std::vector<incarnation> incarnations() const override { return disk_.now().incarnations; }
  [[nodiscard]] std::optional<copy_mark> copy() const override { return std::nullopt; }
  [[nodiscard]] result<std::uint64_t> checkpoint(const std::filesystem::path&) override;
  [[nodiscard]] result<std::unique_ptr<store_view>> view() const override;

 private:
  [[nodiscard]] result<void> sync_now(std::uint64_t up_to);

  simulated_disk& disk_;
  disk_faults& faults_;
  world_port& world_;
  store_judge& judge_;
  std::size_t queue_events_;
  bool failed_{false};
  bool told_{false};  ///< whoever writes was told that it failed
  struct running_sync {
    std::uint64_t up_to;
    std::uint32_t in_turns;
  };
  std::optional<running_sync> running_;
  bool another_{false};  ///< one more was asked for while one runs
};

}  // namespace ratchet::sim
