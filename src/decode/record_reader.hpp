// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "core/decoded_event.hpp"
#include "core/record.hpp"
#include "decode/decoder.hpp"
#include "decode/field_source.hpp"
#include "decode/json_grammar.hpp"
#include "decode/pointer_tree.hpp"
#include "decode/text_arena.hpp"

namespace ratchet {

/// One field of the `json` envelope, made ready for reading.
struct field {
  bool mapped{false};
  field_source source;
  json::node_index node{json::k_no_node};  ///< of a pointer

  [[nodiscard]] bool in_value() const noexcept {
    return mapped && source.from == field_source::place::pointer;
  }
};

/// The fields that one stream's rules read; those that its order and kind of ids have no use for are not
/// mapped.
struct field_map {
  explicit field_map(const decode_rules&);

  json::pointer_tree tree;
  field event_id;
  field aggregate;
  field sequence;
  field epoch;
  field type;
  field time;
  field payload;
  bool any_in_value{false};  ///< some field is read from the value: then it must be JSON

 private:
  field read(const std::string& text);
};

/// Reads one record at a time by a stream's rules.
/// Thread-safety: none. `rules` and `fields` are borrowed for the reader's lifetime.
class record_reader {
 public:
  record_reader(const decode_rules& rules, const field_map& fields);

  /// Fills `event`. Views in it point into the record, into `texts`, or (malformed.pointer) into the rules.
  void read(const record&, decoded_event& event, text_arena& texts);

 private:
  /// What a field holds before its meaning is looked at.
  struct field_value {
    json::kind what{json::kind::none};  ///< none: missing or null
    bool outside{false};                ///< from key or header: text, whatever it means
    std::string_view text;              ///< a string's characters, a number's token
    std::uint64_t offset{0};
  };

  bool read_all();
  bool read_value();
  bool read_event_id();
  bool read_aggregate();
  bool read_sequence();
  bool read_number(const field&, bool wide, ratchet::sequence&);
  bool read_type();
  bool read_time();
  bool read_payload();

  bool fetch(const field&, field_value&);
  bool fetch_required(const field&, field_value&);
  bool fetch_from_value(const field&, field_value&);
  bool fetch_header(const field&, field_value&);
  bool unescape(const field&, field_value&);
  bool no_duplicate(const field&);
  [[nodiscard]] bool value_is_bytes() const;
  [[nodiscard]] std::uint64_t offset_of(const char* p) const noexcept;
  bool fail(malformed_reason, std::string_view pointer, std::uint64_t offset) noexcept;
  bool fail(malformed_reason reason, const field& f, const field_value& value) noexcept {
    return fail(reason, f.source.text, value.offset);
  }

  const decode_rules* rules_;
  const field_map* fields_;
  json::walker walker_;
  // of the record that is being read
  const record* record_{nullptr};
  decoded_event* event_{nullptr};
  text_arena* texts_{nullptr};
};

}  // namespace ratchet
