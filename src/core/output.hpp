// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/stream_state.hpp"
#include "ratchet/effects.hpp"
#include "ratchet/types.hpp"

/// Messages on their way out. Plain values, as the store keeps them.
namespace ratchet {

enum class output_kind : std::uint8_t {
  dead_letter,  ///< a record that was rejected, or whose event is dead, as it came
  rejection,    ///< tells the sender why
  published,    ///< what a reducer or an `emit` has published of an event
  skipped,      ///< in place of one that an operator has passed over: it is not sent
};

using output_headers = std::vector<std::pair<std::string, std::optional<std::string>>>;

/// The sink that a destination means; empty where it is a topic. Borrowed from the text.
[[nodiscard]] constexpr std::string_view sink_of(std::string_view destination) noexcept {
  return destination.starts_with(k_sink_prefix) ? destination.substr(k_sink_prefix.size())
                                                : std::string_view{};
}

/// By this name operators know the lane of Kafka's topics; no sink has it.
inline constexpr const char* k_topics_name = "topics";

/// One message of the outbox. It is complete: sending it again sends the same bytes.
struct output_row {
  std::uint64_t position{0};  ///< in its lane of the outbox; one behind the other, over all streams
  output_kind kind{output_kind::dead_letter};
  stream_id stream{0};
  event_id id;            ///< a UUIDv7 made from its cause, so that the same cause has the same id
  std::string aggregate;  ///< of which it speaks; empty where the record does not say
  std::string topic;      ///< or sink:NAME
  std::optional<std::string> key;
  std::optional<std::string> value;
  output_headers headers;
  std::optional<timestamp> time;  ///< its record's time
  // Of published ones; their headers are made of these when they are sent, by write_event_headers().
  std::string type;
  std::string source;            ///< a CloudEvent's
  std::string content_type;      ///< empty: JSON
  ratchet::sequence sequence{};  ///< {outbox epoch, position} when it was published

  /// The lane of the outbox that it is in: its sink's name, or nothing, for all of Kafka's topics.
  [[nodiscard]] std::string_view lane() const noexcept { return sink_of(topic); }
  /// What it counts for in `outbox.bytes`: everything of variable size, and 128 for the rest.
  [[nodiscard]] std::uint64_t bytes() const;
  friend bool operator==(const output_row&, const output_row&) = default;
};

/// What one lane of the outbox holds: of the positions from `first` up to, but without, `next`, those that
/// were not delivered.
struct outbox_state {
  std::uint64_t first{0};
  std::uint64_t next{0};
  std::uint64_t bytes{0};  ///< of all its rows
  std::uint64_t gone{0};   ///< so many behind `first` were delivered before others, and have no row any more
  [[nodiscard]] std::uint64_t rows() const noexcept { return next - first - gone; }
  friend bool operator==(const outbox_state&, const outbox_state&) = default;
};

/// What each lane holds, by its sink's name; the lane of Kafka's topics has the empty one. A lane that was
/// used stays, so that none of its positions is used twice.
struct outbox_lanes {
  std::map<std::string, outbox_state, std::less<>> by_name;

  /// Nothing, where it was never used.
  [[nodiscard]] outbox_state of(std::string_view lane) const;
  /// Those of sinks.
  [[nodiscard]] std::map<std::string, outbox_state, std::less<>> sinks() const;
  /// Of all lanes.
  [[nodiscard]] std::uint64_t rows() const noexcept;
  friend bool operator==(const outbox_lanes&, const outbox_lanes&) = default;
};

/// A message that is not to be sent any more; its row stays, with nothing in it, until the rows before it go.
struct skipped_output {
  output_row row;  ///< what takes its place, see skipped_row()
  std::uint64_t bytes_before{0};
  friend bool operator==(const skipped_output&, const skipped_output&) = default;
};

/// Says where the message was and whose, and no more.
[[nodiscard]] output_row skipped_row(const output_row&);

/// Positions of a lane from `first` up to, but without, `next`.
struct output_range {
  std::uint64_t first{0};
  std::uint64_t next{0};
  friend bool operator==(const output_range&, const output_range&) = default;
};

/// What a step changes of the outbox.
struct outbox_change {
  std::vector<output_row> puts;    ///< from each lane's `next` on, in the order of their positions
  std::uint64_t trimmed_rows{0};   ///< so many of the lowest positions go: they were delivered
  std::uint64_t trimmed_gone{0};   ///< so many of these have had no row any more
  std::uint64_t trimmed_bytes{0};  ///< of all rows that go
  std::string trimmed_lane{};      ///< of this lane
  /// Rows of it that go, too, though one before them stays; none of them is twice here, or gone already.
  std::vector<output_range> trimmed_behind{};
  std::optional<skipped_output> skipped{};
  [[nodiscard]] bool trims() const noexcept { return trimmed_rows > 0 || !trimmed_behind.empty(); }
  [[nodiscard]] bool empty() const noexcept { return puts.empty() && !trims() && !skipped; }
  /// Gives the messages the positions that are next in their lanes, and published ones {epoch, position} as
  /// their sequence.
  void number(const outbox_lanes& before, std::uint64_t epoch);
  /// Enters what it changes.
  void apply_to(outbox_lanes&) const;
};

/// The stable name of the kind: "dead_letter", "rejection", "published", "skipped".
[[nodiscard]] const char* name_of(output_kind) noexcept;

}  // namespace ratchet
