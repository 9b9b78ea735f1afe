// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

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
};

/// The heads of the rows last read or written, so that steps which need no snapshot need not ask the database
/// for them. What is in here is what the database has. Bounded: two generations; when the younger is full,
/// the older goes. Thread-safety: one owner thread.
class recent_rows {
 public:
  explicit recent_rows(std::uint64_t bytes);
  /// Valid until the next call. Null: not known; the database must be asked.
  [[nodiscard]] const row_head* find(std::string_view aggregate);
  void put(std::string_view aggregate, const row_head&);

 private:
  struct hash {
    using is_transparent = void;
    using is_avalanching = void;  // std::hash of strings is murmur in libstdc++: its bits are spread already
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };
  using map = boost::unordered_flat_map<std::string, row_head, hash, std::equal_to<>>;
  void make_room();

  std::uint64_t bytes_of_a_generation_;
  std::uint64_t bytes_{0};
  map young_;
  map old_;
};

}  // namespace ratchet
