// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decode/event_reader.hpp"
#include "decode/field_map.hpp"
#include "decode/record_reader.hpp"
#include "decode/record_splitter.hpp"

namespace ratchet {

/// Reads CloudEvents 1.0 as their Kafka protocol binding has them. A content type that begins with
/// `application/cloudevents` says structured mode, else a header `ce_specversion` says binary mode. A record
/// that says neither is read as structured: lines of a file, and what producers send that set no headers.
/// Batches in JSON are several events; so is an array where neither is said. Event formats that are not JSON
/// are malformed.
/// Thread-safety: none. The rules are borrowed for the reader's lifetime.
class cloudevents_reader final : public event_reader {
 public:
  explicit cloudevents_reader(const decode_rules&);
  void read(const record&, decoded_event& event, text_arena& texts) override;
  [[nodiscard]] record_splitter* splitter() noexcept override { return &splitter_; }

 private:
  void refuse(const record&, malformed_reason, decoded_event&) const;

  const decode_rules* rules_;
  field_map structured_fields_;
  field_map binary_fields_;
  record_reader structured_;
  record_reader binary_;
  record_splitter splitter_;
};

}  // namespace ratchet
