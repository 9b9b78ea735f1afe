// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decode/event_reader.hpp"
#include "decode/field_map.hpp"
#include "decode/outbox_unwrapper.hpp"
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
  field_map fields_;
  record_reader reader_;
  outbox_unwrapper unwrapper_;
};

}  // namespace ratchet
