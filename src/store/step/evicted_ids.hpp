// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "store/engine/huge_pages.hpp"

namespace ratchet {

/// Keys of which nothing but a hash is left: tells for certain that one is not among them, never that it is.
/// A Bloom filter in blocks of which a key has one, so that a question costs one miss of the processor's
/// cache: the split block Bloom filter of Apache Parquet's format specification. Takes its memory with the
/// first key. Thread-safety: one owner thread.
class evicted_ids {
 public:
  evicted_ids() = default;
  explicit evicted_ids(std::uint64_t bytes);

  /// False: it was not added. True for about one in 80 of the others when it is full.
  [[nodiscard]] bool may_have(std::uint64_t hash) const noexcept;
  /// Asks the processor to load what may_have() will look at.
  void prefetch(std::uint64_t hash) const noexcept;
  /// Near hashes lie near each other: to add many is cheap in their order.
  void add(std::uint64_t hash);
  [[nodiscard]] bool has_any() const noexcept { return used_ > 0; }
  /// With more it is wrong more often.
  [[nodiscard]] bool has_room_for(std::uint64_t keys) const noexcept;

 private:
  struct alignas(32) block {
    std::array<std::uint32_t, 8> words{};
  };
  [[nodiscard]] std::size_t block_of(std::uint64_t hash) const noexcept;

  std::size_t most_blocks_{0};
  std::uint64_t used_{0};
  std::vector<block, huge_page_allocator<block>> blocks_;
};

}  // namespace ratchet
