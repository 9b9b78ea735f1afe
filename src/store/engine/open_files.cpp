// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/engine/open_files.hpp"

#include <algorithm>

#include "ports/descriptor_limit.hpp"

namespace ratchet {

namespace {

constexpr std::uint64_t k_memory_for_a_table = std::uint64_t{128} << 10U;
constexpr std::uint64_t k_most_table_files = 16'384;  // of 32 MiB: half a tebibyte

}  // namespace

std::uint64_t descriptor_limit() noexcept {
  return soft_descriptor_limit().value_or(k_least_descriptors);
}

int most_table_files(std::uint64_t descriptors, std::uint64_t memory_bytes) noexcept {
  const std::uint64_t left = descriptors > k_other_descriptors ? descriptors - k_other_descriptors : 0;
  const std::uint64_t borne =
      std::clamp(memory_bytes / k_memory_for_a_table, k_least_table_files, k_most_table_files);
  return static_cast<int>(std::clamp(left, k_least_table_files, borne));
}

}  // namespace ratchet
