// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/step/id_cache.hpp"

#include <algorithm>
#include <bit>

#include "core/index_table.hpp"

namespace ratchet {

namespace {

constexpr std::size_t k_first_places = std::size_t{1} << 8U;
constexpr std::size_t k_most_ahead = 1024;
constexpr id_mark k_empty{};

/// Zeros mean an empty place, so the one mark in 2^128 that is all zeros shares another's.
constexpr id_mark not_empty(const id_mark& mark) noexcept {
  return mark == k_empty ? id_mark{0, 1} : mark;
}

/// Of each of the two generations of whole ids. Those of forgotten ones take as much.
std::size_t most_places(std::uint64_t bytes) noexcept {
  return std::max(k_first_places, std::bit_floor(static_cast<std::size_t>(bytes / 4) / sizeof(id_mark)));
}

/// The upper bits choose a place, in both kinds of tables: so those of one lie in the order of the other.
std::uint64_t hash_of(const id_mark& mark) noexcept {
  constexpr std::uint64_t k_odd = 0x9E3779B97F4A7C15ULL;  // so that near halves do not add up to the same
  return mix_bits(mark.high * k_odd + mark.low);
}

}  // namespace

std::uint64_t id_cache::taken_of(std::uint64_t bytes) noexcept {
  return most_places(bytes) * 4 * sizeof(id_mark);
}

id_cache::id_cache(std::optional<event_id> stored, std::uint64_t bytes)
    : boundary_{stored}, most_places_{most_places(bytes)} {
  young_.places.resize(k_first_places);
  young_forgotten_.ids = evicted_ids{most_places_ * sizeof(id_mark)};
}

void id_cache::start_above(const event_id& stored) {
  boundary_ = std::max(boundary_.value_or(stored), stored);
}

std::size_t id_cache::generation::place_of(const id_mark& mark) const noexcept {
  return static_cast<std::size_t>(((hash_of(mark) >> 32U) * places.size()) >> 32U);
}

bool id_cache::generation::has(const id_mark& mark) const noexcept {
  if (places.empty()) return false;
  const std::size_t mask = places.size() - 1;
  for (std::size_t at = place_of(mark); places[at] != k_empty; at = (at + 1) & mask) {
    if (places[at] == mark) return true;
  }
  return false;
}

void id_cache::generation::add(const id_mark& mark) {
  const std::size_t mask = places.size() - 1;
  std::size_t at = place_of(mark);
  while (places[at] != k_empty && places[at] != mark) at = (at + 1) & mask;
  if (places[at] == k_empty) ++used;
  places[at] = mark;
}

bool id_cache::evicted_generation::may_have(const event_id& id, const id_mark& mark) const noexcept {
  return id <= highest && ids.may_have(hash_of(mark));
}

id_cache::answer id_cache::find(const event_id& id, const id_mark& mark) const noexcept {
  const id_mark wanted = not_empty(mark);
  if (young_.has(wanted) || old_.has(wanted) || ahead_.contains(wanted)) return answer::stored;
  if (boundary_ && id <= *boundary_) return answer::unknown;
  const bool may_be_forgotten = young_forgotten_.may_have(id, wanted) || old_forgotten_.may_have(id, wanted);
  return may_be_forgotten ? answer::unknown : answer::absent;
}

void id_cache::prefetch(const event_id& id, const id_mark& mark) const noexcept {
  const id_mark wanted = not_empty(mark);
  __builtin_prefetch(young_.places.data() + young_.place_of(wanted));
  if (!old_.places.empty()) __builtin_prefetch(old_.places.data() + old_.place_of(wanted));
  for (const evicted_generation* f : {&young_forgotten_, &old_forgotten_}) {
    if (id <= f->highest) f->ids.prefetch(hash_of(wanted));
  }
}

bool id_cache::keep_apart(const event_id& id, const id_mark& mark) {
  if (ahead_.size() >= k_most_ahead) {
    // Those that the boundary has passed need no place of their own any more.
    std::erase_if(ahead_, [this](const auto& entry) { return boundary_ && entry.second <= *boundary_; });
    if (ahead_.size() >= k_most_ahead) return false;
  }
  ahead_[not_empty(mark)] = id;
  return true;
}

void id_cache::add(const event_id& id, const id_mark& mark, const std::optional<event_id>& horizon) {
  if (horizon && id > *horizon && keep_apart(id, mark)) return;
  if (young_.used * 2 >= young_.places.size()) grow_or_rotate();
  young_.add(not_empty(mark));
  young_.highest = std::max(young_.highest, id);
}

void id_cache::grow_or_rotate() {
  if (young_.places.size() < most_places_) {
    generation bigger;
    bigger.places.resize(young_.places.size() * 2);
    bigger.highest = young_.highest;
    for (const id_mark& mark : young_.places) {
      if (mark != k_empty) bigger.add(mark);
    }
    young_ = std::move(bigger);
    return;
  }
  forget(old_);
  std::swap(old_, young_);
  young_ = generation{};
  young_.places.resize(most_places_);
}

void id_cache::forget(const generation& g) {
  if (g.used == 0) return;
  if (!young_forgotten_.ids.has_room_for(g.used)) {
    if (old_forgotten_.ids.has_any()) start_above(old_forgotten_.highest);
    std::swap(old_forgotten_, young_forgotten_);
    young_forgotten_ = {evicted_ids{most_places_ * sizeof(id_mark)}, {}};
  }
  for (const id_mark& mark : g.places) {
    if (mark != k_empty) young_forgotten_.ids.add(hash_of(mark));
  }
  young_forgotten_.highest = std::max(young_forgotten_.highest, g.highest);
}

}  // namespace ratchet
