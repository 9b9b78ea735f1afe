// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "decode/event_reader.hpp"
#include "decode/field_map.hpp"
#include "decode/json_grammar.hpp"
#include "decode/record_reader.hpp"

namespace ratchet {

/// Reads what Debezium's outbox event router writes, whichever converters the connector has: keys and headers
/// in quotes, values and keys beside their schema, and payloads that are JSON within a string are unwrapped
/// first. What does not look wrapped is taken as it is.
/// Thread-safety: none. The rules are borrowed for the reader's lifetime.
class outbox_reader final : public event_reader {
 public:
  explicit outbox_reader(const decode_rules&);
  void read(const record&, decoded_event&, text_arena&) override;

 private:
  void read_wrapped(const record&, decoded_event&, text_arena&);
  [[nodiscard]] std::optional<std::string_view> unwrapped_value(std::string_view, text_arena&);
  [[nodiscard]] std::optional<std::string_view> unwrapped_name(std::string_view, text_arena&);
  void unwrap_headers(record&, text_arena&);
  [[nodiscard]] const json::found* inner_of(std::string_view);

  field_map fields_;
  record_reader reader_;
  json::pointer_tree tree_;
  json::node_index schema_;
  json::node_index payload_;
  json::walker walker_;
  std::vector<header> headers_;
};

}  // namespace ratchet
