// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ratchet/types.hpp"

namespace ratchet {

struct header {
  std::string_view name;
  std::optional<std::string_view> value;
};

struct record;

/// A record whose value holds several events. Each of them is a record of its own from there on, whose value
/// is the event.
struct record_of_several {
  const record* whole{nullptr};
  /// With an event between them they are the value of a record that holds this event alone.
  std::string_view before{};
  std::string_view behind{};
};

/// Where an event is in its partition: its record's offset, and which one of the record's events it is.
struct event_place {
  std::int64_t offset{0};
  std::uint32_t index{0};
  friend auto operator<=>(const event_place&, const event_place&) = default;
};

/// One record as its source delivered it, or one event of it. All views are borrowed from the batch that it
/// came in.
struct record {
  const topic_partition* where{
      nullptr};  ///< interned by the source; one address for one partition, while it lives
  std::int64_t offset{0};
  std::optional<timestamp> time;  ///< none where Kafka says -1
  std::optional<std::string_view> key;
  std::optional<std::string_view> value;  ///< none: a tombstone
  std::span<const header> headers;        ///< filled only where an envelope reads headers
  // Of a record that holds several events.
  std::uint32_t index{0};  ///< which of them the value is, from 0
  bool more{false};        ///< another one follows
  const record_of_several* part_of{nullptr};

  [[nodiscard]] event_place place() const noexcept { return {offset, index}; }
};

/// OFFSET, or OFFSET.INDEX of an event that is not the first of its record.
[[nodiscard]] inline std::string to_text(event_place place) {
  const std::string offset = std::to_string(place.offset);
  return place.index == 0 ? offset : offset + "." + std::to_string(place.index);
}

/// The value of a record that holds this event alone. None: it is null.
[[nodiscard]] inline std::optional<std::string> value_alone(const record& r) {
  if (!r.value) return std::nullopt;
  if (r.part_of == nullptr) return std::string{*r.value};
  std::string text{r.part_of->before};
  return text.append(*r.value).append(r.part_of->behind);
}

/// The record as it was delivered.
[[nodiscard]] inline const record& whole_of(const record& r) noexcept {
  return r.part_of != nullptr ? *r.part_of->whole : r;
}

}  // namespace ratchet
