// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/engine/hash_memtable.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "store/engine/rocksdb_versions.hpp"
#include "support/store_support.hpp"
#include "unit/store/mapping.hpp"

namespace ratchet {
namespace {

using rows = std::map<std::string, std::string>;

/// A database whose rows live in hash memtables.
class database_of_hashes {
 public:
  explicit database_of_hashes(std::size_t buckets, std::size_t write_buffer = std::size_t{64} << 20U,
                              std::size_t block = 0) {
    options_.create_if_missing = true;
    options_.allow_concurrent_memtable_write = false;
    options_.write_buffer_size = write_buffer;
    // What files become is not looked at here.
    options_.compression = rocksdb::kNoCompression;
    options_.disable_auto_compactions = true;
    options_.level0_slowdown_writes_trigger = options_.level0_stop_writes_trigger = 1'000'000;
    options_.arena_block_size = block;
    options_.memtable_factory = make_hash_memtables(buckets, block);
    open();
  }
  rocksdb::DB* operator->() { return db_.get(); }

  /// As after a kill: what memtables held comes from the log once more.
  void reopen() {
    db_.reset();
    open();
  }
  void flush() { ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions{}).ok()); }
  void put(const std::string& key, const std::string& value) {
    ASSERT_TRUE(db_->Put(rocksdb::WriteOptions{}, key, value).ok());
  }
  [[nodiscard]] std::optional<std::string> get(const std::string& key,
                                               const rocksdb::Snapshot* as_of = nullptr) {
    rocksdb::ReadOptions options;
    options.snapshot = as_of;
    std::string value;
    const rocksdb::Status s = db_->Get(options, key, &value);
    EXPECT_TRUE(s.ok() || s.IsNotFound()) << s.ToString();
    return s.ok() ? std::optional{value} : std::nullopt;
  }
  [[nodiscard]] std::unique_ptr<rocksdb::Iterator> iterate(const rocksdb::Snapshot* as_of = nullptr) {
    rocksdb::ReadOptions options;
    options.snapshot = as_of;
    return std::unique_ptr<rocksdb::Iterator>{db_->NewIterator(options)};
  }

 private:
  void open() {
    const rocksdb::Status s = open_database(db_, options_, directory_.path().string());
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  store_support::temporary_directory directory_;
  rocksdb::Options options_;
  std::unique_ptr<rocksdb::DB> db_;
};

using pairs = std::vector<std::pair<std::string, std::string>>;

pairs upwards(rocksdb::Iterator& at) {
  pairs out;
  for (at.SeekToFirst(); at.Valid(); at.Next()) out.emplace_back(at.key().ToString(), at.value().ToString());
  return out;
}

pairs downwards(rocksdb::Iterator& at) {
  pairs out;
  for (at.SeekToLast(); at.Valid(); at.Prev()) out.emplace_back(at.key().ToString(), at.value().ToString());
  return out;
}

/// Some that share more than a number's bytes, some that are hard to tell apart: long common prefixes, one
/// the beginning of another, zeros at the end.
std::string hard_key(std::mt19937_64& random) {
  static const std::vector<std::string> heads{
      "", "p", std::string{"p\0", 2}, "payment-0000000", "payment-00000000", std::string(8, '\0'), "zz"};
  if (random() % 3 == 0) return "account-" + std::to_string(10'000'000 + random() % 400 * 100'003);
  std::string key = heads[random() % heads.size()];
  for (std::uint64_t n = random() % 4; n > 0; --n) key += "\0\1ab\xff"[random() % 5];
  return key;
}

void expect_same(database_of_hashes& db, const rows& expected, const rocksdb::Snapshot* as_of,
                 std::mt19937_64& random) {
  const auto at = db.iterate(as_of);
  EXPECT_EQ(upwards(*at), pairs(expected.begin(), expected.end()));
  EXPECT_EQ(downwards(*at), pairs(expected.rbegin(), expected.rend()));
  for (int n = 0; n < 20; ++n) {
    const std::string key = hard_key(random);
    const auto found = expected.find(key);
    EXPECT_EQ(db.get(key, as_of), found == expected.end() ? std::nullopt : std::optional{found->second});
    at->Seek(key);
    const auto above = expected.lower_bound(key);
    ASSERT_EQ(at->Valid(), above != expected.end());
    if (at->Valid()) {
      EXPECT_EQ(at->key().ToString(), above->first);
    }
    at->SeekForPrev(key);
    const auto past = expected.upper_bound(key);
    ASSERT_EQ(at->Valid(), past != expected.begin());
    if (at->Valid()) {
      EXPECT_EQ(at->key().ToString(), std::prev(past)->first);
    }
  }
}

/// RocksDB writes a key's length, with its own 8 bytes, in as many bytes as it needs: one up to 127, two up
/// to 16,383.
TEST(a_hash_memtable, finds_keys_of_every_length) {
  database_of_hashes db{16};
  rows expected;
  for (const std::size_t length : {1U, 119U, 120U, 121U, 127U, 128U, 1033U, 16'375U, 16'376U, 20'000U}) {
    for (const char last : {'a', 'b'}) {
      const std::string key = std::string(length - 1, 'k') + last;
      db.put(key, "older");
      db.put(key, expected[key] = std::to_string(length) + last);
    }
  }
  const auto all_are_there = [&] {
    for (const auto& [key, value] : expected) EXPECT_EQ(db.get(key), value) << key.size();
    EXPECT_EQ(upwards(*db.iterate()), (pairs{expected.begin(), expected.end()}));
  };
  all_are_there();
  db.flush();
  all_are_there();
}

TEST(a_hash_memtable, answers_as_an_ordered_map_does_also_as_of_earlier) {
  for (const std::size_t buckets : {1U, 8U, 4096U}) {
    std::mt19937_64 random{buckets};
    database_of_hashes db{buckets};
    rows now;
    std::vector<std::pair<const rocksdb::Snapshot*, rows>> earlier;
    for (int step = 0; step < 1500; ++step) {
      const std::string key = hard_key(random);
      if (random() % 4 == 0) {
        now.erase(key);
        ASSERT_TRUE(db->Delete(rocksdb::WriteOptions{}, key).ok());
      } else {
        now[key] = std::to_string(step);
        db.put(key, now[key]);
      }
      if (step % 100 == 50) earlier.emplace_back(db->GetSnapshot(), now);
      if (step % 300 == 299) {
        expect_same(db, now, nullptr, random);
        for (const auto& [as_of, then] : earlier) expect_same(db, then, as_of, random);
      }
      if (step == 700) db.flush();  // from here on some versions of a key are in a file
      if (step == 1000) {
        for (const auto& [as_of, unused] : earlier) db->ReleaseSnapshot(as_of);
        earlier.clear();
        db.reopen();
      }
    }
    for (const auto& [as_of, unused] : earlier) db->ReleaseSnapshot(as_of);
    db.flush();
    expect_same(db, now, nullptr, random);
  }
}

TEST(a_hash_memtable, finds_what_shares_a_chain_with_thousands_of_versions_of_another_key) {
  constexpr int k_versions = 5000;
  database_of_hashes db{1};
  const rocksdb::Snapshot* early = nullptr;
  for (int n = 0; n < k_versions; ++n) {
    db.put("hot", std::to_string(n));
    if (n == 10) early = db->GetSnapshot();
    if (n % 1000 == 500) db.put("cold-" + std::to_string(n), "there");
  }
  EXPECT_EQ(db.get("hot"), std::to_string(k_versions - 1));
  EXPECT_EQ(db.get("hot", early), "10");
  const std::vector<std::string> names{"cold-500", "cold-2500", "cold-4500", "hot", "never"};
  const std::vector<rocksdb::Slice> keys(names.begin(), names.end());
  std::vector<std::string> values;
  const std::vector<rocksdb::Status> found = db->MultiGet(rocksdb::ReadOptions{}, keys, &values);
  EXPECT_THAT(values, ::testing::ElementsAre("there", "there", "there", std::to_string(k_versions - 1), ""));
  EXPECT_TRUE(found.back().IsNotFound());
  EXPECT_EQ(upwards(*db.iterate()).size(), 6U);
  db->ReleaseSnapshot(early);
}

TEST(a_hash_memtable, orders_keys_that_differ_behind_the_bytes_that_are_compared_as_one_number) {
  database_of_hashes db{64};
  rows expected;
  for (int n = 0; n < 50; ++n) {
    for (const char* end : {"b", "a"}) {
      const std::string key = "k" + std::to_string(10'000'000 + n) + "-alike-" + end;
      db.put(key, end);
      expected[key] = end;
    }
  }
  EXPECT_EQ(upwards(*db.iterate()), pairs(expected.begin(), expected.end()));
}

TEST(a_hash_memtable, shows_an_iterator_only_what_was_there_when_it_was_made) {
  database_of_hashes db{16};
  db.put("b", "1");
  const auto before = db.iterate();
  EXPECT_THAT(upwards(*before), ::testing::ElementsAre(std::pair{"b", "1"}));
  db.put("a", "2");
  db.put("b", "2");
  db.flush();
  EXPECT_THAT(upwards(*before), ::testing::ElementsAre(std::pair{"b", "1"}));
  EXPECT_THAT(upwards(*db.iterate()), ::testing::ElementsAre(std::pair{"a", "2"}, std::pair{"b", "2"}));
}

TEST(a_hash_memtable, asks_for_huge_pages_for_each_block_of_rows_and_finds_them_in_all) {
  if (!store_support::kernel_has_huge_pages()) GTEST_SKIP() << "this kernel has none";
  constexpr std::size_t k_mebibyte = std::size_t{1} << 20U;
  constexpr std::size_t k_to_a_block = 7;
  constexpr std::size_t k_rows = 20;
  database_of_hashes db{16, 64 * k_mebibyte, (k_to_a_block + 1) * k_mebibyte};
  rows all;
  std::set<std::string> on_whole_pages{"large"};
  const auto put = [&](const std::string& key, std::size_t bytes, char filled_with) {
    all[key] = std::string(bytes, filled_with);
    db.put(key, all[key]);
  };
  for (std::size_t n = 0; n < k_rows; ++n) {
    if (n == k_rows - 2) put("large", 4 * k_mebibyte, '-');  // a block of its own in between
    put(std::to_string(n), k_mebibyte, static_cast<char>('a' + n));
    // A page is 2 MiB: so much at a block's end, where its rows begin, may be a part of one, or at its
    // beginning.
    const std::size_t in_block = n % k_to_a_block;
    if (in_block > 1 && in_block != k_to_a_block - 1) on_whole_pages.insert(std::to_string(n));
  }
  const auto at = db.iterate();
  for (at->SeekToFirst(); at->Valid(); at->Next()) {
    const rocksdb::Slice value = at->value();  // as it lies in the memtable
    if (on_whole_pages.erase(at->key().ToString()) == 0) continue;
    EXPECT_TRUE(store_support::is_advised_to_be_huge(value.data() + value.size() / 2))
        << at->key().ToString();
  }
  EXPECT_TRUE(on_whole_pages.empty());
  EXPECT_EQ(upwards(*at), pairs(all.begin(), all.end()));
}

TEST(a_hash_memtable, is_empty_and_may_be_iterated_over) {
  database_of_hashes db{16};
  const auto at = db.iterate();
  EXPECT_TRUE(upwards(*at).empty());
  EXPECT_TRUE(downwards(*at).empty());
  at->SeekForPrev("a");
  EXPECT_FALSE(at->Valid());
}

TEST(a_hash_memtable, is_read_by_many_while_it_is_written_flushed_and_made_anew) {
  constexpr int k_keys = 50;
  constexpr int k_rounds = 400;
  database_of_hashes db{16, std::size_t{64} << 10U};  // so small that it is flushed again and again
  const auto key_of = [](int n) { return "key-" + std::to_string(1000 + n); };
  for (int n = 0; n < k_keys; ++n) db.put(key_of(n), std::to_string(10'000));
  std::atomic<bool> done{false};
  std::atomic<int> looks{0};
  const auto read = [&](unsigned seed) {
    std::mt19937_64 random{seed};
    std::vector<int> seen(k_keys, 0);
    while (!done.load()) {
      const int n = static_cast<int>(random() % k_keys);
      const int value = std::stoi(db.get(key_of(n)).value_or("-1"));
      EXPECT_GE(value, seen[static_cast<std::size_t>(n)]) << "a value went back";
      seen[static_cast<std::size_t>(n)] = value;
      if (random() % 16 == 0) {
        EXPECT_EQ(upwards(*db.iterate()).size(), static_cast<std::size_t>(k_keys));
      }
      looks.fetch_add(1);
    }
  };
  std::thread first{read, 1};
  std::thread second{read, 2};
  int rounds = 0;
  for (; rounds < k_rounds || looks.load() < 1000; ++rounds) {
    rocksdb::WriteBatch batch;
    for (int n = 0; n < k_keys; ++n) ASSERT_TRUE(batch.Put(key_of(n), std::to_string(10'001 + rounds)).ok());
    ASSERT_TRUE(db->Write(rocksdb::WriteOptions{}, &batch).ok());
  }
  done.store(true);
  first.join();
  second.join();
  EXPECT_EQ(db.get(key_of(7)), std::to_string(10'000 + rounds));
}

}  // namespace
}  // namespace ratchet
