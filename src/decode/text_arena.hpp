// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace ratchet {

/// Memory for the unescaped texts of one batch. What it hands out stays where it is until clear(); the memory
/// is kept for the next batch, but for texts larger than a block.
/// Thread-safety: none.
class text_arena {
 public:
  /// Room for `size` bytes, of which keep() says how many were used; the rest is handed out again.
  [[nodiscard]] char* room(std::size_t size) {
    if (size > k_block_bytes) return large_.emplace_back(std::make_unique<char[]>(size)).get();
    if (blocks_.empty() || size > k_block_bytes - used_) next_block();
    return blocks_[block_].get() + used_;
  }
  void keep(const char* from, std::size_t size) noexcept {
    if (!blocks_.empty() && from == blocks_[block_].get() + used_) used_ += size;
  }
  void clear() noexcept {
    large_.clear();
    block_ = 0;
    used_ = 0;
  }

 private:
  static constexpr std::size_t k_block_bytes = 64 * 1024;

  void next_block() {
    if (!blocks_.empty()) ++block_;
    if (block_ == blocks_.size()) blocks_.push_back(std::make_unique<char[]>(k_block_bytes));
    used_ = 0;
  }

  std::vector<std::unique_ptr<char[]>> blocks_;
  std::vector<std::unique_ptr<char[]>> large_;
  std::size_t block_{0};
  std::size_t used_{0};
};

}  // namespace ratchet
