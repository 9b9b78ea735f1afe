// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "ratchet/config.hpp"
#include "ratchet/types.hpp"

/// Times that are decades away from any clock: most likely numbers of another unit.
namespace ratchet {

/// Whether nobody's events are of that time: before 1990, or from 2100 on. Constants, so that no clock
/// decides.
[[nodiscard]] constexpr bool is_unlikely(timestamp t) noexcept {
  using namespace std::chrono;
  return t < timestamp{sys_days{year{1990} / 1 / 1}} || t >= timestamp{sys_days{year{2100} / 1 / 1}};
}

/// What such a time most likely is, which was read as a number of this unit, and what to type; `from` is the
/// config's pointer to it. Empty: nothing fits.
[[nodiscard]] std::string hint_on_unlikely_time(timestamp, time_unit read_as, const std::string& from);

}  // namespace ratchet
