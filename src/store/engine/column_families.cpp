// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/engine/column_families.hpp"

#include <rocksdb/cache.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>
#include <rocksdb/write_buffer_manager.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <utility>

#include "store/engine/hash_memtable.hpp"
#include "store/engine/open_files.hpp"
#include "store/engine/rocksdb_error.hpp"
#include "store/engine/rocksdb_versions.hpp"
#include "store/layout/layout.hpp"

namespace ratchet {

namespace {

/// A row of an aggregate with its snapshot takes about twice as much.
constexpr std::size_t k_bytes_per_bucket = 256;
constexpr double k_bloom_bits = 10;
constexpr int k_brief_open_files = 64;
constexpr std::uint64_t k_least_write_buffer = std::uint64_t{1} << 20U;
constexpr std::uint64_t k_most_write_buffer = std::uint64_t{128} << 20U;
/// The least that glibc's malloc takes from the kernel and gives back to it whatever it has seen before
/// (mallopt(3), M_MMAP_THRESHOLD), but where it has a free piece of that size. Less than that it keeps when a
/// memtable is gone, while the cache fills what the memtable has left: with 20 M aggregates in 2 GiB 2,351
/// MiB were resident with blocks of 1 MiB, 2,071 with these, which are large enough for huge pages. Smaller
/// memtables would be cut off by them: one ends where three quarters of its last block are full.
constexpr std::size_t k_block_given_back = std::size_t{32} << 20U;
constexpr std::uint64_t k_least_youngest = std::uint64_t{1} << 30U;
/// About what a large memtable is flushed to.
constexpr std::uint64_t k_youngest_table = std::uint64_t{64} << 20U;
constexpr int k_write_buffers = 3;  // of a column family: the one that is written to, and those being flushed

constexpr std::size_t k_most_log_bytes = std::size_t{4} << 20U;

/// RocksDB's own LOG of one opening, up to a bound. A line that cannot be written is left out: RocksDB's own
/// logger ends the process (in builds with assertions, as Debian's) when the disk is full.
class bounded_logger final : public rocksdb::Logger {
 public:
  explicit bounded_logger(const std::filesystem::path& file) : file_{std::fopen(file.c_str(), "we")} {}
  ~bounded_logger() override {
    if (file_ != nullptr) std::fclose(file_);
  }
  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    if (file_ == nullptr) return;
    const std::scoped_lock lock{mutex_};
    if (written_ >= k_most_log_bytes) return;
    std::array<char, 32> when{};
    const std::time_t now = std::time(nullptr);
    std::tm fields{};
    if (gmtime_r(&now, &fields) != nullptr)
      written_ += std::strftime(when.data(), when.size(), "%FT%TZ ", &fields);
    std::fputs(when.data(), file_);
    const int length = std::vfprintf(file_, format, arguments);
    std::fputc('\n', file_);
    std::fflush(file_);
    written_ += static_cast<std::size_t>(std::max(length, 0)) + 1;
  }

 private:
  std::mutex mutex_;
  std::FILE* file_;
  std::size_t written_{0};
};

/// Says nothing. RocksDB would otherwise make a LOG file, in a directory that a read-only open must not
/// touch.
class silent_logger final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

/// Larger ones hold more changes of a row, of which a flush writes the last: at 200,000 aggregates 364 B were
/// written for an event with 32 MiB, 295 B with 48 and 212 B with 110; at 5 M in 2 GiB 853 B with 64, 737 B
/// with 128.
std::uint64_t write_buffer_of(const database_settings& settings) {
  return std::clamp(settings.memory_bytes * 5 / 16, k_least_write_buffer, k_most_write_buffer);
}

/// So much of `sequences` is written before it is merged into what is there; it lies on the disk beside that,
/// and while it is merged, twice. At 5 M aggregates 551 B were written for an event with 1 GiB in place of
/// 665 with half of it, and 770,000 events a second handled in place of 700,000; at 20 M in 2 GiB, where it
/// is 1.8 GiB, 819 B in place of 925.
std::uint64_t youngest_bytes(const database_settings& settings) {
  return std::clamp(3 * settings.memory_bytes, k_least_youngest, 2 * k_least_youngest);
}

rocksdb::DBOptions db_options(const database_settings& settings) {
  rocksdb::DBOptions o;
  if (settings.env) o.env = settings.env;
  // Where RocksDB gets one thread and not the next one, it ends the process. There is little to share: with a
  // bounded number of open files it opens 16 tables of a column family at first.
  o.max_file_opening_threads = 1;
  o.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  o.track_and_verify_wals_in_manifest = true;
  o.avoid_flush_during_recovery = false;
  o.paranoid_checks = true;
  // A background error stays one: RocksDB would else resume by itself behind the back of a store that has to
  // stop, be opened again and read the truth.
  o.max_bgerror_resume_count = 0;
  // One writer. WAL recycling, WAL compression, manual WAL flush and parallel memtable writes stay off: each
  // of them takes from what a recovered prefix means, or measured slower.
  o.allow_concurrent_memtable_write = false;
  o.enable_write_thread_adaptive_yield = false;
  o.max_background_jobs = 2;
  o.max_open_files = most_table_files(descriptor_limit(), settings.memory_bytes);
  // Idle column families would pin old logs for ever.
  o.max_total_wal_size =
      std::max<std::uint64_t>(k_write_buffers * write_buffer_of(settings), std::uint64_t{16} << 20U);
  o.bytes_per_sync = std::uint64_t{1} << 20U;
  // Else RocksDB 7 reads what it compacts block by block, with a call to the system for each. It takes so
  // much for each table that it merges, beside the limits on memory.
  o.compaction_readahead_size = std::size_t{256} << 10U;
  o.stats_dump_period_sec = 0;
  if (settings.brief) o.max_open_files = k_brief_open_files;
  return o;
}

rocksdb::ColumnFamilyOptions family_options(family f, const database_settings& settings,
                                            const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::ColumnFamilyOptions o;
  o.write_buffer_size = static_cast<std::size_t>(write_buffer_of(settings));
  o.max_write_buffer_number = k_write_buffers;
  o.level_compaction_dynamic_level_bytes = true;
  o.target_file_size_base = std::uint64_t{32} << 20U;
  o.compression = rocksdb::kNoCompression;
  o.disable_auto_compactions = settings.brief;

  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.format_version = 5;
  table.cache_index_and_filter_blocks = true;  // inside the one memory limit
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  table.checksum = rocksdb::kXXH3;
  if (f == family::sequences || f == family::dedup || f == family::waiting || f == family::tables) {
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(k_bloom_bits));
  }
  if (f == family::dedup) {
    // Who looks for an id asks for the runs of a span of time: does the file have any?
    o.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(layout::k_span_prefix_bytes));
    table.whole_key_filtering = false;
  }
  if (f == family::sequences) {
    // Many times RocksDB's defaults: the rows that change most lie in several of the youngest tables, and are
    // written on only once where these are merged. Look-ups are few, as heads are remembered, and filters
    // keep them out of most tables.
    const std::uint64_t youngest = youngest_bytes(settings);
    const int tables = static_cast<int>(youngest / k_youngest_table);
    o.level0_file_num_compaction_trigger = tables;
    o.level0_slowdown_writes_trigger = 2 * tables;
    o.level0_stop_writes_trigger = 3 * tables;
    o.max_bytes_for_level_base = youngest;  // at which the youngest tables are merged, too
  }
  // Written and read by whole keys: a hash finds them. The others have few rows, or are iterated over.
  if (f == family::sequences || f == family::snapshots) {
    const std::size_t block = o.write_buffer_size >= 4 * k_block_given_back ? k_block_given_back : 0;
    o.arena_block_size = block;  // 0: RocksDB's choice
    o.memtable_factory = make_hash_memtables(o.write_buffer_size / k_bytes_per_bucket, block);
  }
  if (f == family::dedup) {
    o.compaction_filter_factory = std::make_shared<id_filter_factory>(settings.floors);
  }
  o.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return o;
}

bool is_ours(const std::string& name) {
  return std::find(k_family_names.begin(), k_family_names.end(), name) != k_family_names.end();
}

std::vector<rocksdb::ColumnFamilyDescriptor> descriptors(const std::vector<std::string>& names,
                                                         const database_settings& settings,
                                                         const std::shared_ptr<rocksdb::Cache>& cache) {
  std::vector<rocksdb::ColumnFamilyDescriptor> out;
  for (const std::string& name : names) {
    const auto at = std::find(k_family_names.begin(), k_family_names.end(), name) - k_family_names.begin();
    out.emplace_back(name, family_options(static_cast<family>(at), settings, cache));
  }
  return out;
}

}  // namespace

/// Told by RocksDB of what fails behind the back of whoever writes.
class database::error_watch final : public rocksdb::EventListener {
 public:
  void OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status* error) override {
    if (error->severity() < rocksdb::Status::Severity::kHardError) return;
    const std::scoped_lock lock{mutex_};
    if (first_.empty()) first_ = error->ToString();
  }
  /// After a full disk RocksDB would, whatever it is told of resuming, look for space on a thread of its own
  /// and go on by itself.
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status, bool* automatic) override {
    *automatic = false;
  }
  [[nodiscard]] std::string first() const {
    const std::scoped_lock lock{mutex_};
    return first_;
  }

 private:
  mutable std::mutex mutex_;
  std::string first_;
};

std::string database::stopped_by() const {
  return errors_ ? errors_->first() : std::string{};
}

std::error_code read_error(const rocksdb::Status& status) noexcept {
  return status.IsCorruption() ? make_error_code(errc::state_damaged) : to_error_code(status);
}

database::~database() {
  if (!db_) return;
  for (rocksdb::ColumnFamilyHandle* handle : handles_) {
    if (handle) db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
  db_->Close().PermitUncheckedError();  // what was not synced is not promised
  db_.reset();
}

void database::keep(const std::vector<std::string>& names,
                    const std::vector<rocksdb::ColumnFamilyHandle*>& handles) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto at =
        std::find(k_family_names.begin(), k_family_names.end(), names[i]) - k_family_names.begin();
    handles_[static_cast<std::size_t>(at)] = handles[i];
  }
}

rocksdb::Status database::open(const database_settings& settings, recovery_filter filter, bool create,
                               std::unique_ptr<database>& out) {
  auto self = std::make_unique<database>();
  self->filter_ = std::move(filter);
  rocksdb::DBOptions o = db_options(settings);
  o.create_if_missing = create;
  o.create_missing_column_families = create;
  o.info_log = std::make_shared<bounded_logger>(settings.path / "LOG");
  self->errors_ = std::make_shared<error_watch>();
  o.listeners.push_back(self->errors_);
  o.wal_filter = &self->filter_;
  const auto cache = rocksdb::NewLRUCache(settings.memory_bytes);
  // Memtables are charged to the cache, so that both together stay inside the limit.
  o.write_buffer_manager =
      std::make_shared<rocksdb::WriteBufferManager>(settings.memory_bytes * 3 / 4, cache);
  const std::vector<std::string> names{k_family_names.begin(), k_family_names.end()};
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::Status s =
      open_database(self->db_, o, settings.path.string(), descriptors(names, settings, cache), &handles);
  if (!s.ok()) return s;
  self->keep(names, handles);
  self->complete_ = true;
  out = std::move(self);
  return s;
}

rocksdb::Status database::open_read_only(const database_settings& settings, recovery_filter filter,
                                         std::unique_ptr<database>& out) {
  auto self = std::make_unique<database>();
  self->filter_ = std::move(filter);
  rocksdb::DBOptions o = db_options(settings);
  o.wal_filter = &self->filter_;
  o.info_log = std::make_shared<silent_logger>();
  std::vector<std::string> found;
  rocksdb::Status s = rocksdb::DB::ListColumnFamilies(o, settings.path.string(), &found);
  if (!s.ok()) return s;
  std::vector<std::string> names;
  std::copy_if(found.begin(), found.end(), std::back_inserter(names), is_ours);
  const auto cache = rocksdb::NewLRUCache(settings.memory_bytes);
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  s = open_database_read_only(self->db_, o, settings.path.string(), descriptors(names, settings, cache),
                              &handles);
  if (!s.ok()) return s;
  self->keep(names, handles);
  self->complete_ = names.size() == k_family_names.size() && found.size() == names.size();
  out = std::move(self);
  return s;
}

result<std::optional<std::string>> database::get(const rocksdb::ReadOptions& options, family f,
                                                 std::string_view key) const {
  if (!handle(f)) return std::optional<std::string>{};
  std::string value;
  const rocksdb::Status s = db_->Get(options, handle(f), key, &value);
  if (s.IsNotFound()) return std::optional<std::string>{};
  if (!s.ok()) return read_error(s);
  return std::optional<std::string>{std::move(value)};
}

result<void> database::for_each(const rocksdb::ReadOptions& options, family f, const std::string& prefix,
                                const std::function<result<bool>(std::string_view, std::string_view)>& visit,
                                std::string_view from) const {
  if (!handle(f)) return BOOST_OUTCOME_V2_NAMESPACE::success();
  return visit_prefix(
      options, prefix, from,
      [&](const rocksdb::ReadOptions& bounded) {
        return std::unique_ptr<rocksdb::Iterator>{db_->NewIterator(bounded, handle(f))};
      },
      visit);
}

result<void> visit_prefix(
    const rocksdb::ReadOptions& options, const std::string& prefix, std::string_view from,
    const std::function<std::unique_ptr<rocksdb::Iterator>(const rocksdb::ReadOptions&)>& iterate,
    const std::function<result<bool>(std::string_view, std::string_view)>& visit) {
  rocksdb::ReadOptions bounded = options;
  const std::string end = layout::end_of_prefix(prefix);
  const rocksdb::Slice upper{end};
  if (!end.empty()) bounded.iterate_upper_bound = &upper;
  bounded.fill_cache = false;
  bounded.total_order_seek = true;
  const std::unique_ptr<rocksdb::Iterator> at = iterate(bounded);
  for (at->Seek(from.empty() ? std::string_view{prefix} : from); at->Valid(); at->Next()) {
    RATCHET_TRY(const bool more, visit(at->key().ToStringView(), at->value().ToStringView()));
    if (!more) break;
  }
  if (!at->status().ok()) return read_error(at->status());
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

}  // namespace ratchet
