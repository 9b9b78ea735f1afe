// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "consumer/base_keeper.hpp"
#include "consumer/digest_keeper.hpp"
#include "consumer/slot_replica.hpp"
#include "consumer/slot_reporter.hpp"
#include "consumer/turn_jobs.hpp"
#include "ports/clock.hpp"
#include "ports/slot_log.hpp"
#include "ports/store.hpp"

namespace ratchet {

/// The store of an instance whose steps go through a replicated log: durable is what the log has confirmed.
/// So all that waits until a step is durable waits for the log, and nothing else of a session knows of it.
///
/// It takes steps from lead() until the instance leads no more, or in another attempt. From then on nothing
/// is written, and no further step becomes durable, until end_lead(): numbers of steps that were dropped are
/// given anew, and whoever still waits for one must not hear that it is there. Thread-safety: as store.
class replicated_store final : public store {
 public:
  struct dependencies {
    std::unique_ptr<store> under;
    replica& of;  ///< the same
    std::unique_ptr<slot_log> log;
    std::unique_ptr<slot_log> bases;
    const clock_port& clock;
    std::function<std::uint64_t()> draw;  ///< at random
    base_config rules;
    digest_config digests;
    std::string topic;  ///< of the log, for people
    log_ptr log_lines;
    std::launch bases_on{std::launch::async};  ///< as base_keeper has it
    instance_status* status{nullptr};          ///< none: nothing is shown
  };
  replicated_store(dependencies, const replicate::owner_options&);

  /// Has the log take its turns, shows how far it is, and does what others want done. Errors: as
  /// slot_replica::turn().
  [[nodiscard]] result<void> turn();
  /// What is to be done in a turn, by whoever has the lead. Any thread.
  [[nodiscard]] turn_jobs& jobs() noexcept { return jobs_; }
  [[nodiscard]] slot_replica& slot() noexcept { return slot_; }
  [[nodiscard]] slot_log& log() noexcept { return *log_; }
  /// It must not begin the log yet: its first base is written.
  [[nodiscard]] bool must_wait() const { return keeper_.must_wait(); }
  /// The store of this directory.
  [[nodiscard]] const store& under() const noexcept { return *under_; }
  [[nodiscard]] const digest_findings& compared() const { return digests_.found(); }

  /// From now on this instance decides: all confirmed steps are here, and what is remembered is read anew.
  /// Must lead. Errors: state_damaged; of the database.
  [[nodiscard]] result<void> lead();
  /// It decides nothing any more, whether it leads or not; what is pending is dropped. Nobody may wait for a
  /// step.
  void end_lead();
  /// It was told to lead, and does so since without a break.
  [[nodiscard]] bool is_leading() const { return attempt_ && slot_.leads() && slot_.attempt() == *attempt_; }
  /// It failed because of the log alone, and not of what is under it: behind end_lead() the instance goes on
  /// from what is confirmed.
  [[nodiscard]] bool has_lost_steps() const { return !why_lost_.empty() && under_->failure().empty(); }

  [[nodiscard]] stream_id id_of(std::string_view stream) const override { return under_->id_of(stream); }
  [[nodiscard]] result<stream_state> load(stream_slot in) const override { return under_->load(in); }
  [[nodiscard]] result<void> lookup(stream_slot in, const step_plan& plan, step_rows& out) override {
    return under_->lookup(in, plan, out);
  }
  [[nodiscard]] result<due_aggregates> due(stream_slot in, timestamp now, std::optional<timestamp> gaps,
                                           std::size_t limit) override {
    return under_->due(in, now, gaps, limit);
  }
  [[nodiscard]] result<std::vector<std::string>> due_behind(stream_slot in, timestamp until,
                                                            std::size_t limit) override {
    return under_->due_behind(in, until, limit);
  }
  [[nodiscard]] result<forgotten_aggregates> find_forgotten(stream_slot in, const retention_state& of,
                                                            const std::optional<std::string>& after,
                                                            std::size_t rows) override {
    return under_->find_forgotten(in, of, after, rows);
  }
  [[nodiscard]] outbox_lanes outboxes() const override { return under_->outboxes(); }
  [[nodiscard]] std::uint64_t outbox_epoch() const override { return under_->outbox_epoch(); }
  [[nodiscard]] result<std::vector<output_row>> outputs(std::string_view lane, std::uint64_t from,
                                                        std::uint64_t until, std::size_t limit,
                                                        std::uint64_t bytes) const override {
    return under_->outputs(lane, from, until, limit, bytes);
  }
  [[nodiscard]] std::optional<timestamp> oldest_rejected(stream_id stream) const override {
    return under_->oldest_rejected(stream);
  }

  [[nodiscard]] result<void> write(const step_batch&) override;
  [[nodiscard]] std::uint64_t last_step() const noexcept override { return under_->last_step(); }
  [[nodiscard]] std::uint64_t durable_step() const noexcept override {
    return confirmed_.load(std::memory_order_acquire);
  }
  /// The log asks for nothing: records are sent at once.
  void request_sync() override {}
  /// Waits until the log has confirmed all steps. Errors: write_indeterminate, also where it does not within
  /// some seconds: then they are dropped.
  [[nodiscard]] result<void> sync() override;
  [[nodiscard]] std::string failure() const override;

  /// Of the history: all of its replicas are one store to the group, whichever commits.
  [[nodiscard]] std::string uuid() const override;
  [[nodiscard]] std::string cluster_id() const override { return under_->cluster_id(); }
  [[nodiscard]] result<void> set_cluster_id(std::string_view id) override {
    return under_->set_cluster_id(id);
  }
  /// The log's epochs tell the instances apart.
  [[nodiscard]] result<incarnation> draw_incarnation(std::uint64_t, std::uint64_t) override {
    return incarnation{1, 0};
  }
  /// Those that the directory drew before it had a log are its own, too.
  [[nodiscard]] std::vector<incarnation> incarnations() const override {
    std::vector<incarnation> all = under_->incarnations();
    all.push_back(incarnation{1, 0});
    return all;
  }
  [[nodiscard]] std::optional<copy_mark> copy() const override { return std::nullopt; }

  [[nodiscard]] result<std::uint64_t> checkpoint(const std::filesystem::path& directory) override {
    if (rows_.is_restoring()) return make_error_code(errc::state_restoring);
    return under_->checkpoint(directory);
  }
  /// Errors beside those of store: state_restoring.
  [[nodiscard]] result<std::unique_ptr<store_view>> view() const override {
    RATCHET_TRY(auto seen, under_->view());
    // Behind it: what is seen from before a restore is whole.
    if (rows_.is_restoring()) return make_error_code(errc::state_restoring);
    return result<std::unique_ptr<store_view>>{std::move(seen)};
  }
  [[nodiscard]] store_statistics statistics() const override { return under_->statistics(); }

 private:
  [[nodiscard]] replicate::owner_options with_notes(replicate::owner_options);
  [[nodiscard]] result<void> advance();
  void show();
  [[nodiscard]] std::error_code lost(const char* why);

  std::unique_ptr<store> under_;
  replica& rows_;  ///< the same
  std::unique_ptr<slot_log> log_;
  std::unique_ptr<slot_log> bases_;
  const clock_port& clock_;
  bool is_alone_;      ///< everything is done on the owner's thread
  slot_replica slot_;  ///< tells digests_
  digest_keeper digests_;
  base_keeper keeper_;
  slot_reporter reporter_;
  turn_jobs jobs_;
  std::optional<std::uint64_t> attempt_;  ///< in which it decides
  std::string why_lost_;
  std::chrono::steady_clock::time_point synced_at_;  ///< was asked for
  std::atomic<std::uint64_t> confirmed_;
};

}  // namespace ratchet
