// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ratchet/types.hpp"

namespace ratchet {

/// Numbers that look drawn, the same in each run, and event ids made of them.
class made_ids {
 public:
  std::uint64_t draw() noexcept {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return random_;
  }
  /// A UUIDv7 of this time.
  event_id id_at(timestamp time) noexcept {
    const auto ms = static_cast<std::uint64_t>(time.time_since_epoch().count());
    const std::uint64_t high = ms << 16 | 0x7000 | (draw() & 0xFFF);
    return {high, std::uint64_t{2} << 62 | draw() >> 2};
  }

 private:
  std::uint64_t random_{42};
};

}  // namespace ratchet
