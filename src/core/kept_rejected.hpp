// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/record.hpp"
#include "core/stream_state.hpp"
#include "ratchet/types.hpp"

namespace ratchet {

/// How many rejected records of a stream are kept, and since when.
struct rejected_limits {
  std::size_t records{1000};          ///< the newest
  std::optional<timestamp> before{};  ///< those rejected then or before go, by the clock; none: none for age
};

/// When a rejected record was found: the step, and which of its rejected ones.
struct rejected_place {
  std::uint64_t step{0};
  std::uint32_t ordinal{0};
  friend auto operator<=>(const rejected_place&, const rejected_place&) = default;
};

/// Which rejected records of one stream are kept: their positions, in the order in which they were rejected.
/// The records themselves are the store's. Thread-safety: one owner thread.
class kept_rejected {
 public:
  /// Where it was read; of plain files a hash of its content in place of an offset.
  struct position {
    topic_partition where;
    std::int64_t offset{0};
    std::uint32_t index{0};  ///< which of its record's events it is
    [[nodiscard]] static position of(const rejected_row&);
    [[nodiscard]] event_place place() const noexcept { return {offset, index}; }
    friend auto operator<=>(const position&, const position&) = default;
  };

  /// A record that is read and rejected again takes its new place.
  void add(const position&, rejected_place, timestamp at);
  /// Forgets the oldest until the limits are kept, and returns them, the oldest first. One that was rejected
  /// while the clock was ahead keeps those behind it for as long.
  std::vector<position> trim(const rejected_limits&);
  /// When the one was rejected that goes next; none where none is kept.
  [[nodiscard]] std::optional<timestamp> oldest() const;
  /// The newest ones first, at most `limit`.
  [[nodiscard]] std::vector<position> newest(std::size_t limit) const;
  [[nodiscard]] std::size_t size() const noexcept { return by_age_.size(); }
  friend bool operator==(const kept_rejected&, const kept_rejected&) = default;

 private:
  std::map<rejected_place, std::pair<position, timestamp>> by_age_;
  std::map<position, rejected_place> by_position_;
};

}  // namespace ratchet
