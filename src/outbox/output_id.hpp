// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ratchet/types.hpp"

namespace ratchet {

/// What made a message necessary. Borrowed.
struct output_cause {
  std::string_view group;
  std::string_view stream;
  std::string_view aggregate;
  std::optional<event_id> id;                 ///< of the event
  bool id_has_time{true};                     ///< false: it is opaque
  std::optional<ratchet::sequence> sequence;  ///< looked at where it has no id
  const topic_partition* where{nullptr};      ///< looked at where it has neither
  std::int64_t offset{0};
  std::uint32_t index{0};         ///< with `where`: which of its record's events it is
  std::optional<timestamp> time;  ///< of its record; looked at where no id has one
  std::string_view purpose;       ///< tells the messages of one cause apart
};

/// A UUIDv7 (RFC 9562, section 5.7) that the same cause always has, so that receivers can drop repeats: the
/// time of the cause's id where that has one, else of its record, and 74 bits of a SHA-256 of all that tells
/// it from others. Pinned by golden tests. Pure; any thread.
[[nodiscard]] event_id output_id(const output_cause&);

}  // namespace ratchet
