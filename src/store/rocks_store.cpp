// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/rocks_store.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <utility>

#include "core/assert.hpp"
#include "store/engine/catalog.hpp"
#include "store/engine/column_families.hpp"
#include "store/engine/database_statistics.hpp"
#include "store/engine/pending_rows.hpp"
#include "store/engine/rocksdb_error.hpp"
#include "store/layout/slot_row.hpp"
#include "store/open/checkpoint.hpp"
#include "store/open/left_behind.hpp"
#include "store/open/rocks_copy.hpp"
#include "store/open/rocks_view.hpp"
#include "store/replica.hpp"
#include "store/rocks_open.hpp"
#include "store/rocks_parts.hpp"
#include "store/step/confirmed_rows.hpp"
#include "store/step/expired_rows.hpp"
#include "store/step/rejected_index.hpp"
#include "store/step/restored_rows.hpp"
#include "store/step/row_lookup.hpp"
#include "store/step/step_writer.hpp"
#include "store/step/store_changes.hpp"
#include "store/step/sync_thread.hpp"
#include "store/step/write_thread.hpp"

namespace ratchet {

namespace {

std::error_code indeterminate() {
  return make_error_code(errc::write_indeterminate);
}

class rocks_store final : public store, public replica {
 public:
  rocks_store(store_parts of, const store_options& options)
      : lock_{std::move(of.lock)},
        directory_{std::move(of.directory)},
        db_{std::move(of.db)},
        known_{of.start.known},
        rejected_{std::move(of.rejected)},
        memory_{std::move(of.memory)},
        writer_{*db_},
        is_replica_{options.replicated},
        remembered_bytes_{options.remembered_bytes},
        configured_{options},
        local_step_{of.step},
        last_step_{is_replica_ ? position_step() : of.step},
        confirmed_step_{position_step()},
        floors_{std::move(of.floors)},
        sync_{*db_, std::move(of.synced), floors_, of.step, durable()},
        writes_{*db_, sync_, options.writes},
        rows_{*db_, is_replica_ ? &pending_ : nullptr},
        lookup_{rows_, writes_, memory_},
        forgotten_{*db_},
        start_{std::move(of.start)},
        is_unwritten_{!options.adopts_at_once} {
    if (is_unwritten_) shown_until_written_ = std::make_shared<const catalog>(known_);
  }

  [[nodiscard]] stream_id id_of(std::string_view stream) const override {
    const auto at = known_.streams.find(stream);
    return at == known_.streams.end() ? stream_id{0} : at->second.id;
  }

  [[nodiscard]] result<stream_state> load(stream_slot in) const override {
    RATCHET_TRY(wait_for_write());
    if (is_unwritten_ && starts_over(in.stream)) return stream_state{};
    return read_stream_state(rows_, {}, in.stream);
  }

  [[nodiscard]] result<void> lookup(stream_slot in, const step_plan& plan, step_rows& out) override {
    if (failed()) return indeterminate();
    if (!remembers(in)) return make_error_code(errc::internal);
    return lookup_.run(in, plan, out);
  }

  [[nodiscard]] result<due_aggregates> due(stream_slot in, timestamp now, std::optional<timestamp> gaps,
                                           std::size_t limit) override {
    if (!remembers(in)) return make_error_code(errc::internal);
    RATCHET_TRY(wait_for_write());
    return find_due(rows_, in, memory_.at(in).due, now, gaps, limit);
  }

  [[nodiscard]] result<std::vector<std::string>> due_behind(stream_slot in, timestamp until,
                                                            std::size_t limit) override {
    if (!remembers(in)) return make_error_code(errc::internal);
    RATCHET_TRY(wait_for_write());
    return find_due_behind(rows_, in, until, limit);
  }

  [[nodiscard]] result<forgotten_aggregates> find_forgotten(stream_slot in, const retention_state& of,
                                                            const std::optional<std::string>& after,
                                                            std::size_t rows) override {
    if (!remembers(in)) return make_error_code(errc::internal);
    RATCHET_TRY(wait_for_write());
    return forgotten_.next(in, of, after, rows);
  }

  [[nodiscard]] outbox_lanes outboxes() const override { return known_.outbox; }
  [[nodiscard]] std::uint64_t outbox_epoch() const override { return known_.outbox_epoch; }

  [[nodiscard]] result<std::vector<output_row>> outputs(std::string_view lane, std::uint64_t from,
                                                        std::uint64_t until, std::size_t limit,
                                                        std::uint64_t bytes) const override {
    if (is_replica_) {
      RATCHET_TRY(wait_for_write());  // a step may be confirmed before it is written here
    }
    return read_outputs(rows_, {}, lane, from, until, limit, bytes);
  }

  [[nodiscard]] std::optional<timestamp> oldest_rejected(stream_id stream) const override {
    return rejected_.oldest(stream);
  }

  [[nodiscard]] result<void> write(const step_batch& step) override {
    if (failed()) return indeterminate();
    if (step.step != last_step() + 1) return make_error_code(errc::internal);
    for (const step_part& part : step.parts) {
      if (!remembers(part.place())) return make_error_code(errc::internal);
    }
    outbox_lanes outbox_after = known_.outbox;
    step.outbox.apply_to(outbox_after);
    for (const output_row& row : step.outbox.puts)
      RATCHET_ASSERT(row.position >= known_.outbox.of(row.lane()).next &&
                     row.position < outbox_after.of(row.lane()).next);
    if (is_replica_) return decide(step, std::move(outbox_after));
    step_writer::put_first start;
    if (is_unwritten_) start = [this](rocksdb::WriteBatch& to) { return put_start(to); };
    const auto batch = writer_.build(step, lookup_, memory_, rejected_, outbox_after, start);
    lookup_.forget();
    forgotten_.note_step();
    if (!batch) {
      // What is remembered in memory has moved on already, and the batch will never be there.
      writes_.fail(batch.error().message());
      return batch.error();
    }
    row_sink rows{*db_, *batch.assume_value()};
    std::optional<catalog> known_then = put_change(rows, step.change);
    for (const step_part& part : step.parts) {
      if (part.change && part.change->after.floor)
        sync_.note_floor(step.step, part.stream, *part.change->after.floor);
    }
    RATCHET_TRY(writes_.start(*batch.assume_value(), step.step));
    if (std::exchange(is_unwritten_, false)) note_started();
    if (known_then) known_ = std::move(*known_then);
    known_.outbox = std::move(outbox_after);
    last_step_.store(step.step, std::memory_order_release);
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

  [[nodiscard]] std::uint64_t last_step() const noexcept override {
    return last_step_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::uint64_t durable_step() const noexcept override {
    return is_replica_ ? confirmed_step_.load(std::memory_order_acquire) : sync_.durable();
  }
  void request_sync() override { writes_.request_sync(); }
  [[nodiscard]] result<void> sync() override {
    RATCHET_TRY(wait_for_write());
    return sync_.sync_and_wait();
  }

  [[nodiscard]] std::string failure() const override {
    std::string why = writes_.failure();
    return why.empty() ? sync_.failure() : why;
  }

  [[nodiscard]] std::string uuid() const override { return known_.identity->uuid; }
  [[nodiscard]] std::string cluster_id() const override { return known_.identity->cluster_id; }

  [[nodiscard]] result<void> set_cluster_id(std::string_view id) override {
    if (failed()) return indeterminate();
    layout::identity next = *known_.identity;
    next.cluster_id = id;
    if (is_unwritten_) {
      start_.changed = true;
      known_.identity = std::move(next);
      return BOOST_OUTCOME_V2_NAMESPACE::success();
    }
    rocksdb::WriteBatch batch;
    batch.Put(db_->handle(family::standard), layout::identity_key(), layout::encode_identity(next))
        .PermitUncheckedError();
    RATCHET_TRY(commit_and_sync(batch));
    known_.identity = std::move(next);
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

  [[nodiscard]] result<incarnation> draw_incarnation(std::uint64_t past_counter,
                                                     std::uint64_t random) override {
    if (failed()) return indeterminate();
    std::uint64_t highest = std::max(past_counter, known_.outbox_epoch);
    for (const incarnation& i : known_.incarnations) highest = std::max(highest, i.counter);
    const incarnation next{highest + 1, random};
    if (is_unwritten_) {
      drawn_.push_back(next);
      known_.incarnations.push_back(next);
      return next;
    }
    rocksdb::WriteBatch batch;
    batch.Put(db_->handle(family::standard), layout::incarnation_key(next), layout::encode_presence())
        .PermitUncheckedError();
    RATCHET_TRY(commit_and_sync(batch));
    known_.incarnations.push_back(next);
    return next;
  }
  [[nodiscard]] std::vector<incarnation> incarnations() const override { return known_.incarnations; }

  [[nodiscard]] std::optional<copy_mark> copy() const override { return known_.copy; }

  [[nodiscard]] result<std::uint64_t> checkpoint(const std::filesystem::path& directory) override {
    RATCHET_TRY(wait_for_write());
    // There is nothing in it yet, and perhaps never will be.
    if (is_unwritten_ && last_step() == 0) return make_error_code(errc::state_missing);
    RATCHET_TRY(link_checkpoint(*db_, directory));
    return is_replica_ ? local_step_ : last_step();
  }

  [[nodiscard]] result<std::unique_ptr<store_view>> view() const override {
    RATCHET_TRY(wait_for_write());
    constexpr bool k_with_snapshot = true;
    RATCHET_TRY(auto view, rocks_view::open(*db_, k_with_snapshot, shown_until_written_));
    return std::unique_ptr<store_view>{std::move(view)};
  }

  [[nodiscard]] bool has_unwritten_start() const override { return is_unwritten_ && start_.changed; }
  [[nodiscard]] std::vector<added_table> added_tables() const override { return start_.added_tables; }
  [[nodiscard]] std::vector<restarted_stream> restarted_streams() const override { return start_.restarted; }

  [[nodiscard]] store_statistics statistics() const override {
    store_statistics all = statistics_of(*db_);
    all.sync_seconds = sync_.durations();
    return all;
  }

  [[nodiscard]] std::optional<replicate::log_position> position() const override { return known_.position; }
  [[nodiscard]] std::optional<slot_owner> owner() const override { return owner_; }
  void note_owner(const slot_owner& o) override {
    is_owner_new_ = is_owner_new_ || owner_ != o;
    owner_ = o;
  }
  [[nodiscard]] pending_rows::step_bytes rows_of(std::uint64_t step) const override {
    return pending_.rows_of(step);
  }
  [[nodiscard]] pending_use pending() const override {
    return {pending_.steps(), pending_.row_bytes(), pending_.bytes()};
  }

  [[nodiscard]] result<std::optional<apply_refusal>> apply(std::span<const confirmed_rows> steps) override {
    std::optional<apply_refusal> refused;
    RATCHET_TRY(write_local([&](row_sink& to, std::vector<applied_floor>& floors) {
      refused = other_decision_of(steps, pending_);
      if (!refused) refused = put_confirmed(to, k_instance_slot, known_.position, steps, floors);
      if (known_.copy) to.erase(family::standard, layout::copy_mark_key());  // it goes its own way now
      if (is_owner_new_) to.put(family::standard, layout::owner_key(), layout::encode_owner(*owner_));
      return !refused;
    }));
    if (refused) return refused;
    is_owner_new_ = false;
    known_.copy.reset();
    known_.position = steps.back().position;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (pending_.empty()) {
        is_stale_ = true;
      } else {
        pending_.release_oldest();
      }
    }
    is_restoring_ = false;
    note_position();
    return refused;
  }

  [[nodiscard]] std::optional<problem> refusal_of_config() const {
    if (!wait_for_write() || is_restoring_) return std::nullopt;
    auto refused = find_left_behind(configured_, *db_, known_);
    if (refused && refused->code != make_error_code(errc::state_foreign)) return std::nullopt;
    return refused;
  }

  [[nodiscard]] result<std::unique_ptr<replica_copy>> copy(const row_place& from) override {
    RATCHET_TRY(wait_for_write());
    return copy_of(*db_, floors_, from);
  }

  [[nodiscard]] bool is_restoring() const override { return is_restoring_; }

  [[nodiscard]] result<void> begin_restore() override {
    RATCHET_ASSERT(pending_.empty());
    const bool has_rows = known_.position || is_restoring_;
    is_stale_ = true;
    is_restoring_ = true;
    RATCHET_TRY(write_local([&](row_sink& to, auto&) {
      put_begin_of_restore(to, k_instance_slot, has_rows);
      return true;
    }));
    known_.position.reset();
    note_position();
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

  [[nodiscard]] result<std::optional<apply_fault>> restore(std::string_view rows) override {
    RATCHET_ASSERT(is_restoring_);
    std::optional<apply_fault> fault;
    RATCHET_TRY(write_local([&](row_sink& to, std::vector<applied_floor>& floors) {
      fault = put_rows(to, rows, floors);
      return !fault;
    }));
    return fault;
  }

  [[nodiscard]] result<void> end_restore(const replicate::log_position& at) override {
    RATCHET_ASSERT(is_restoring_);
    RATCHET_TRY(write_local([&](row_sink& to, auto&) {
      put_end_of_restore(to, k_instance_slot, at);
      return true;
    }));
    RATCHET_TRY(wait_for_write());  // views may be opened from now on
    known_.position = at;
    is_restoring_ = false;
    note_position();
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

  [[nodiscard]] result<void> drop_pending() override {
    pending_.drop();
    last_step_.store(position_step(), std::memory_order_release);
    return reload();
  }

  [[nodiscard]] result<void> reload() override {
    is_stale_ = true;
    RATCHET_TRY(wait_for_write());
    RATCHET_TRY(known_, read_catalog(*db_, {}));
    std::vector<stream_id> streams;
    for (const auto& [name, record] : known_.streams) streams.push_back(record.id);
    rejected_ = {};
    RATCHET_TRY(rejected_.load(*db_, streams));
    RATCHET_TRY(memory_, make_memory(*db_, slots_of(known_), remembered_bytes_));
    lookup_.forget();
    forgotten_ = expired_rows{*db_};
    is_stale_ = false;
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

  [[nodiscard]] bool is_replica() const noexcept { return is_replica_; }

  /// With every step in it.
  [[nodiscard]] database& under() const noexcept {
    (void)writes_.wait_for_write();
    return *db_;
  }

 private:
  [[nodiscard]] bool failed() const noexcept { return writes_.failed() || sync_.failed(); }

  /// From here on the database has all steps, so that it may be read.
  [[nodiscard]] result<void> wait_for_write() const {
    RATCHET_TRY(writes_.wait_for_write());
    if (sync_.failed()) return indeterminate();
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

  /// What is remembered of this slot is as of the last step.
  [[nodiscard]] bool remembers(stream_slot in) const { return !is_stale_ && memory_.contains(in); }
  [[nodiscard]] std::uint64_t position_step() const { return known_.position ? known_.position->step : 0; }

  /// Tells how far the database is in the log.
  void note_position() {
    if (pending_.empty()) last_step_.store(position_step(), std::memory_order_release);
    confirmed_step_.store(position_step(), std::memory_order_release);
    durable().moved();
  }

  /// Writes what `put` puts as the next step of a replica's own log; nothing where that returns false.
  template <class Put>
  [[nodiscard]] result<void> write_local(Put put) {
    if (failed()) return indeterminate();
    const std::uint64_t local_step = local_step_ + 1;
    rocksdb::WriteBatch& batch = applied_[local_step % 2];  // the other one may be under way
    batch.Clear();
    put_step(batch, *db_, local_step);
    row_sink to{*db_, batch};
    std::vector<applied_floor> floors;
    if (!put(to, floors)) return BOOST_OUTCOME_V2_NAMESPACE::success();
    for (const applied_floor& f : floors) sync_.note_floor(local_step, f.stream, f.floor);
    RATCHET_TRY(writes_.start(batch, local_step));
    local_step_ = local_step;
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

  /// What is known once it is written; none: as before. Most steps change nothing of it, and it is large.
  [[nodiscard]] std::optional<catalog> put_change(row_sink& to, const store_change& change) const {
    if (change == store_change{}) return std::nullopt;
    std::optional<catalog> after = known_after(known_, change);
    put_store_change(to, known_, *after, change);
    return after;
  }

  /// A step of a replica: its rows wait for the log.
  result<void> decide(const step_batch& step, outbox_lanes outbox_after) {
    // What else a store knows of itself is local.
    if (is_stale_ || step.change != store_change{.outbox_epoch = step.change.outbox_epoch})
      return make_error_code(errc::internal);
    replicate::row_buffer rows;
    const auto built = writer_.build_rows(step, lookup_, memory_, rejected_, outbox_after, rows);
    lookup_.forget();
    forgotten_.note_step();
    if (!built) {
      writes_.fail(built.error().message());
      return built.error();
    }
    row_sink to{rows};
    if (auto known_then = put_change(to, step.change)) known_ = std::move(*known_then);
    known_.outbox = std::move(outbox_after);
    pending_.add(step.step, std::make_shared<const std::string>(rows.release()));
    last_step_.store(step.step, std::memory_order_release);
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

  /// For batches without a step: they are never part of an unsynced tail, whose holes steps tell.
  result<void> commit_and_sync(rocksdb::WriteBatch& batch) {
    RATCHET_TRY(writes_.start(batch, write_thread::k_no_step));
    return sync();
  }

  [[nodiscard]] bool starts_over(stream_id stream) const {
    return std::any_of(start_.restarted.begin(), start_.restarted.end(),
                       [&](const restarted_stream& r) { return id_of(r.stream) == stream; });
  }

  /// The start's own rows; those of the step, which may be of a stream that starts over, come behind them.
  result<void> put_start(rocksdb::WriteBatch& batch) {
    start_.known = known_;
    if (start_.changed) {
      RATCHET_TRY(put_adoption(batch, *db_, start_, rejected_));
    }
    for (const incarnation& i : drawn_) {
      batch.Put(db_->handle(family::standard), layout::incarnation_key(i), layout::encode_presence())
          .PermitUncheckedError();
    }
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

  void note_started() {
    directory_.keep();
    start_ = {};
    drawn_.clear();
  }

  directory_lock lock_;
  new_directory directory_;  ///< goes, if it does, behind the database and before the lock
  std::unique_ptr<database> db_;
  catalog known_;
  rejected_index rejected_;
  memory_by_slot memory_;
  step_writer writer_;  ///< has the batch that is being written
  bool is_replica_;
  std::uint64_t remembered_bytes_;
  store_options configured_;
  pending_rows pending_;                                 ///< of a replica; others have none
  rocksdb::WriteBatch applied_[2];                       ///< of a replica; one may be under way
  bool is_stale_{false};                                 ///< steps of others were applied
  std::atomic<bool> is_restoring_{known_.is_restoring};  ///< of a replica: see replica
  std::optional<slot_owner> owner_{known_.owner};        ///< of a replica
  bool is_owner_new_{false};                             ///< it is not in the database yet
  std::uint64_t local_step_;                             ///< of a replica: the last one of its own log
  std::atomic<std::uint64_t> last_step_;
  std::atomic<std::uint64_t> confirmed_step_;  ///< of a replica
  std::shared_ptr<durable_floors> floors_;
  sync_thread sync_;     ///< stops before the database closes,
  write_thread writes_;  ///< and this one before the syncs
  row_reader rows_;
  row_lookup lookup_;
  expired_rows forgotten_;
  adoption start_;
  bool is_unwritten_;               ///< it goes with the first step
  std::vector<incarnation> drawn_;  ///< so do these
  /// By views. Stays as it is, for any thread asks for one.
  std::shared_ptr<const catalog> shown_until_written_;
};

}  // namespace

std::unique_ptr<store> make_rocks_store(store_parts of, const store_options& options) {
  return std::make_unique<rocks_store>(std::move(of), options);
}

replica* replica_of(store& s) noexcept {
  auto* const found = dynamic_cast<rocks_store*>(&s);
  return found != nullptr && found->is_replica() ? found : nullptr;
}

std::optional<problem> refusal_of_config(const store& s) {
  const auto* const found = dynamic_cast<const rocks_store*>(&s);
  return found != nullptr && found->is_replica() ? found->refusal_of_config() : std::nullopt;
}

database& database_of(store& s) {
  return dynamic_cast<rocks_store&>(s).under();
}

}  // namespace ratchet
