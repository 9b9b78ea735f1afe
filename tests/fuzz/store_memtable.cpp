// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <rocksdb/db.h>
#include <rocksdb/env.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "fuzz/fuzz_input.hpp"
#include "store/engine/hash_memtable.hpp"
#include "store/engine/rocksdb_versions.hpp"

/// The memtable, beside RocksDB's skip list. Two column families of one database take the same writes;
/// whatever is read from them is the same: whole keys, now and as of snapshots, and iterators, new ones and
/// such as were made before later writes and flushes, placed and moved any way. Files lie in memory.

using namespace ratchet;
using fuzz::fuzz_input;

namespace {

constexpr std::size_t k_most_kept = 4;  ///< snapshots and iterators at a time
constexpr std::array<std::size_t, 3> k_buckets{1, 8, 512};

class twin_tables {
 public:
  explicit twin_tables(std::uint8_t how) : hashes_{in_memory().hashes[how % k_buckets.size()]} {}
  /// Leaves both empty.
  ~twin_tables() {
    iterators_.clear();
    while (!snapshots_.empty()) drop_snapshot(0);
    rocksdb::WriteBatch batch;
    for (rocksdb::ColumnFamilyHandle* table : {lists_, hashes_}) {
      for (const std::string& key : keys_) check(batch.Delete(table, key));
    }
    write(batch);
    for (rocksdb::ColumnFamilyHandle* table : {lists_, hashes_}) {
      check(db().Flush({}, table));
      check(db().CompactRange({}, table, nullptr, nullptr));
    }
  }
  twin_tables(const twin_tables&) = delete;
  twin_tables& operator=(const twin_tables&) = delete;

  void run(fuzz_input& in) {
    while (in.left() > 0) step(in);
    compare_all(nullptr);
    for (const rocksdb::Snapshot* as_of : snapshots_) compare_all(as_of);
  }

 private:
  /// Both iterators of one moment.
  struct pair {
    std::unique_ptr<rocksdb::Iterator> list, hash;
  };

  /// For all inputs, as it takes longer to open a database than to use it.
  struct database {
    database() {
      rocksdb::Options options;
      options.env = files.get();
      options.create_if_missing = true;
      options.allow_concurrent_memtable_write = false;
      options.info_log_level = rocksdb::FATAL_LEVEL;
      options.max_manifest_file_size = 1U << 20U;
      options.write_buffer_size = 1U << 20U;
      options.arena_block_size = 16U << 10U;
      options.compression = rocksdb::kNoCompression;
      options.disable_auto_compactions = true;
      check(open_database(opened, options, "/tables"));
      lists = opened->DefaultColumnFamily();
      for (std::size_t i = 0; i < hashes.size(); ++i) {
        options.memtable_factory = make_hash_memtables(k_buckets[i]);
        check(opened->CreateColumnFamily(options, "hashes-" + std::to_string(i), &hashes[i]));
      }
    }
    ~database() {
      for (rocksdb::ColumnFamilyHandle* one : hashes) check(opened->DestroyColumnFamilyHandle(one));
    }
    database(const database&) = delete;
    database& operator=(const database&) = delete;

    std::unique_ptr<rocksdb::Env> files{rocksdb::NewMemEnv(rocksdb::Env::Default())};
    std::unique_ptr<rocksdb::DB> opened;
    rocksdb::ColumnFamilyHandle* lists{nullptr};
    std::array<rocksdb::ColumnFamilyHandle*, k_buckets.size()> hashes{};
  };
  static database& in_memory() {
    static database one;
    return one;
  }
  static rocksdb::DB& db() { return *in_memory().opened; }

  static void check(const rocksdb::Status& s) { RATCHET_FUZZ_CHECK(s.ok()); }

  static void write(rocksdb::WriteBatch& batch) {
    rocksdb::WriteOptions options;
    options.disableWAL = true;
    check(db().Write(options, &batch));
  }

  void step(fuzz_input& in) {
    const std::uint8_t what = in.u8();
    switch (what % 10) {
      case 0:
      case 1:
      case 2:
        return write(in, 1);
      case 3:
        return write(in, in.u8() % 16);
      case 4:
        return compare_one(key(in), some_snapshot(in));
      case 5:
        return take_or_drop_snapshot(in);
      case 6:
        return make_iterators(some_snapshot(in));
      case 7:
        return move_iterators(in);
      case 8:
        return compare_all(some_snapshot(in));
      default:
        if (what < 128) return move_iterators(in);
        check(db().Flush({}, {lists_, hashes_}));
    }
  }

  /// A key of the input, or one that was written before, or one that goes on behind it.
  [[nodiscard]] std::string key(fuzz_input& in) const {
    const std::uint8_t from = in.u8();
    if (keys_.empty() || from < 64) return std::string{in.text()};
    const std::string& known = keys_[from % keys_.size()];
    return from < 192 ? known : known + std::string(1 + from % 9, from % 2 == 0 ? '\0' : 'z');
  }

  void write(fuzz_input& in, std::size_t rows) {
    rocksdb::WriteBatch batch;
    for (std::size_t i = 0; i < rows; ++i) {
      const std::string at = key(in);
      const bool erased = in.u8() % 4 == 0;
      const std::string value{in.text()};
      for (rocksdb::ColumnFamilyHandle* table : {lists_, hashes_})
        check(erased ? batch.Delete(table, at) : batch.Put(table, at, value));
      keys_.push_back(at);
    }
    write(batch);
  }

  [[nodiscard]] const rocksdb::Snapshot* some_snapshot(fuzz_input& in) const {
    const std::size_t chosen = in.u8() % (k_most_kept + 1);
    return chosen < snapshots_.size() ? snapshots_[chosen] : nullptr;
  }

  void drop_snapshot(std::size_t index) {
    db().ReleaseSnapshot(snapshots_[index]);
    snapshots_.erase(snapshots_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  void take_or_drop_snapshot(fuzz_input& in) {
    if (snapshots_.size() < k_most_kept) return snapshots_.push_back(db().GetSnapshot());
    drop_snapshot(in.u8() % k_most_kept);
  }

  [[nodiscard]] pair iterate(const rocksdb::Snapshot* as_of) const {
    rocksdb::ReadOptions options;
    options.snapshot = as_of;
    return {std::unique_ptr<rocksdb::Iterator>{db().NewIterator(options, lists_)},
            std::unique_ptr<rocksdb::Iterator>{db().NewIterator(options, hashes_)}};
  }

  void make_iterators(const rocksdb::Snapshot* as_of) {
    if (iterators_.size() == k_most_kept) iterators_.erase(iterators_.begin());
    iterators_.push_back(iterate(as_of));
  }

  static void compare(const pair& at) {
    check(at.list->status());
    check(at.hash->status());
    RATCHET_FUZZ_CHECK(at.list->Valid() == at.hash->Valid());
    if (!at.list->Valid()) return;
    RATCHET_FUZZ_CHECK(at.list->key() == at.hash->key());
    RATCHET_FUZZ_CHECK(at.list->value() == at.hash->value());
  }

  void move_iterators(fuzz_input& in) {
    if (iterators_.empty()) return;
    const pair& at = iterators_[in.u8() % iterators_.size()];
    const std::uint8_t way = in.u8() % 6;
    const std::string to = way < 2 ? key(in) : std::string{};
    for (rocksdb::Iterator* one : {at.list.get(), at.hash.get()}) {
      if (way == 0) one->Seek(to);
      if (way == 1) one->SeekForPrev(to);
      if (way == 2) one->SeekToFirst();
      if (way == 3) one->SeekToLast();
      if (way == 4 && one->Valid()) one->Next();
      if (way == 5 && one->Valid()) one->Prev();
    }
    compare(at);
  }

  void compare_one(const std::string& at, const rocksdb::Snapshot* as_of) const {
    rocksdb::ReadOptions options;
    options.snapshot = as_of;
    std::string in_list;
    std::string in_hash;
    const rocksdb::Status a = db().Get(options, lists_, at, &in_list);
    const rocksdb::Status b = db().Get(options, hashes_, at, &in_hash);
    RATCHET_FUZZ_CHECK(a.ok() || a.IsNotFound());
    RATCHET_FUZZ_CHECK(a.code() == b.code());
    RATCHET_FUZZ_CHECK(in_list == in_hash);
  }

  void compare_all(const rocksdb::Snapshot* as_of) const {
    const pair at = iterate(as_of);
    at.list->SeekToFirst();
    at.hash->SeekToFirst();
    for (compare(at); at.list->Valid(); compare(at)) {
      at.list->Next();
      at.hash->Next();
    }
    at.list->SeekToLast();
    at.hash->SeekToLast();
    for (compare(at); at.list->Valid(); compare(at)) {
      at.list->Prev();
      at.hash->Prev();
    }
    for (const std::string& one : keys_) compare_one(one, as_of);
  }

  rocksdb::ColumnFamilyHandle* lists_{in_memory().lists};
  rocksdb::ColumnFamilyHandle* hashes_;
  std::vector<std::string> keys_;
  std::vector<const rocksdb::Snapshot*> snapshots_;
  std::vector<pair> iterators_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz_input in{data, size};
  twin_tables{in.u8()}.run(in);
  return 0;
}
