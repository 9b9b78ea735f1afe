// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/rocks_store.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <set>

#include "core/assert.hpp"
#include "store/engine/catalog.hpp"
#include "store/engine/column_families.hpp"
#include "store/engine/rocksdb_error.hpp"
#include "store/files/directory_lock.hpp"
#include "store/files/file_problem.hpp"
#include "store/files/private_directory.hpp"
#include "store/files/synced_file.hpp"
#include "store/open/adoption.hpp"
#include "store/open/checkpoint.hpp"
#include "store/open/new_directory.hpp"
#include "store/open/opening.hpp"
#include "store/open/rocks_view.hpp"
#include "store/open/start.hpp"
#include "store/rocks_open.hpp"
#include "store/step/expired_rows.hpp"
#include "store/step/rejected_index.hpp"
#include "store/step/row_lookup.hpp"
#include "store/step/step_writer.hpp"
#include "store/step/sync_thread.hpp"
#include "store/step/write_thread.hpp"

namespace ratchet {

namespace {

std::error_code indeterminate() {
  return make_error_code(errc::write_indeterminate);
}

class rocks_store final : public store {
 public:
  /// `start` was written already, or `unwritten`: goes with the first step.
  rocks_store(directory_lock lock, new_directory directory, std::unique_ptr<database> db, adoption start,
              bool unwritten, rejected_index rejected, memory_by_slot memory,
              std::shared_ptr<durable_floors> floors, synced_file synced, std::uint64_t step, write_on where)
      : lock_{std::move(lock)},
        directory_{std::move(directory)},
        db_{std::move(db)},
        known_{start.known},
        rejected_{std::move(rejected)},
        memory_{std::move(memory)},
        writer_{*db_},
        last_step_{step},
        sync_{*db_, std::move(synced), std::move(floors), step, durable()},
        writes_{*db_, sync_, where},
        lookup_{*db_, writes_, memory_},
        forgotten_{*db_},
        start_{std::move(start)},
        is_unwritten_{unwritten} {
    if (unwritten) shown_until_written_ = std::make_shared<const catalog>(known_);
  }

  [[nodiscard]] stream_id id_of(std::string_view stream) const override {
    const auto at = known_.streams.find(stream);
    return at == known_.streams.end() ? stream_id{0} : at->second.id;
  }

  [[nodiscard]] result<stream_state> load(stream_slot in) const override {
    RATCHET_TRY(wait_for_write());
    if (is_unwritten_ && starts_over(in.stream)) return stream_state{};
    return read_stream_state(*db_, {}, in.stream);
  }

  [[nodiscard]] result<void> lookup(stream_slot in, const step_plan& plan, step_rows& out) override {
    if (failed()) return indeterminate();
    if (!memory_.contains(in)) return make_error_code(errc::internal);
    return lookup_.run(in, plan, out);
  }

  [[nodiscard]] result<due_aggregates> due(stream_slot in, timestamp now, std::optional<timestamp> gaps,
                                           std::size_t limit) override {
    const auto remembered = memory_.find(in);
    if (remembered == memory_.end()) return make_error_code(errc::internal);
    RATCHET_TRY(wait_for_write());
    return find_due(*db_, in, remembered->second.due, now, gaps, limit);
  }

  [[nodiscard]] result<std::vector<std::string>> due_behind(stream_slot in, timestamp until,
                                                            std::size_t limit) override {
    if (!memory_.contains(in)) return make_error_code(errc::internal);
    RATCHET_TRY(wait_for_write());
    return find_due_behind(*db_, in, until, limit);
  }

  [[nodiscard]] result<forgotten_aggregates> find_forgotten(stream_slot in, const retention_state& of,
                                                            const std::optional<std::string>& after,
                                                            std::size_t rows) override {
    if (!memory_.contains(in)) return make_error_code(errc::internal);
    RATCHET_TRY(wait_for_write());
    return forgotten_.next(in, of, after, rows);
  }

  [[nodiscard]] outbox_lanes outboxes() const override { return known_.outbox; }
  [[nodiscard]] std::uint64_t outbox_epoch() const override { return known_.outbox_epoch; }

  [[nodiscard]] result<std::vector<output_row>> outputs(std::string_view lane, std::uint64_t from,
                                                        std::uint64_t until, std::size_t limit,
                                                        std::uint64_t bytes) const override {
    return read_outputs(*db_, {}, lane, from, until, limit, bytes);
  }

  [[nodiscard]] std::optional<timestamp> oldest_rejected(stream_id stream) const override {
    return rejected_.oldest(stream);
  }

  [[nodiscard]] result<void> write(const step_batch& step) override {
    if (failed()) return indeterminate();
    if (step.step != last_step() + 1) return make_error_code(errc::internal);
    for (const step_part& part : step.parts) {
      if (!memory_.contains(part.place())) return make_error_code(errc::internal);
    }
    outbox_lanes outbox_after = known_.outbox;
    step.outbox.apply_to(outbox_after);
    for (const output_row& row : step.outbox.puts)
      RATCHET_ASSERT(row.position >= known_.outbox.of(row.lane()).next &&
                     row.position < outbox_after.of(row.lane()).next);
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
    if (step.change != store_change{}) put_store_change(*batch.assume_value(), step.change);
    for (const step_part& part : step.parts) {
      if (part.change && part.change->after.floor)
        note_floor(step.step, part.stream, *part.change->after.floor);
    }
    RATCHET_TRY(writes_.start(*batch.assume_value(), step.step));
    if (std::exchange(is_unwritten_, false)) note_started();
    if (step.change != store_change{}) known_ = known_after(step.change);
    known_.outbox = std::move(outbox_after);
    last_step_.store(step.step, std::memory_order_release);
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

  [[nodiscard]] std::uint64_t last_step() const noexcept override {
    return last_step_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::uint64_t durable_step() const noexcept override { return sync_.durable(); }
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
    return last_step();
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
    const auto sum = [this](const std::string& property) {
      std::uint64_t bytes = 0;
      return db_->db().GetAggregatedIntProperty(property, &bytes) ? bytes : 0;
    };
    store_statistics all;
    all.memtable_bytes = sum(rocksdb::DB::Properties::kCurSizeAllMemTables);
    // One cache serves all column families.
    db_->db().GetIntProperty(rocksdb::DB::Properties::kBlockCacheUsage, &all.block_cache_bytes);
    all.table_reader_bytes = sum(rocksdb::DB::Properties::kEstimateTableReadersMem);
    all.table_file_bytes = sum(rocksdb::DB::Properties::kTotalSstFilesSize);
    all.sync_seconds = sync_.durations();
    return all;
  }

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

  /// What the store knows of itself once `change` is written.
  [[nodiscard]] catalog known_after(const store_change& change) const {
    catalog after = known_;
    if (change.outbox_epoch) after.outbox_epoch = std::max(*change.outbox_epoch, known_.outbox_epoch + 1);
    if (after.copy) after.copy->opened |= change.note_copy_opened;
    if (change.lift_copy_mark) after.copy.reset();
    if (change.cluster_id) after.identity->cluster_id = *change.cluster_id;
    after.incarnations.insert(after.incarnations.end(), change.taken_over.begin(), change.taken_over.end());
    std::stable_sort(after.incarnations.begin(), after.incarnations.end(),
                     [](const incarnation& a, const incarnation& b) { return a.counter < b.counter; });
    return after;
  }

  void put_store_change(rocksdb::WriteBatch& batch, const store_change& change) const {
    rocksdb::ColumnFamilyHandle* family = db_->handle(family::standard);
    const catalog after = known_after(change);
    if (after.outbox_epoch != known_.outbox_epoch) {
      batch.Put(family, layout::outbox_epoch_key(), layout::encode_outbox_epoch(after.outbox_epoch))
          .PermitUncheckedError();
    }
    if (!after.copy && known_.copy) {
      batch.Delete(family, layout::copy_mark_key()).PermitUncheckedError();
    } else if (after.copy != known_.copy) {
      batch.Put(family, layout::copy_mark_key(), layout::encode_copy_mark(*after.copy))
          .PermitUncheckedError();
    }
    if (change.cluster_id) {
      batch.Put(family, layout::identity_key(), layout::encode_identity(*after.identity))
          .PermitUncheckedError();
    }
    for (const incarnation& i : change.taken_over) {
      batch.Put(family, layout::incarnation_key(i), layout::encode_presence()).PermitUncheckedError();
    }
  }

  void note_floor(std::uint64_t step, stream_id stream, timestamp floor) {
    const auto [at, is_new] = noted_floors_.try_emplace(stream, floor);
    if (!is_new && at->second == floor) return;
    at->second = floor;
    sync_.note_floor(step, stream, floor);
  }

  directory_lock lock_;
  new_directory directory_;  ///< goes, if it does, behind the database and before the lock
  std::unique_ptr<database> db_;
  catalog known_;
  rejected_index rejected_;
  memory_by_slot memory_;
  step_writer writer_;  ///< has the batch that is being written
  std::map<stream_id, timestamp> noted_floors_;
  std::atomic<std::uint64_t> last_step_;
  sync_thread sync_;     ///< stops before the database closes,
  write_thread writes_;  ///< and this one before the syncs
  row_lookup lookup_;
  expired_rows forgotten_;
  adoption start_;
  bool is_unwritten_;               ///< it goes with the first step
  std::vector<incarnation> drawn_;  ///< so do these
  /// By views. Stays as it is, for any thread asks for one.
  std::shared_ptr<const catalog> shown_until_written_;
};

}  // namespace

// Opening, in the order in which it happens.
namespace {

/// The directory, made durable in its parent. True: it was not there.
reported<bool> make_directory(const store_options& options) {
  std::error_code code;
  if (!options.create && !std::filesystem::exists(options.path, code)) {
    return problem{make_error_code(errc::state_missing),
                   "there is no state directory " + options.path.string(),
                   "run first, or name another",
                   {}};
  }
  RATCHET_TRY(const bool is_new, make_private_directory(options.path));
  if (!is_new) return false;
  const std::filesystem::path parent = std::filesystem::absolute(options.path).parent_path();
  if (const auto synced = sync_directory(parent); !synced) return failed_read(parent, synced.error());
  return true;
}

/// Everything behind the inspection: from here on files change.
reported<std::unique_ptr<store>> open_inspected(const store_options& options,
                                                const database_settings& settings, directory_lock lock,
                                                new_directory directory, const inspected& found,
                                                adoption wanted, rejected_index rejected) {
  remove_unfinished_checkpoint(options.path);
  auto synced = synced_file::open(options.path);  // before the database: it marks a directory as ours
  if (!synced) return failed_read(options.path, synced.error());
  std::unique_ptr<database> db;
  if (const auto s = database::open(settings, recovery_filter{found.in_files}, found.is_new, db); !s.ok()) {
    return failed_open(options.path, s);
  }
  const auto step = read_step(*db, {}, family::standard);
  if (!step) return failed_read(options.path, step.error());
  if (step.assume_value() != found.step) {
    return problem{make_error_code(errc::internal),
                   "recovery gave step " + std::to_string(step.assume_value()) +
                       " where its inspection had found " + std::to_string(found.step),
                   "please report it",
                   {}};
  }
  result<void> done = BOOST_OUTCOME_V2_NAMESPACE::success();
  if (wanted.changed && options.adopts_at_once) done = write_adoption(*db, wanted, rejected);
  if (done && wanted.changed) done = sync_directory(options.path);
  if (done) done = retire_spoilt_logs(*db, *wanted.known.identity);
  if (done) done = publish_recovered_floors(*db, wanted, *settings.floors);
  if (done && found.step != synced.assume_value().step()) {
    // What was recovered lies in synced table files now.
    done = synced.assume_value().write(found.step);
  }
  if (!done) return failed_read(options.path, done.error());
  auto memory = make_memory(*db, slots_of(wanted.known), options.remembered_bytes);
  if (!memory) return failed_read(options.path, memory.error());
  return std::unique_ptr<store>{std::make_unique<rocks_store>(
      std::move(lock), std::move(directory), std::move(db), std::move(wanted), !options.adopts_at_once,
      std::move(rejected), std::move(memory).assume_value(), settings.floors,
      std::move(synced).assume_value(), found.step, options.writes)};
}

}  // namespace

reported<std::unique_ptr<store>> open_store(const store_options& options, rocksdb::Env* env) {
  RATCHET_TRY(const bool is_made, make_directory(options));
  RATCHET_TRY(directory_lock lock, directory_lock::take(options.path, directory_lock::mode::exclusive));
  new_directory directory{options.path, is_made};
  if (options.adopts_at_once) directory.keep();
  RATCHET_TRY(check_writable(options.path));
  RATCHET_TRY(check_owner(options.path));
  database_settings settings;
  settings.path = options.path;
  settings.memory_bytes = options.database_bytes;
  settings.env = env;
  RATCHET_TRY(inspected found, inspect_directory(settings));
  if (found.is_new && !options.create) {
    return problem{make_error_code(errc::state_missing),
                   "the directory " + options.path.string() + " holds no state",
                   "run first, or name another",
                   {}};
  }
  if (found.is_new) directory.note_new_store();
  RATCHET_TRY(adoption wanted, adopt(options, found));
  RATCHET_TRY(rejected_index rejected, rehearse_reads(options, found));
  found.db.reset();
  RATCHET_TRY(close_to_others(options.path));  // not before it is known to be ours: it may be anybody's home
  return open_inspected(options, settings, std::move(lock), std::move(directory), found, std::move(wanted),
                        std::move(rejected));
}

database& database_of(store& s) {
  return dynamic_cast<rocks_store&>(s).under();
}

reported<std::unique_ptr<store>> open_store(const store_options& options) {
  return open_store(options, nullptr);
}

}  // namespace ratchet
