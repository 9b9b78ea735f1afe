// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <optional>

#include "core/stream_state.hpp"

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
};

/// The heads of the rows last read or written, so that steps which need no snapshot need not ask the database
/// for them. What is in here is what the database has. Aggregates go by hash_of_aggregate() alone: what it
/// would take for two to share it, see id_mark. Bounded: two generations; when the younger is full, the older
/// goes. Thread-safety: one owner thread.
class recent_rows {
 public:
  /// `has_all`: the database has no rows yet.
  recent_rows(std::uint64_t bytes, bool has_all);
  /// Valid until the next put(). Null: not known; the database must be asked, unless this has all rows.
  [[nodiscard]] const row_head* find(const hash128& aggregate) const;
  void put(const hash128& aggregate, const row_head&);
  /// The row goes from the database.
  void erase(const hash128& aggregate);
  /// No row was forgotten: what is not in here is not in the database either.
  [[nodiscard]] bool has_all() const noexcept { return has_all_; }

 private:
  struct hash {
    using is_avalanching = void;  // it is a hash
    std::size_t operator()(const hash128& h) const noexcept { return h.low; }
  };
  using map = boost::unordered_flat_map<hash128, row_head, hash>;

  std::size_t rows_of_a_generation_;
  bool has_all_;
  map young_;
  map old_;
};

}  // namespace ratchet
