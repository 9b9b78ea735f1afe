// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/record.hpp"
#include "decode/json_grammar.hpp"
#include "decode/pointer_tree.hpp"
#include "decode/text_arena.hpp"

namespace ratchet {

/// Takes off what Kafka Connect's converters put around a record of Debezium's outbox event router: the
/// quotes of keys and headers, the schema beside keys, values and headers, and the string around a payload
/// that is JSON.
/// Thread-safety: none.
class outbox_unwrapper {
 public:
  outbox_unwrapper();
  outbox_unwrapper(const outbox_unwrapper&) = delete;
  outbox_unwrapper& operator=(const outbox_unwrapper&) = delete;

  /// Whether unwrap() could change the record. It costs little, and most records have nothing to take off.
  [[nodiscard]] static bool may_be_wrapped(const record&) noexcept;

  /// The record without what surrounds it. What does not look wrapped is left as it is. The result borrows
  /// from the record, from the arena, and from the unwrapper until its next call.
  [[nodiscard]] record unwrap(const record&, text_arena&);

 private:
  [[nodiscard]] std::optional<std::string_view> unwrapped_value(std::string_view, text_arena&);
  [[nodiscard]] std::optional<std::string_view> unwrapped_name(std::string_view, text_arena&);
  void unwrap_headers(record&, text_arena&);
  [[nodiscard]] const json::found* inner_of(std::string_view);

  json::pointer_tree tree_;
  json::node_index schema_;
  json::node_index payload_;
  json::walker walker_;
  std::vector<header> headers_;
};

}  // namespace ratchet
