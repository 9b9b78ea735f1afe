// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/waiting.hpp"
#include "store/layout/layout.hpp"

/// Keys and values of the column family `waiting`. The bytes are written down in layout.hpp.
namespace ratchet::layout {

/// Prefixes in `waiting`.
enum class waiting_kind : std::uint8_t {
  event = 0x01,
  backlog = 0x02,
  wake = 0x03,
  gap = 0x04,
  id = 0x05,
};

// Keys. Those of one aggregate's events share a prefix that no other aggregate's begin with. append_… appends
// to `out`, which many keys of a batch share.
/// All keys of this kind and stream start so.
[[nodiscard]] std::string waiting_prefix(waiting_kind, stream_id);
/// All keys of this kind, stream and slot start so, but those of the indexes by time.
[[nodiscard]] std::string waiting_prefix(waiting_kind, stream_id, slot);
/// All keys of the aggregate's events start so.
void append_waiting_events_prefix(std::string& out, stream_id, slot, std::string_view aggregate);
void append_waiting_event_key(std::string& out, stream_id, slot, std::string_view aggregate, sequence);
/// What follows that prefix.
void append_sequence(std::string& out, sequence);
void append_backlog_key(std::string& out, stream_id, slot, std::string_view aggregate);
/// `kind`: wake or gap. In the order of time, also before 1970.
void append_due_key(std::string& out, waiting_kind, stream_id, timestamp, slot, std::string_view aggregate);
/// All keys of this index that are not before `time` lie at or behind it.
[[nodiscard]] std::string due_start(waiting_kind, stream_id, timestamp time);
void append_waiting_id_key(std::string& out, stream_id, slot, std::string_view aggregate, const event_id&);

struct parsed_waiting_event_key {
  stream_id stream{0};
  ratchet::slot slot{0};
  std::string aggregate;
  ratchet::sequence sequence;
};
struct parsed_due_key {
  stream_id stream{0};
  timestamp time;
  ratchet::slot slot{0};
  std::string_view aggregate;
};
struct parsed_waiting_id_key {
  stream_id stream{0};
  ratchet::slot slot{0};
  std::string aggregate;
  event_id id;
};
// Errors of everything below: state_damaged.
[[nodiscard]] result<parsed_waiting_event_key> parse_waiting_event_key(std::string_view);
/// The end of an event's key, whose beginning is known.
[[nodiscard]] result<sequence> parse_sequence(std::string_view);
[[nodiscard]] result<parsed_aggregate_key> parse_backlog_key(std::string_view);
[[nodiscard]] result<parsed_due_key> parse_due_key(waiting_kind, std::string_view);
[[nodiscard]] result<parsed_waiting_id_key> parse_waiting_id_key(std::string_view);

// Values. The value of a wake or a gap says nothing: encode_presence().
[[nodiscard]] std::string encode_waiting_event(const waiting_event&);
/// `s`: as the key says.
[[nodiscard]] result<waiting_event> decode_waiting_event(sequence s, std::string_view);
/// Looks at no more of the value than that.
[[nodiscard]] result<waiting_head> decode_waiting_head(sequence s, std::string_view);
[[nodiscard]] std::string encode_backlog(const backlog&);
[[nodiscard]] result<backlog> decode_backlog(std::string_view);
[[nodiscard]] std::string encode_sequence(sequence);
[[nodiscard]] result<sequence> decode_sequence(std::string_view);

}  // namespace ratchet::layout
