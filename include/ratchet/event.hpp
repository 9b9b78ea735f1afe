// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ratchet/types.hpp"

namespace ratchet {

/// One event, as a reducer gets it. All its bytes are borrowed until apply() returns.
struct event {
  std::string_view stream{};
  std::string_view aggregate{};
  ratchet::sequence sequence{};     ///< in `arrival` order: the number that Ratchet gave it
  std::optional<event_id> id{};     ///< none with `dedup: off`; for an opaque id: its hash
  std::string_view type{};          ///< empty if the envelope maps none
  std::optional<timestamp> time{};  ///< the event's own time, if the envelope maps one
  std::string_view payload{};       ///< the reducer's input, unchanged
  std::string_view topic{};         ///< the topic of its record; empty for plain files
  partition_id partition{0};
  std::int64_t offset{0};
  std::uint32_t index{0};    ///< its place in a record of several events, from 0: see envelope_config::each
  std::uint32_t attempt{1};  ///< 1 at first; it grows with each further attempt
};

}  // namespace ratchet
