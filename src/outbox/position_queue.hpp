// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ratchet {

/// Positions that wait for their turn, in order: eight bytes each, and next to none where there is none.
/// Thread-safety: none.
class position_queue {
 public:
  [[nodiscard]] bool empty() const noexcept { return taken_ == all_.size(); }
  void push(std::uint64_t position) { all_.push_back(position); }
  /// Where it belongs, which is near an end as a rule.
  void insert(std::uint64_t position) {
    const auto first = all_.begin() + static_cast<std::ptrdiff_t>(taken_);
    all_.insert(std::lower_bound(first, all_.end(), position), position);
  }
  /// The first; there must be one.
  [[nodiscard]] std::uint64_t front() const { return all_[taken_]; }
  /// Takes it.
  std::uint64_t pop() {
    const std::uint64_t first = all_[taken_++];
    if (2 * taken_ > all_.size()) {  // so that each is moved once, in the mean
      all_.erase(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(taken_));
      taken_ = 0;
      if (all_.empty()) all_.shrink_to_fit();
    }
    return first;
  }

 private:
  std::vector<std::uint64_t> all_;
  std::size_t taken_{0};
};

}  // namespace ratchet
