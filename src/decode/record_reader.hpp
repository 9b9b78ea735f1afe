// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decode/field_reader.hpp"

namespace ratchet {

/// Reads records whose fields a field_map names: `json`, `debezium-outbox`, and one mode of `cloudevents`.
/// Thread-safety: none. `rules` and `fields` are borrowed for the reader's lifetime.
class record_reader final : public field_reader {
 public:
  record_reader(const decode_rules& rules, const field_map& fields)
      : field_reader{rules, fields.tree}, fields_{&fields}, inner_{fields.inner} {}

 private:
  bool read_all() override;
  bool read_value();
  bool read_event_id();
  bool read_id_number(const field&, const field_value&);
  bool read_aggregate();
  bool read_type();
  bool read_payload();
  [[nodiscard]] bool value_is_bytes() const;

  // sequence_reader.cpp.
  bool read_sequence();
  bool read_version();
  bool read_begin();
  bool number_the_record();

  // Of CloudEvents: cloudevents_reader.cpp.
  bool read_context();
  bool fetch_attribute(const field&, field_value&);
  bool check_sign();
  bool read_data();
  bool read_base64(const field_value&);

  const field_map* fields_;
  json::walker inner_;       ///< of bytes that came as base64
  std::string_view origin_;  ///< the source of the event that is being read
};

}  // namespace ratchet
