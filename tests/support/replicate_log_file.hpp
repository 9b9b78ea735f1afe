// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ratchet::replicate {

/// A log as `kcat -C -f '%o %R%s'` prints it, and tools/slot-log reads it: of each record the offset, a
/// space, the length in four bytes, and the value.
class log_file {
 public:
  void add(std::string_view record) {
    bytes_ += std::to_string(next_offset_++) + ' ';
    for (unsigned shift = 32; shift > 0; shift -= 8) {
      bytes_ += static_cast<char>(record.size() >> (shift - 8) & 0xFFU);
    }
    bytes_ += record;
  }
  /// An offset without a record.
  void skip() { ++next_offset_; }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::int64_t next_offset_{0};
  std::string bytes_;
};

}  // namespace ratchet::replicate
