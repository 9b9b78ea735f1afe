// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/event_types.hpp"

#include <algorithm>
#include <functional>

namespace ratchet {

event_types::event_types(const std::vector<std::string>& types) {
  for (const std::string& type : types) {
    if (type.ends_with('*'))
      beginnings_.push_back(type.substr(0, type.size() - 1));
    else
      whole_.push_back(type);
  }
  std::sort(whole_.begin(), whole_.end());
}

bool event_types::contain(std::string_view type) const noexcept {
  return std::binary_search(whole_.begin(), whole_.end(), type, std::less<>{}) ||
         std::any_of(beginnings_.begin(), beginnings_.end(),
                     [type](const std::string& begin) { return type.starts_with(begin); });
}

}  // namespace ratchet
