// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/engine/open_files.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace ratchet {

namespace {

constexpr std::uint64_t k_memory_for_a_table = std::uint64_t{128} << 10U;
constexpr std::uint64_t k_most_table_files = 16'384;  // of 32 MiB: half a tebibyte

}  // namespace

std::uint64_t descriptor_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return k_least_descriptors;
  return limit.rlim_cur;
}

int most_table_files(std::uint64_t descriptors, std::uint64_t memory_bytes) noexcept {
  const std::uint64_t left = descriptors > k_other_descriptors ? descriptors - k_other_descriptors : 0;
  const std::uint64_t borne =
      std::clamp(memory_bytes / k_memory_for_a_table, k_least_table_files, k_most_table_files);
  return static_cast<int>(std::clamp(left, k_least_table_files, borne));
}

}  // namespace ratchet
