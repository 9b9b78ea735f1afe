// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/recent_rows.hpp"

#include <utility>

namespace ratchet {

namespace {

/// An entry at the map's least load, and its key where that is on the heap.
std::uint64_t cost_of(std::string_view aggregate) {
  constexpr std::uint64_t k_entry = 2 * (sizeof(std::string) + sizeof(row_head));
  constexpr std::size_t k_inside_a_string = 15;
  return k_entry + (aggregate.size() > k_inside_a_string ? aggregate.size() + 16 : 0);
}

}  // namespace

recent_rows::recent_rows(std::uint64_t bytes) : bytes_of_a_generation_{bytes / 2} {}

const row_head* recent_rows::find(std::string_view aggregate) {
  if (const auto at = young_.find(aggregate); at != young_.end()) return &at->second;
  const auto at = old_.find(aggregate);
  if (at == old_.end()) return nullptr;
  // It is moved up by the write that mostly follows; until then the older generation answers.
  return &at->second;
}

void recent_rows::put(std::string_view aggregate, const row_head& head) {
  if (const auto at = young_.find(aggregate); at != young_.end()) {
    at->second = head;
    return;
  }
  make_room();
  bytes_ += cost_of(aggregate);
  young_.emplace(std::string{aggregate}, head);
}

void recent_rows::make_room() {
  if (bytes_ < bytes_of_a_generation_) return;
  old_ = std::move(young_);
  young_ = map{};
  bytes_ = 0;
}

}  // namespace ratchet
