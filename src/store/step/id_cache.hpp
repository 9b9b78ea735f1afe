// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "ratchet/types.hpp"
#include "store/engine/huge_pages.hpp"
#include "store/step/evicted_ids.hpp"

namespace ratchet {

/// An id of an aggregate in 16 bytes: the id XOR the aggregate's hash. Within one aggregate it is the id
/// itself; for two aggregates to share one takes a collision of 128 bits of a hash whose seed nobody knows.
struct id_mark {
  std::uint64_t high{0};
  std::uint64_t low{0};
  friend auto operator<=>(const id_mark&, const id_mark&) = default;
};

[[nodiscard]] constexpr id_mark mark_of(const event_id& id, const hash128& aggregate) noexcept {
  return {id.high ^ aggregate.high, id.low ^ aggregate.low};
}

/// Tells of most ids whether they are stored, without asking the database. The last ones are remembered
/// whole. Those before them are forgotten, but for a filter that is certain of what it does not have: it
/// answers for ids that come late and are new, as all do of a partition that is read behind the others. Below
/// a boundary, the highest id that went out of the filter too, nothing is known. Bounded: two generations
/// of either; when the younger is full, the older goes. Thread-safety: one owner thread.
class id_cache {
 public:
  enum class answer : std::uint8_t { absent, stored, unknown };

  /// `stored`: the highest id in the database, or none. `bytes`: the memory it may take, half of it for those
  /// that are remembered whole.
  id_cache(std::optional<event_id> stored, std::uint64_t bytes);

  /// What it will take of `bytes`: its tables double until they have no room to. More where these are too few
  /// for the first tables.
  [[nodiscard]] static std::uint64_t taken_of(std::uint64_t bytes) noexcept;

  /// No id above this one is in the database but those that are kept apart.
  void start_above(const event_id& stored);

  [[nodiscard]] answer find(const event_id&, const id_mark&) const noexcept;
  /// For a loop over `ids`, now at number `at`: asks the processor to load what find() and add() will look at
  /// of one ahead. `mark`: of an element, whose `id` it is.
  template <class Ids, class Mark>
  void prefetch_ahead(std::size_t at, const Ids& ids, const Mark& mark) const noexcept {
    if (at + k_ahead < ids.size()) prefetch(ids[at + k_ahead].id, mark(ids[at + k_ahead]));
  }
  /// The id is written, or about to be. `horizon`: the highest id that the stream's time lets one expect. An
  /// id beyond it, from a clock that is wrong, would lift the boundary over every honest id, for good; so
  /// some of those are kept apart, one by one.
  void add(const event_id&, const id_mark&, const std::optional<event_id>& horizon);
  /// An id beyond the horizon, over which the boundary need not be lifted. False: there is no place for it.
  [[nodiscard]] bool keep_apart(const event_id&, const id_mark&);
  [[nodiscard]] const std::optional<event_id>& boundary() const noexcept { return boundary_; }

 private:
  static constexpr std::size_t k_ahead = 16;

  /// Open addressing at a load of at most one half; zeros are an empty place.
  struct generation {
    std::vector<id_mark, huge_page_allocator<id_mark>> places;
    std::size_t used{0};
    event_id highest;
    [[nodiscard]] std::size_t place_of(const id_mark&) const noexcept;
    [[nodiscard]] bool has(const id_mark&) const noexcept;
    void add(const id_mark&);
  };
  struct evicted_generation {
    evicted_ids ids;
    event_id highest;
    /// False for all that are higher than the highest: most ids are, and need not be looked for.
    [[nodiscard]] bool may_have(const event_id&, const id_mark&) const noexcept;
  };
  void prefetch(const event_id&, const id_mark&) const noexcept;
  void grow_or_rotate();
  void forget(const generation&);

  std::map<id_mark, event_id> ahead_;
  std::optional<event_id> boundary_;
  std::size_t most_places_;
  generation young_;
  generation old_;
  evicted_generation young_forgotten_;
  evicted_generation old_forgotten_;
};

}  // namespace ratchet
