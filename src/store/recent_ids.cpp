// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/recent_ids.hpp"

#include <algorithm>
#include <bit>
#include <functional>

#include "core/index_table.hpp"

namespace ratchet {

namespace {

constexpr std::size_t k_first_places = std::size_t{1} << 12U;
constexpr std::size_t k_most_ahead = 1024;

}  // namespace

recent_ids::recent_ids(std::optional<event_id> stored, std::uint64_t bytes)
    : boundary_{stored},
      most_places_{std::max(k_first_places,
                            std::bit_floor(static_cast<std::size_t>(bytes / 2) / sizeof(std::uint64_t)))} {
  young_.places.resize(k_first_places);
}

std::uint64_t recent_ids::fingerprint_of(const event_id& id, std::string_view aggregate) noexcept {
  const std::uint64_t text = std::hash<std::string_view>{}(aggregate);
  const std::uint64_t mixed = mix_bits(mix_bits(id.high ^ text) + id.low);
  return mixed == 0 ? 1 : mixed;
}

bool recent_ids::generation::has(std::uint64_t fingerprint) const noexcept {
  if (places.empty()) return false;
  const std::size_t mask = places.size() - 1;
  for (std::size_t at = fingerprint & mask; places[at] != 0; at = (at + 1) & mask) {
    if (places[at] == fingerprint) return true;
  }
  return false;
}

void recent_ids::generation::add(std::uint64_t fingerprint) {
  const std::size_t mask = places.size() - 1;
  std::size_t at = fingerprint & mask;
  while (places[at] != 0 && places[at] != fingerprint) at = (at + 1) & mask;
  if (places[at] == 0) ++used;
  places[at] = fingerprint;
}

bool recent_ids::surely_absent(const event_id& id, std::string_view aggregate) const noexcept {
  if (boundary_ && id <= *boundary_) return false;
  const std::uint64_t fingerprint = fingerprint_of(id, aggregate);
  return !young_.has(fingerprint) && !old_.has(fingerprint) && !ahead_.contains(fingerprint);
}

bool recent_ids::keep_apart(const event_id& id, std::string_view aggregate) {
  if (ahead_.size() >= k_most_ahead) {
    // Those that the boundary has passed need no place of their own any more.
    std::erase_if(ahead_, [this](const auto& entry) { return boundary_ && entry.second <= *boundary_; });
    if (ahead_.size() >= k_most_ahead) return false;
  }
  ahead_[fingerprint_of(id, aggregate)] = id;
  return true;
}

void recent_ids::add(const event_id& id, std::string_view aggregate, const std::optional<event_id>& horizon) {
  if (boundary_ && id <= *boundary_) return;
  if (horizon && id > *horizon && keep_apart(id, aggregate)) return;
  if (young_.used * 2 >= young_.places.size()) grow_or_rotate();
  young_.add(fingerprint_of(id, aggregate));
  young_.highest = std::max(young_.highest, id);
}

void recent_ids::grow_or_rotate() {
  if (young_.places.size() < most_places_) {
    generation bigger;
    bigger.places.resize(young_.places.size() * 2);
    bigger.highest = young_.highest;
    for (const std::uint64_t fingerprint : young_.places) {
      if (fingerprint != 0) bigger.add(fingerprint);
    }
    young_ = std::move(bigger);
    return;
  }
  if (old_.used > 0) boundary_ = std::max(boundary_.value_or(old_.highest), old_.highest);
  std::swap(old_, young_);
  young_ = generation{};
  young_.places.resize(most_places_);
}

}  // namespace ratchet
