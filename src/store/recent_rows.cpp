// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/recent_rows.hpp"

#include <utility>

namespace ratchet {

namespace {

/// An entry at the map's least load.
constexpr std::size_t k_bytes_of_a_row = 2 * (sizeof(hash128) + sizeof(row_head));

}  // namespace

recent_rows::recent_rows(std::uint64_t bytes, bool has_all)
    : rows_of_a_generation_{static_cast<std::size_t>(bytes / 2) / k_bytes_of_a_row}, has_all_{has_all} {}

const row_head* recent_rows::find(const hash128& aggregate) const {
  if (const auto at = young_.find(aggregate); at != young_.end()) return &at->second;
  const auto at = old_.find(aggregate);
  // It is moved up by the write that mostly follows; until then the older generation answers.
  return at == old_.end() ? nullptr : &at->second;
}

void recent_rows::put(const hash128& aggregate, const row_head& head) {
  if (young_.size() >= rows_of_a_generation_ && !young_.contains(aggregate)) {
    has_all_ = has_all_ && old_.empty();
    old_ = std::exchange(young_, map{});
  }
  young_.insert_or_assign(aggregate, head);
}

void recent_rows::erase(const hash128& aggregate) {
  young_.erase(aggregate);
  old_.erase(aggregate);
}

}  // namespace ratchet
