// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/engine/hash_memtable.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>
#include <mutex>
#include <new>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "core/byte_io.hpp"
#include "core/xxhash_inline.hpp"
#include "store/engine/huge_pages.hpp"

namespace ratchet {

namespace {

using comparator = rocksdb::MemTableRep::KeyComparator;
/// As RocksDB hands rows over: varint32 length, internal key, varint32 length, value.
using row = const char*;
using sorted_rows = std::vector<row>;
/// Rows lie all over memory: so far ahead the processor is told which ones come next. Takes a seventh off a
/// flush's time.
constexpr std::size_t k_ahead = 8;

/// The internal key's last 8 bytes are sequence number and kind.
std::string_view user_key(const rocksdb::Slice& internal) noexcept {
  constexpr std::size_t k_trailer = 8;
  return {internal.data(), internal.size() - k_trailer};
}

/// As KeyComparator::decode_key(), which is a virtual call into RocksDB and took 2.5 % of a run.
std::string_view user_key_of(row at) noexcept {
  constexpr std::uint32_t k_more = 0x80;  // of a varint32's byte: another one follows, with the next 7 bits
  std::uint32_t length = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(*at++);
    length |= (byte & (k_more - 1)) << shift;
    if ((byte & k_more) == 0) return user_key({at, length});
  }
}

/// The row's bytes follow. Nothing of it changes once its bucket leads to it.
struct node {
  const node* next;    ///< the one that went into the bucket before
  const node* other;   ///< the first behind the run of this row's key, of which there may be thousands
  std::uint32_t hash;  ///< the upper half: the lower one has chosen the bucket

  [[nodiscard]] row bytes() const noexcept { return reinterpret_cast<row>(this + 1); }
};

/// An arena gives out bytes: the first aligned one of them.
void* aligned(char* raw, std::size_t align) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(raw);
  return raw + (align - address % align) % align;
}

/// The rows of a key that went into a bucket one behind the other, by the newest of them.
struct key_run {
  std::uint64_t head{0};  ///< some of the key's bytes, to be compared with one instruction
  const node* newest;
};

/// Puts runs in the order of their newest rows. Keys share their first bytes, and a comparison costs two
/// cache misses: so they are ordered by the 8 bytes behind what all of them share, as numbers that lie side
/// by side, and those of equal ones in the same way by what follows.
class run_sorter {
 public:
  explicit run_sorter(const comparator& compare) : compare_{&compare} {}

  void sort(std::vector<key_run>& runs) const { sort(runs, 0); }

 private:
  static constexpr std::size_t k_few = 16;

  [[nodiscard]] static std::string_view key_of(const key_run& e) noexcept {
    return user_key_of(e.newest->bytes());
  }

  /// `shared`: so many bytes are equal in all of them.
  void sort(std::span<key_run> entries, std::size_t shared) const {
    const auto by_key = [&](const key_run& a, const key_run& b) {
      return (*compare_)(a.newest->bytes(), b.newest->bytes()) < 0;
    };
    if (entries.size() <= k_few) {
      std::sort(entries.begin(), entries.end(), by_key);
      return;
    }
    const std::string_view first = key_of(entries.front());
    std::size_t common = first.size();
    std::size_t shortest = first.size();
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (i + k_ahead < entries.size()) __builtin_prefetch(entries[i + k_ahead].newest);
      const std::string_view key = key_of(entries[i]);
      shortest = std::min(shortest, key.size());
      common = std::min(common, shortest);
      const auto differs = std::mismatch(first.begin() + static_cast<std::ptrdiff_t>(shared),
                                         first.begin() + static_cast<std::ptrdiff_t>(common),
                                         key.begin() + static_cast<std::ptrdiff_t>(shared));
      common = static_cast<std::size_t>(differs.first - first.begin());
    }
    if (common == shortest) {  // one of them ends where the others differ, or all are of one key
      std::sort(entries.begin(), entries.end(), by_key);
      return;
    }
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (i + k_ahead < entries.size()) __builtin_prefetch(entries[i + k_ahead].newest);
      entries[i].head = layout::leading_bytes(key_of(entries[i]).substr(common));
    }
    std::sort(entries.begin(), entries.end(),
              [](const key_run& a, const key_run& b) { return a.head < b.head; });
    for (auto begin = entries.begin(); begin != entries.end();) {
      const auto end =
          std::find_if(begin, entries.end(), [&](const key_run& e) { return e.head != begin->head; });
      if (end - begin == 1) {  // most are alone, and nobody need go there
        begin = end;
        continue;
      }
      const bool ends_inside = std::any_of(
          begin, end, [&](const key_run& e) { return key_of(e).size() < common + sizeof begin->head; });
      if (ends_inside) {
        std::sort(begin, end, by_key);  // filled up with zeros, it may look like one that goes on with zeros
      } else {
        sort(std::span{begin, end}, common + sizeof begin->head);
      }
      begin = end;
    }
  }

  const comparator* compare_;
};

class hash_memtable final : public rocksdb::MemTableRep {
 public:
  hash_memtable(const comparator& compare, rocksdb::Allocator* allocator, std::size_t buckets,
                std::size_t block_bytes, std::uint64_t seed)
      : MemTableRep{allocator},
        compare_{compare},
        seed_{seed},
        mask_{buckets - 1},
        block_bytes_{block_bytes} {
    buckets_ = static_cast<bucket*>(allocate(buckets * sizeof(bucket)));
    for (std::size_t i = 0; i < buckets; ++i) new (buckets_ + i) bucket;
  }

  rocksdb::KeyHandle Allocate(std::size_t length, char** out) override {
    node* fresh = new (allocate(sizeof(node) + length)) node;
    *out = reinterpret_cast<char*>(fresh + 1);
    return fresh;
  }

  /// The row goes into its bucket some rows later, when the processor has had time to load what it meets
  /// there: to wait for that took 5 % of a run's processor time.
  void Insert(rocksdb::KeyHandle handle) override {
    node* fresh = static_cast<node*>(handle);
    const std::uint64_t hash = hash_of(key_of(fresh));
    fresh->hash = static_cast<std::uint32_t>(hash >> 32U);
    bucket* const at = buckets_ + (hash & mask_);
    __builtin_prefetch(at, 1);
    const std::scoped_lock lock{entering_mutex_};
    if (entering_count_ == k_entering) link_oldest();
    entering_[(entering_first_ + entering_count_++) % k_entering] = {fresh, at};
    if (entering_count_ > k_entering / 2) prefetch_before(entering_count_ - 1 - k_entering / 2);
    any_entering_.store(true, std::memory_order_release);
  }

  void MarkReadOnly() override { finish_entering(); }

  [[nodiscard]] bool Contains(const char* wanted) const override {
    const std::string_view key = user_key_of(wanted);
    for (const node* n = find(key); n != nullptr; n = next_of(n, key)) {
      if (compare_(n->bytes(), wanted) == 0) return true;
    }
    return false;
  }

  void MarkFlushed() override {
    const std::scoped_lock lock{order_mutex_};
    order_.reset();
  }

  /// What the allocator does not count: the order that is kept, 8 bytes a row, a tenth of a short row.
  /// RocksDB takes it as an error that a memtable which takes no more rows grows, so it is not told.
  std::size_t ApproximateMemoryUsage() override { return 0; }

  Iterator* GetIterator(rocksdb::Arena* arena) override;
  Iterator* GetDynamicPrefixIterator(rocksdb::Arena* arena) override;

 private:
  class ordered;
  class chain;
  static constexpr std::size_t k_entering = 16;
  struct bucket {
    std::atomic<const node*> first{nullptr};
    /// Of the first; for the writer, which need not go there to see that it is another key.
    std::uint32_t hash{0};
  };

  /// A row that has not come into its bucket yet.
  struct entering_row {
    node* fresh;
    bucket* at;
  };

  /// Of the row in that place of those that are entering, whose bucket has come: what it will be compared
  /// with.
  void prefetch_before(std::size_t place) const noexcept {
    constexpr std::size_t k_line = 64;
    const entering_row& one = entering_[(entering_first_ + place) % k_entering];
    const node* before = one.at->first.load(std::memory_order_relaxed);
    if (before == nullptr || one.at->hash != one.fresh->hash) return;
    __builtin_prefetch(before);
    __builtin_prefetch(reinterpret_cast<const char*>(before) + k_line);
  }

  void link_oldest() const {
    const auto [fresh, at] = entering_[entering_first_];
    entering_first_ = (entering_first_ + 1) % k_entering;
    --entering_count_;
    const node* before = at->first.load(std::memory_order_relaxed);
    const bool again = before != nullptr && at->hash == fresh->hash && key_of(before) == key_of(fresh);
    fresh->next = before;
    fresh->other = again ? before->other : before;
    at->hash = fresh->hash;
    at->first.store(fresh, std::memory_order_release);  // whoever reads it sees the row
    // Behind it: who sees this number finds as many rows.
    rows_.store(rows_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  /// Before anything is looked for. RocksDB shows a row's sequence number to nobody before the row is
  /// inserted: so whoever may see the row sees here that it is entering, or finds it in its bucket.
  void finish_entering() const {
    if (!any_entering_.load(std::memory_order_acquire)) return;
    const std::scoped_lock lock{entering_mutex_};
    while (entering_count_ > 0) link_oldest();
    any_entering_.store(false, std::memory_order_release);
  }

  [[nodiscard]] std::uint64_t hash_of(std::string_view key) const noexcept {
    return XXH3_64bits_withSeed(key.data(), key.size(), seed_);
  }

  void* allocate(std::size_t bytes) {
    char* raw = nullptr;
    const std::size_t with_padding = bytes + alignof(node) - 1;
    MemTableRep::Allocate(with_padding, &raw);
    advise_on_block_of(raw, with_padding);
    return aligned(raw, alignof(node));
  }

  /// An arena takes a block as it is needed and gives it out from its end; of what is larger than a quarter
  /// of one it makes a block of its own; and its first 2 KiB lie in the arena itself.
  void advise_on_block_of(const char* given, std::size_t bytes) noexcept {
    constexpr std::size_t k_most_of_an_arena = 4096;
    const auto begin = reinterpret_cast<std::uintptr_t>(given);
    if (block_bytes_ == 0 || (begin >= block_ && begin - block_ < block_bytes_)) return;
    if (begin - reinterpret_cast<std::uintptr_t>(allocator_) < k_most_of_an_arena) return;
    if (bytes > block_bytes_ / 4) {
      advise_huge_pages(begin, bytes);
    } else {
      block_ = begin + bytes - block_bytes_;
      advise_huge_pages(block_, block_bytes_);
    }
  }

  [[nodiscard]] static std::string_view key_of(const node* n) noexcept { return user_key_of(n->bytes()); }

  /// The newest row of this key, or null.
  [[nodiscard]] const node* find(std::string_view key) const {
    finish_entering();
    const std::uint64_t hash = hash_of(key);
    return among(buckets_[hash & mask_].first.load(std::memory_order_acquire),
                 static_cast<std::uint32_t>(hash >> 32U), key);
  }
  [[nodiscard]] static const node* next_of(const node* n, std::string_view key) noexcept {
    return among(n->next, n->hash, key);
  }
  [[nodiscard]] static const node* among(const node* n, std::uint32_t hash, std::string_view key) noexcept {
    while (n != nullptr && (n->hash != hash || key_of(n) != key)) n = n->other;
    return n;
  }

  /// Made once for as many rows as there are. A row that comes in meanwhile has a sequence number that nobody
  /// who asked before may see.
  [[nodiscard]] std::shared_ptr<const sorted_rows> in_order() const {
    finish_entering();
    const std::scoped_lock lock{order_mutex_};
    const std::size_t count = rows_.load(std::memory_order_acquire);
    if (order_ && order_->size() == count) return order_;
    // The rows of a run are in order already, the newest first, as internal keys are; and where a key has two
    // runs, all of one are newer than the other's. So runs are ordered, which are fewer.
    std::vector<key_run> runs;
    runs.reserve(count);
    for (std::size_t i = 0; i <= mask_; ++i) {
      if (i + k_ahead <= mask_)
        __builtin_prefetch(buckets_[i + k_ahead].first.load(std::memory_order_relaxed));
      for (const node* n = buckets_[i].first.load(std::memory_order_acquire); n != nullptr; n = n->other)
        runs.push_back({.newest = n});
    }
    run_sorter{compare_}.sort(runs);
    auto rows = std::make_shared<sorted_rows>();
    rows->reserve(count);
    for (const key_run& run : runs) {
      for (const node* n = run.newest; n != run.newest->other; n = n->next) rows->push_back(n->bytes());
    }
    if (rows->size() == count) order_ = rows;
    return rows;
  }

  const comparator& compare_;
  const std::uint64_t seed_;
  const std::size_t mask_;
  const std::size_t block_bytes_;
  std::uintptr_t block_{0};  ///< where the arena's block begins that rows lie in now
  bucket* buckets_{nullptr};
  // In the order in which they came. Guarded by the mutex, and with them the writing to buckets.
  mutable std::mutex entering_mutex_;
  mutable std::array<entering_row, k_entering> entering_;
  mutable std::size_t entering_first_{0};
  mutable std::size_t entering_count_{0};
  mutable std::atomic<bool> any_entering_{false};
  mutable std::atomic<std::size_t> rows_{0};  ///< in buckets
  mutable std::mutex order_mutex_;
  mutable std::shared_ptr<const sorted_rows> order_;
};

/// Over the rows as they are when it is first placed; what is written later has a sequence number that
/// whoever iterates must not see, unless it is let see more: see the header.
class hash_memtable::ordered final : public rocksdb::MemTableRep::Iterator {
 public:
  explicit ordered(const hash_memtable& table) : table_{&table} {}

  [[nodiscard]] bool Valid() const override { return rows_ && at_ < rows_->size(); }
  [[nodiscard]] const char* key() const override { return (*rows_)[at_]; }
  void Next() override {
    ++at_;
    if (at_ + k_ahead < rows_->size()) __builtin_prefetch((*rows_)[at_ + k_ahead]);
  }
  void Prev() override { at_ = at_ == 0 ? rows_->size() : at_ - 1; }
  void Seek(const rocksdb::Slice& wanted, const char*) override {
    prepare();
    at_ = static_cast<std::size_t>(
        std::lower_bound(rows_->begin(), rows_->end(), wanted,
                         [&](row r, const rocksdb::Slice& key) { return table_->compare_(r, key) < 0; }) -
        rows_->begin());
  }
  void SeekForPrev(const rocksdb::Slice& wanted, const char* memtable_key) override {
    Seek(wanted, memtable_key);
    if (!Valid() || table_->compare_(key(), wanted) > 0) Prev();
  }
  void SeekToFirst() override {
    prepare();
    at_ = 0;
  }
  void SeekToLast() override {
    prepare();
    at_ = rows_->empty() ? 0 : rows_->size() - 1;
  }

 private:
  void prepare() {
    if (!rows_) rows_ = table_->in_order();
  }
  const hash_memtable* table_;
  std::shared_ptr<const sorted_rows> rows_;
  std::size_t at_{std::numeric_limits<std::size_t>::max()};
};

/// The rows of one key, from the newest that a look-up may see. They lie in that order, as there is one
/// writer, whose sequence numbers ascend, also where a log is replayed.
class hash_memtable::chain final : public rocksdb::MemTableRep::Iterator {
 public:
  explicit chain(const hash_memtable& table) : table_{&table} {}

  // RocksDB's own Get() makes one of these with `new`; whether it also deletes it depends on the version;
  // 7.8 and 11.8 do not. So its memory is never given back: each thread has room for the one that it uses at
  // a time.
  static void* operator new(std::size_t) {
    alignas(chain) static thread_local std::byte room[sizeof(chain)];
    return room;
  }
  static void operator delete(void*) {}

  [[nodiscard]] bool Valid() const override { return at_ != nullptr; }
  [[nodiscard]] const char* key() const override { return at_->bytes(); }
  void Next() override { at_ = hash_memtable::next_of(at_, key_); }
  void Seek(const rocksdb::Slice& wanted, const char*) override {
    key_ = user_key(wanted);
    at_ = table_->find(key_);
    while (at_ != nullptr && table_->compare_(at_->bytes(), wanted) < 0) Next();
  }
  // A look-up does none of these.
  void Prev() override { at_ = nullptr; }
  void SeekForPrev(const rocksdb::Slice&, const char*) override { at_ = nullptr; }
  void SeekToFirst() override { at_ = nullptr; }
  void SeekToLast() override { at_ = nullptr; }

 private:
  const hash_memtable* table_;
  std::string_view key_;  ///< the caller's, for as long as it looks
  const node* at_{nullptr};
};

/// Lends memory from the arena in which whoever iterates wants the iterator. RocksDB installs no header for
/// it; it is an allocator, first of all, and a memtable may take memory from its allocator.
class arena_room final : public rocksdb::MemTableRep {
 public:
  explicit arena_room(rocksdb::Arena* arena) : MemTableRep{reinterpret_cast<rocksdb::Allocator*>(arena)} {}
  void* take(std::size_t bytes, std::size_t align) {
    char* raw = nullptr;
    Allocate(bytes + align - 1, &raw);
    return aligned(raw, align);
  }
  void Insert(rocksdb::KeyHandle) override {}
  [[nodiscard]] bool Contains(const char*) const override { return false; }
  std::size_t ApproximateMemoryUsage() override { return 0; }
  Iterator* GetIterator(rocksdb::Arena*) override { return nullptr; }
};

rocksdb::MemTableRep::Iterator* hash_memtable::GetIterator(rocksdb::Arena* arena) {
  if (arena == nullptr) return new ordered{*this};
  return new (arena_room{arena}.take(sizeof(ordered), alignof(ordered)))
      ordered{*this};  // destroyed, not freed
}

rocksdb::MemTableRep::Iterator* hash_memtable::GetDynamicPrefixIterator(rocksdb::Arena* arena) {
  if (arena != nullptr) return GetIterator(arena);
  return new chain{*this};
}

class hash_memtable_factory final : public rocksdb::MemTableRepFactory {
 public:
  explicit hash_memtable_factory(std::size_t buckets, std::size_t block_bytes)
      : buckets_{buckets}, block_bytes_{block_bytes} {}
  using MemTableRepFactory::CreateMemTableRep;
  rocksdb::MemTableRep* CreateMemTableRep(const comparator& compare, rocksdb::Allocator* allocator,
                                          const rocksdb::SliceTransform*, rocksdb::Logger*) override {
    return new hash_memtable{compare, allocator, buckets_, block_bytes_, seed_};
  }
  [[nodiscard]] const char* Name() const override { return "ratchet::hash_memtable"; }

 private:
  std::size_t buckets_;
  std::size_t block_bytes_;
  /// Drawn at each opening, so that ids which fall into one chain cannot be known beforehand.
  std::uint64_t seed_{std::uint64_t{std::random_device{}()} << 32U | std::random_device{}()};
};

}  // namespace

std::shared_ptr<rocksdb::MemTableRepFactory> make_hash_memtables(std::size_t buckets,
                                                                 std::size_t block_bytes) {
  return std::make_shared<hash_memtable_factory>(std::bit_ceil(std::max<std::size_t>(buckets, 1)),
                                                 block_bytes);
}

}  // namespace ratchet
