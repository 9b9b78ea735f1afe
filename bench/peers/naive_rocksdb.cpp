// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What a team writes first: librdkafka, RocksDB, two reads and one write for each event; Kafka's offsets are
// committed behind a sync of the log. It is right: what is read again after a crash is found by its id.
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "peer_consumer.hpp"
#include "peer_event.hpp"
#include "peer_report.hpp"

namespace {

using namespace peers;
using steady = std::chrono::steady_clock;

constexpr std::chrono::milliseconds k_commit_interval{100};  // as Ratchet's
constexpr std::size_t k_most = 5'000;
constexpr std::size_t k_cache_bytes = std::size_t{384} << 20U;  // as Ratchet's share for its database

void check(const rocksdb::Status& s) {
  if (!s.ok()) die(s.ToString());
}

/// Two column families: ids (aggregate and id, nothing), and states (aggregate; sequence and snapshot).
class database {
 public:
  explicit database(const std::string& path) {
    rocksdb::DBOptions options;
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    rocksdb::BlockBasedTableOptions table;
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    table.block_cache = rocksdb::NewLRUCache(k_cache_bytes);
    rocksdb::ColumnFamilyOptions family;
    family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    const std::vector<rocksdb::ColumnFamilyDescriptor> families{
        {rocksdb::kDefaultColumnFamilyName, family}, {"ids", family}, {"states", family}};
    rocksdb::DB* db = nullptr;
    check(rocksdb::DB::Open(options, path, families, &handles_, &db));
    db_.reset(db);
  }
  ~database() {
    for (auto* handle : handles_) check(db_->DestroyColumnFamilyHandle(handle));
  }
  database(const database&) = delete;
  database& operator=(const database&) = delete;

  void handle(const event& e, tally& counted) {
    id_key_.assign(e.aggregate).append(bytes_of_uuid(e.id));
    if (found(ids(), id_key_)) {
      ++counted.duplicate;
      return;
    }
    if (found(states(), e.aggregate)) {
      std::uint64_t last = 0;
      std::memcpy(&last, value_.data(), sizeof last);
      if (e.sequence <= last) {
        ++counted.stale;
        return;
      }
    }
    ++counted.applied;
    row_.assign(sizeof e.sequence, '\0');
    std::memcpy(row_.data(), &e.sequence, sizeof e.sequence);
    row_.append(e.snapshot);
    rocksdb::WriteBatch batch;
    check(batch.Put(ids(), id_key_, ""));
    check(batch.Put(states(), slice(e.aggregate), row_));
    check(db_->Write({}, &batch));
  }

  void sync() { check(db_->SyncWAL()); }

  [[nodiscard]] ratchet::workload_digest digest() {
    ratchet::workload_digest all;
    const std::unique_ptr<rocksdb::Iterator> rows{db_->NewIterator({}, states())};
    for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
      all.row(rows->key().ToStringView(), rows->value().ToStringView().substr(sizeof(std::uint64_t)));
    }
    check(rows->status());
    return all;
  }

 private:
  [[nodiscard]] static rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }
  [[nodiscard]] rocksdb::ColumnFamilyHandle* ids() const { return handles_[1]; }
  [[nodiscard]] rocksdb::ColumnFamilyHandle* states() const { return handles_[2]; }

  [[nodiscard]] bool found(rocksdb::ColumnFamilyHandle* family, std::string_view key) {
    value_.Reset();
    const auto s = db_->Get({}, family, slice(key), &value_);
    if (!s.IsNotFound()) check(s);
    return s.ok();
  }

  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
  rocksdb::PinnableSlice value_;
  std::string id_key_;
  std::string row_;
};

}  // namespace

int main(int argc, char** argv) {
  const arguments a = arguments::parse(argc, argv);
  database db{a.state};
  consumer from{a.brokers, a.topic, a.group};
  from.subscribe();
  event_parser parser;
  tally counted;
  stopwatch times;
  steady::time_point last_commit = steady::now();
  while (counted.sum() < a.records) {
    const auto messages = from.poll(k_most, k_commit_interval);
    if (counted.sum() == 0 && !messages.empty()) times.first = steady::now();
    for (const message& m : messages) {
      const auto e = parser.parse({static_cast<const char*>(m->payload), m->len});
      if (e) {
        db.handle(*e, counted);
      } else {
        ++counted.malformed;
      }
    }
    const auto now = steady::now();
    if (messages.empty() || (now - last_commit < k_commit_interval && counted.sum() < a.records)) continue;
    db.sync();
    times.durable = steady::now();
    from.commit();
    last_commit = steady::now();
  }
  const double cpu = cpu_seconds();
  print(counted, times, cpu, db.digest());
}
