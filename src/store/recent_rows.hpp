// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/stream_state.hpp"
#include "store/huge_pages.hpp"

namespace ratchet {

/// An aggregate's row without its snapshot.
struct row_head {
  sequence last;
  std::optional<event_id> id;
  hash128 payload_hash;
  std::optional<timestamp> time;
  bool deleted{false};
  bool external{false};  ///< its snapshot lies in `snapshots`
  bool has_last{true};
  bool waits{false};
  friend bool operator==(const row_head&, const row_head&) = default;
};

/// The heads of the rows last read or written, so that steps which need no snapshot need not ask the database
/// for them. What is in here is what the database has. Aggregates go by hash_of_aggregate() alone: what it
/// would take for two to share it, see id_mark. Bounded: each aggregate has one bucket, and in a full one the
/// row that was not asked for the longest gives way; so all of the memory is used, 76 bytes a row. Beside two
/// generations of Boost's map, which had room for a third of the rows, that took a ninth off an event's
/// processor time with 2 M aggregates in 1 GiB. Thread-safety: one owner thread.
class recent_rows {
 public:
  /// `bytes`: the memory it may take; grows into it. Too few for a bucket: none is remembered. `has_all`: the
  /// database has no rows yet.
  recent_rows(std::uint64_t bytes, bool has_all);
  /// None: not known; the database must be asked, unless this has all rows.
  [[nodiscard]] std::optional<row_head> find(const hash128& aggregate);
  /// For a loop over `count` aggregates, now at number `at`: asks the processor to load what find() and put()
  /// of those ahead will look at first, and of nearer ones, where that has come, the row. `hash_of`: the hash
  /// of the aggregate of a number. With 5 M aggregates waiting for rows took 4 % of a run's processor time.
  template <class HashOf>
  void prefetch_ahead(std::size_t at, std::size_t count, const HashOf& hash_of) const noexcept {
    if (at + k_buckets_ahead < count) prefetch_bucket(hash_of(at + k_buckets_ahead));
    if (at + k_rows_ahead < count) prefetch_row(hash_of(at + k_rows_ahead));
  }
  void put(const hash128& aggregate, const row_head&);
  /// The row goes from the database.
  void erase(const hash128& aggregate);
  /// No row was forgotten: what is not in here is not in the database either.
  [[nodiscard]] bool has_all() const noexcept { return has_all_; }

 private:
  static constexpr std::size_t k_ways = 8;
  static constexpr std::size_t k_buckets_ahead = 16;
  static constexpr std::size_t k_rows_ahead = 8;

  struct packed_row {
    hash128 aggregate;
    sequence last;
    event_id id;
    hash128 payload_hash;
    std::int64_t time;  ///< milliseconds since 1970
  };
  /// What is looked at first lies in one line of the processor's cache. Empty places are older than all
  /// others.
  struct alignas(32) bucket {
    std::array<std::uint16_t, k_ways> tags{};  ///< of the aggregates' hashes; 0: the place is empty
    std::array<std::uint8_t, k_ways> ages{0, 1, 2, 3, 4, 5, 6, 7};  ///< the order of use; 0: the last
    std::array<std::uint8_t, k_ways> flags{};
    std::array<packed_row, k_ways> rows;

    /// Its place, or k_ways.
    [[nodiscard]] std::size_t place_of(const hash128& aggregate) const noexcept;
    [[nodiscard]] std::size_t place_of_age(std::size_t age) const noexcept;
    [[nodiscard]] bool is_full() const noexcept;
    void use(std::size_t place) noexcept;
    void erase(std::size_t place) noexcept;
    /// In place of the oldest.
    void add(std::uint8_t its_flags, const packed_row&) noexcept;
  };

  [[nodiscard]] std::size_t bucket_of(const hash128& aggregate) const noexcept;
  void prefetch_bucket(const hash128& aggregate) const noexcept;
  void prefetch_row(const hash128& aggregate) const noexcept;
  void grow();

  std::size_t most_buckets_;
  bool has_all_;
  std::vector<bucket, huge_page_allocator<bucket>> buckets_;
};

}  // namespace ratchet
