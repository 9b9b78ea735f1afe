// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "kafka/group_generation.hpp"

#include <cstring>

namespace ratchet {

std::optional<std::uint32_t> generation_in(std::string_view written) noexcept {
  constexpr std::string_view k_magic = "CGMDv2:";
  std::int32_t generation = -1;
  if (!written.starts_with(k_magic) || written.size() < k_magic.size() + sizeof generation)
    return std::nullopt;
  std::memcpy(&generation, written.data() + k_magic.size(), sizeof generation);
  if (generation < 0) return std::nullopt;
  return static_cast<std::uint32_t>(generation);
}

}  // namespace ratchet
