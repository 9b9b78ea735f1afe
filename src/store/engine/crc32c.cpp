// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/engine/crc32c.hpp"

#include <isa-l/crc.h>

#include <algorithm>

namespace ratchet {

std::uint32_t extend_crc32c(std::uint32_t before, const char* bytes, std::size_t size) noexcept {
  constexpr std::size_t k_most_at_once = std::size_t{1} << 30U;  // ISA-L counts in int
  std::uint32_t inverted = ~before;
  while (size > 0) {
    const std::size_t some = std::min(size, k_most_at_once);
    // It reads them only: the type is a slip of its header, mended in later versions.
    auto* at = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes));
    inverted = crc32_iscsi(at, static_cast<int>(some), inverted);
    bytes += some;
    size -= some;
  }
  return ~inverted;
}

}  // namespace ratchet
