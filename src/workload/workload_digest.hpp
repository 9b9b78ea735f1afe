// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace ratchet {

/// One number for a whole state, whatever the order of its rows: the sum of the CRC-32 (that of zlib) of each
/// row's aggregate, a tab, and its snapshot. Every language has it at hand, so that other programs that do
/// the same work can be compared. Thread-safety: none; a value.
class workload_digest {
 public:
  void row(std::string_view aggregate, std::string_view snapshot) noexcept;

  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::uint64_t sum() const noexcept { return sum_; }

 private:
  std::uint64_t rows_{0};
  std::uint64_t sum_{0};
};

}  // namespace ratchet
