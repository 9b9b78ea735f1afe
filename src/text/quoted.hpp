// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

namespace ratchet {

/// "`a`, `b`": names in a message.
[[nodiscard]] inline std::string quoted(std::span<const std::string> names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "`" : ", `") + name + "`";
  return all;
}

}  // namespace ratchet
