// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/kept_rejected.hpp"

namespace ratchet {

kept_rejected::position kept_rejected::position::of(const rejected_row& row) {
  return {row.where, row.offset, row.index};
}

void kept_rejected::add(const position& where, rejected_place place, timestamp at) {
  const auto [known, is_new] = by_position_.try_emplace(where, place);
  if (!is_new) {
    by_age_.erase(known->second);
    known->second = place;
  }
  by_age_.insert_or_assign(place, std::pair{where, at});
}

std::vector<kept_rejected::position> kept_rejected::trim(const rejected_limits& limits) {
  std::vector<position> gone;
  while (!by_age_.empty()) {
    const auto first = by_age_.begin();
    const auto& [where, at] = first->second;
    const bool is_old = limits.before && at <= *limits.before;
    if (!is_old && by_age_.size() <= limits.records) break;
    by_position_.erase(where);
    gone.push_back(where);
    by_age_.erase(first);
  }
  return gone;
}

std::optional<timestamp> kept_rejected::oldest() const {
  return by_age_.empty() ? std::nullopt : std::optional{by_age_.begin()->second.second};
}

std::vector<kept_rejected::position> kept_rejected::newest(std::size_t limit) const {
  std::vector<position> out;
  for (auto at = by_age_.rbegin(); at != by_age_.rend() && out.size() < limit; ++at) {
    out.push_back(at->second.first);
  }
  return out;
}

}  // namespace ratchet
