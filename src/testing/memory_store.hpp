// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ports/store.hpp"

namespace ratchet {

/// A store in memory, for tests: two copies of plain maps, one as written and one as last synced, so that a
/// crash can be played. It forgets no id: the core judges by time alone what is still inside the window.
/// Thread-safety: as every store.
class memory_store final : public store {
 public:
  explicit memory_store(std::vector<std::string> streams,
                        std::string uuid = "00000000-0000-4000-8000-000000000000");

  /// What a power cut does: the state is that of the last sync again.
  void lose_unsynced();

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
  [[nodiscard]] outbox_lanes outboxes() const override;
  [[nodiscard]] std::uint64_t outbox_epoch() const override;
  [[nodiscard]] result<std::vector<output_row>> outputs(std::string_view lane, std::uint64_t from,
                                                        std::uint64_t until, std::size_t limit,
                                                        std::uint64_t bytes) const override;
  [[nodiscard]] std::optional<timestamp> oldest_rejected(stream_id) const override;
  /// Errors: internal, where the step is not the next one.
  [[nodiscard]] result<void> write(const step_batch&) override;
  [[nodiscard]] std::uint64_t last_step() const noexcept override;
  [[nodiscard]] std::uint64_t durable_step() const noexcept override;
  /// Syncs at once.
  void request_sync() override;
  [[nodiscard]] result<void> sync() override;
  [[nodiscard]] std::string uuid() const override { return uuid_; }
  [[nodiscard]] std::string cluster_id() const override;
  [[nodiscard]] result<void> set_cluster_id(std::string_view) override;
  [[nodiscard]] result<incarnation> draw_incarnation(std::uint64_t past_counter,
                                                     std::uint64_t random) override;
  [[nodiscard]] std::vector<incarnation> incarnations() const override;
  [[nodiscard]] std::optional<copy_mark> copy() const override;
  /// Errors: operation_not_supported: it has no files.
  [[nodiscard]] result<std::uint64_t> checkpoint(const std::filesystem::path&) override;
  [[nodiscard]] result<std::unique_ptr<store_view>> view() const override;

  /// What taking a checkpoint and putting it in this store's place does.
  void become_copy(const copy_mark&);

  /// From now on so many waiting events are looked up for a step at most; for tests of what is cut off there.
  void limit_queues(std::size_t events) noexcept { queue_events_ = events; }

  /// All that is kept of one stream.
  struct stream_contents {
    stream_state state;
    std::map<std::string, aggregate_row, std::less<>> rows;
    std::map<std::pair<event_id, std::string>, timestamp> ids;        ///< and when they were filed
    std::map<std::pair<event_id, std::string>, kept_answer> answers;  ///< of those that have one
    std::map<kept_rejected::position, rejected_row> rejected;
    kept_rejected kept;  ///< the keys of `rejected`, in their order
    std::map<std::string, backlog, std::less<>> backlogs;
    std::map<std::pair<std::string, sequence>, waiting_event> waiting;
    std::map<std::pair<std::string, std::string>, std::string> tables;  ///< by table and stored key
    /// As store::lookup(). `queue_events`: see k_queue_events.
    void look_up(const step_plan&, step_rows& out, std::size_t queue_events = k_queue_events) const;
    /// As store::due().
    [[nodiscard]] due_aggregates due(timestamp now, std::optional<timestamp> gaps, std::size_t limit) const;
    /// As store::due_behind().
    [[nodiscard]] std::vector<std::string> due_behind(timestamp until, std::size_t limit) const;
    /// As store::find_forgotten().
    [[nodiscard]] forgotten_aggregates find_forgotten(const retention_state&,
                                                      const std::optional<std::string>& after,
                                                      std::size_t limit) const;
    /// Of a row: nothing of its aggregate is to be seen any more.
    [[nodiscard]] bool is_gone(const std::string& aggregate, const aggregate_row&) const;
    /// As store_view::scan_table().
    void scan_table(std::string_view table, std::string_view prefix, std::string_view from,
                    const std::function<bool(std::string_view key, std::string_view value)>& visit) const;
    /// Enters what a step changes of this stream.
    void enter(const step_part&, std::uint64_t step);
    friend bool operator==(const stream_contents&, const stream_contents&) = default;
  };
  /// All that is kept of the outbox.
  struct outbox_contents {
    outbox_lanes lanes;
    std::map<std::string, std::map<std::uint64_t, output_row>, std::less<>> rows;  ///< by lane and position
    void enter(const outbox_change&);
    /// As store::outputs().
    [[nodiscard]] result<std::vector<output_row>> read(std::string_view lane, std::uint64_t from,
                                                       std::uint64_t until, std::size_t limit,
                                                       std::uint64_t bytes) const;
  };
  struct contents {
    std::uint64_t step{0};
    std::vector<stream_contents> streams;  ///< by stream_id
    std::vector<audit_row> audits;
    std::vector<incarnation> incarnations;
    std::string cluster_id;
    std::uint64_t outbox_epoch{0};
    std::optional<copy_mark> copy;
    outbox_contents outbox;
  };

 private:
  std::string uuid_;
  std::vector<std::string> names_;
  std::size_t queue_events_{k_queue_events};
  mutable std::mutex mutex_;
  contents written_;
  contents durable_;
};

}  // namespace ratchet
