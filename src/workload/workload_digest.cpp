// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "workload/workload_digest.hpp"

#include <array>

namespace ratchet {
namespace {

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1U) ^ ((value & 1U) != 0 ? 0xedb88320U : 0U);
    table[i] = value;
  }
  return table;
}

constexpr auto k_table = make_table();

std::uint32_t more(std::uint32_t crc, std::string_view bytes) noexcept {
  for (const char c : bytes) crc = k_table[(crc ^ static_cast<unsigned char>(c)) & 0xffU] ^ (crc >> 8U);
  return crc;
}

}  // namespace

void workload_digest::row(std::string_view aggregate, std::string_view snapshot) noexcept {
  ++rows_;
  sum_ += ~more(more(more(~0U, aggregate), "\t"), snapshot);
}

}  // namespace ratchet
