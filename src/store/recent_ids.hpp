// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "ratchet/types.hpp"

namespace ratchet {

/// Proves of most fresh ids that they are not stored, without asking the database: it remembers a fingerprint
/// of every (id, aggregate) filed above a boundary, the highest id that it does not remember. It never says
/// that an id is stored: a fingerprint that is found is looked up, like everything at or below the boundary.
/// Bounded: two generations of fingerprints; when the younger is full, the older goes and the boundary moves
/// up. Thread-safety: one owner thread.
class recent_ids {
 public:
  /// `stored`: the highest id in the database, or none. `bytes`: the memory it may take.
  recent_ids(std::optional<event_id> stored, std::uint64_t bytes);

  /// The highest id in the database but those that are kept apart.
  void start_above(const event_id& stored) { boundary_ = stored; }

  [[nodiscard]] bool surely_absent(const event_id&, std::string_view aggregate) const noexcept;
  /// The id is written, or about to be. `horizon`: the highest id that the stream's time lets one expect. An
  /// id beyond it, from a clock that is wrong, would lift the boundary over every honest id, for good; so
  /// some of those are kept apart, one by one.
  void add(const event_id&, std::string_view aggregate, const std::optional<event_id>& horizon);
  /// An id beyond the horizon, which `stored` was not to count. False: there is no place for it.
  [[nodiscard]] bool keep_apart(const event_id&, std::string_view aggregate);

 private:
  /// Open addressing; 0 is an empty place.
  struct generation {
    std::vector<std::uint64_t> places;
    std::size_t used{0};
    event_id highest;
    [[nodiscard]] bool has(std::uint64_t fingerprint) const noexcept;
    void add(std::uint64_t fingerprint);
  };
  static std::uint64_t fingerprint_of(const event_id&, std::string_view aggregate) noexcept;
  void grow_or_rotate();

  std::map<std::uint64_t, event_id> ahead_;  ///< by fingerprint
  std::optional<event_id> boundary_;
  std::size_t most_places_;
  generation young_;
  generation old_;
};

}  // namespace ratchet
