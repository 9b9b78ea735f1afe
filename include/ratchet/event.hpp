// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ratchet/types.hpp"

namespace ratchet {

/// One event as a reducer sees it. Everything in it is borrowed until apply() returns.
struct event {
  std::string_view stream{};
  std::string_view aggregate{};
  ratchet::sequence sequence{};     ///< in `arrival` order the number that Ratchet gave it
  std::optional<event_id> id{};     ///< none with `dedup: off`; of an opaque id its hash
  std::string_view type{};          ///< empty where the envelope maps none
  std::optional<timestamp> time{};  ///< the event's own time, where the envelope maps one
  std::string_view payload{};       ///< the reducer's input, byte for byte as it was received
  std::string_view topic{};         ///< where it was read; empty for plain files
  partition_id partition{0};
  std::int64_t offset{0};
  std::uint32_t index{0};    ///< which one of its record's events it is, from 0: see envelope_config::each
  std::uint32_t attempt{1};  ///< 1 at first; counts up each time that it is tried again
};

}  // namespace ratchet
