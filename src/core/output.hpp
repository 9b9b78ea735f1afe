// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/stream_state.hpp"
#include "ratchet/types.hpp"

/// Messages on their way out. Plain values, as the store keeps them.
namespace ratchet {

enum class output_kind : std::uint8_t {
  dead_letter,  ///< a record that was rejected, or whose event is dead, as it came
  rejection,    ///< tells the sender why
  published,    ///< what a reducer or an `emit` has published of an event
};

/// One message of the outbox. It is complete: sending it again sends the same bytes.
struct output_row {
  std::uint64_t position{0};  ///< in the outbox; one behind the other, over all streams
  output_kind kind{output_kind::dead_letter};
  stream_id stream{0};
  event_id id;            ///< a UUIDv7 made from its cause, so that the same cause has the same id
  std::string aggregate;  ///< of which it speaks; empty where the record does not say
  std::string topic;
  std::optional<std::string> key;
  std::optional<std::string> value;
  std::vector<std::pair<std::string, std::optional<std::string>>> headers;
  std::optional<timestamp> time;  ///< its record's time
  // Of published ones; their headers are made of these when they are sent, by add_event_headers().
  std::string type;
  std::string source;            ///< a CloudEvent's
  std::string content_type;      ///< empty: JSON
  ratchet::sequence sequence{};  ///< {outbox epoch, position} when it was published

  /// What it counts for in `outbox.bytes`: everything of variable size, and 128 for the rest.
  [[nodiscard]] std::uint64_t bytes() const;
  friend bool operator==(const output_row&, const output_row&) = default;
};

/// What the outbox holds: the positions from `first` up to, but without, `next`.
struct outbox_state {
  std::uint64_t first{0};
  std::uint64_t next{0};
  std::uint64_t bytes{0};  ///< of all its rows
  [[nodiscard]] std::uint64_t rows() const noexcept { return next - first; }
  friend bool operator==(const outbox_state&, const outbox_state&) = default;
};

/// What a step changes of the outbox.
struct outbox_change {
  std::vector<output_row> puts;    ///< from the outbox's `next` on, in the order of their positions
  std::uint64_t trimmed_rows{0};   ///< so many of the lowest go: they were delivered
  std::uint64_t trimmed_bytes{0};  ///< of these
  [[nodiscard]] bool empty() const noexcept { return puts.empty() && trimmed_rows == 0; }
  [[nodiscard]] outbox_state after(const outbox_state& before) const;
};

/// The stable name of the kind: "dead_letter", "rejection", "published".
[[nodiscard]] const char* name_of(output_kind) noexcept;

}  // namespace ratchet
