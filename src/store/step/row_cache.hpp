// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/stream_state.hpp"
#include "store/engine/huge_pages.hpp"

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
  bool has_seen{false};
  timestamp seen{};  ///< aggregate_row::seen
  friend bool operator==(const row_head&, const row_head&) = default;
};

/// What is remembered of a row.
struct remembered_row {
  row_head head;
  /// False: `id` and `payload_hash` are not told. Only an event of the row's own number is compared with
  /// them.
  bool is_whole{true};
};

/// The heads of the rows last read or written, so that steps which need no snapshot need not ask the database
/// for them. What is in here is what the database has. Aggregates go by hash_of_aggregate() alone: what it
/// would take for two to share it, see id_mark. Bounded: an aggregate has a place in one of two buckets, and
/// where both are full, the row that was not asked for the longest in the first one gives way; so all of the
/// memory is used, 36 bytes a row. Id and payload hash are kept of fewer rows, 64 bytes each, in an eighth of
/// the memory: with them all rows took twice as much, and at 20 M aggregates 23 % of a run's processor time
/// went into reading those that were forgotten, in place of 9 %. A row of a stream that has a `retention`
/// takes 8 bytes more. Thread-safety: one owner thread.
class row_cache {
 public:
  /// `bytes`: the memory it may take; grows into it. Too few for a bucket: none is remembered. `has_all`: the
  /// database has no rows yet.
  row_cache(std::uint64_t bytes, bool has_all);
  /// None: not known; the database must be asked, unless this has all rows.
  [[nodiscard]] std::optional<remembered_row> find(const hash128& aggregate);
  /// For a loop over `count` aggregates, now at number `at`: asks the processor to load what find() and put()
  /// of those ahead will look at first, and of nearer ones, where that has come, the row. `hash_of`: the hash
  /// of the aggregate of a number. With 5 M aggregates waiting for rows took 4 % of a run's processor time.
  template <class HashOf>
  void prefetch_ahead(std::size_t at, std::size_t count, const HashOf& hash_of) const noexcept {
    if (at + k_buckets_ahead < count) prefetch_buckets(hash_of(at + k_buckets_ahead));
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
    std::uint64_t number;  ///< of the sequence; an epoch other than 0 is in the rest
    std::int64_t time;     ///< milliseconds since 1970
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
    [[nodiscard]] std::size_t used() const noexcept;
    void use(std::size_t place) noexcept;
    void erase(std::size_t place) noexcept;
    /// In place of the oldest. Returns where.
    std::size_t add(std::uint8_t its_flags, const packed_row&) noexcept;
  };
  /// The rest of a row. It is the row's as long as it has its name.
  struct alignas(64) rest {
    hash128 aggregate;
    event_id id;
    hash128 payload_hash;
    std::uint64_t epoch{0};
  };
  struct position {
    std::size_t bucket;
    std::size_t place;
  };
  using bucket_table = std::vector<bucket, huge_page_allocator<bucket>>;
  using rest_table = std::vector<rest, huge_page_allocator<rest>>;
  /// Of the rows of a bucket: milliseconds since 1970.
  using seen_times = std::array<std::int64_t, k_ways>;
  using seen_table = std::vector<seen_times, huge_page_allocator<seen_times>>;

  [[nodiscard]] std::size_t first_of(const hash128& aggregate) const noexcept;
  [[nodiscard]] std::size_t second_of(const hash128& aggregate) const noexcept;
  [[nodiscard]] std::optional<position> position_of(const hash128& aggregate) const noexcept;
  /// Of the two buckets the emptier one.
  [[nodiscard]] std::size_t roomier_of(const hash128& aggregate) const noexcept;
  /// Rows share one once there are more of them.
  [[nodiscard]] std::size_t rest_of(const position& at) const noexcept {
    return (at.bucket * k_ways + at.place) % rests_.size();
  }
  void prefetch_buckets(const hash128& aggregate) const noexcept;
  void prefetch_row(const hash128& aggregate) const noexcept;
  void resize(std::size_t buckets);
  void grow();
  void keep_seen();

  std::size_t most_buckets_;
  std::size_t most_rests_;
  bool has_all_;
  bucket_table buckets_;
  rest_table rests_;
  bool keeps_seen_{false};
  seen_table seen_;  ///< as many as buckets; none while no row came that has it
};

}  // namespace ratchet
