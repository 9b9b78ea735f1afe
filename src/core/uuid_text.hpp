// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/hex.hpp"
#include "ratchet/types.hpp"

namespace ratchet {

/// As the text of a uuid.
[[nodiscard]] inline std::string to_uuid(const hash128& bits) {
  std::string text = to_hex(bits);
  for (const std::size_t at : {8U, 13U, 18U, 23U}) text.insert(at, "-");
  return text;
}

}  // namespace ratchet
