// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "decode/event_types.hpp"
#include "decode/field_reader.hpp"

namespace ratchet {

/// Reads records whose fields a field_map names: `json`, `debezium-outbox`, and one mode of `cloudevents`.
/// Thread-safety: none. `rules` and `fields` are borrowed for the reader's lifetime.
class record_reader final : public field_reader {
 public:
  record_reader(const decode_rules& rules, const field_map& fields)
      : field_reader{rules, fields.tree},
        fields_{&fields},
        inner_{fields.inner},
        types_{rules.types},
        ignored_{rules.ignore},
        deleting_{rules.envelope.deletes.types},
        chooses_{!types_.empty() || !ignored_.empty() || rules.ignore_tombstones || fields.foreign.mapped} {}

 private:
  bool read_all() override;
  bool read_value();
  bool read_fields();
  bool choose();
  bool is_foreign(bool& yes);
  bool are_told_by_all(bool whole_array::*decides);
  bool read_event_id();
  bool give_position_for_id();
  bool fetch_joined(const field&, std::span<const field> more, field_value&);
  bool read_id_number(const field&, const field_value&);
  bool read_aggregate();
  bool read_type();
  bool read_payload();
  bool deletes(bool& yes);
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
  json::walker inner_;  ///< of bytes that came as base64
  event_types types_;   ///< of events that are handled; empty: all
  event_types ignored_;
  event_types deleting_;
  std::vector<std::string_view> parts_;  ///< of the name that is being joined
  bool chooses_;                         ///< some of the events are ignored
  std::string_view origin_;              ///< the source of the event that is being read
};

}  // namespace ratchet
