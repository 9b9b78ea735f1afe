// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ratchet {

/// A list of types of events, where `*` at the end of one stands for any text.
class event_types {
 public:
  explicit event_types(const std::vector<std::string>& types);

  [[nodiscard]] bool empty() const noexcept { return whole_.empty() && beginnings_.empty(); }
  [[nodiscard]] bool contain(std::string_view type) const noexcept;

 private:
  std::vector<std::string> whole_;  ///< sorted
  std::vector<std::string> beginnings_;
};

}  // namespace ratchet
