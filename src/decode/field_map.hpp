// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "decode/decoder.hpp"
#include "decode/field_source.hpp"
#include "decode/pointer_tree.hpp"

namespace ratchet {

/// One field of an envelope, made ready for reading.
struct field {
  bool mapped{false};
  field_source source;
  json::node_index node{json::k_no_node};  ///< of a pointer

  [[nodiscard]] bool in_value() const noexcept {
    return mapped && (source.from == field_source::place::pointer || is_outside());
  }
  /// In the value, beside the list that the event is of: its node is one of field_map::outside.
  [[nodiscard]] bool is_outside() const noexcept {
    return mapped && source.from == field_source::place::record;
  }
};

/// The field that a JSON Pointer names, with its node in the tree. The pointer must be valid.
[[nodiscard]] field field_at(json::pointer_tree&, const std::string& pointer);

/// The two ways in which CloudEvents travel: the whole event as a JSON value, or its attributes as headers
/// and its data as the value.
enum class event_mode : std::uint8_t { structured, binary };

/// The fields that one stream's rules read; those that its order and kind of ids have no use for are not
/// mapped.
struct field_map {
  /// Of formats whose fields are where the config says: `json`, `debezium-outbox`.
  explicit field_map(const decode_rules&);
  /// Of `cloudevents`, in one of its modes.
  field_map(const decode_rules&, event_mode);

  json::pointer_tree tree;
  field event_id;
  field aggregate;
  field sequence;
  field epoch;
  field begin;     ///< of a range of numbers: its first one
  field previous;  ///< or the number of the event before
  field type;
  field time;
  field payload;
  std::vector<field> event_id_more;     ///< further parts of the id
  std::vector<field> aggregate_more;    ///< and of the aggregate
  field element;                        ///< see element_read()
  field foreign;                        ///< see decode_rules::ignore_having
  field deleted;                        ///< what says that an event deletes; see delete_config
  json::pointer_tree outside;           ///< of records that hold several events, what stands around them
  json::node_index list{json::k_root};  ///< and their list, in `outside`
  bool any_in_value{false};             ///< some field is read from the value: then it must be JSON
  sequence_kind versions{sequence_kind::integer};
  enum class own : std::uint8_t { none, place, time } of_record{own::none};  ///< the sequence

  // Of CloudEvents alone.
  bool is_cloudevent{false};
  field version;
  field origin;              ///< `source`, which makes an identity together with the id
  field data;                ///< structured mode
  field base64;              ///< what may stand there instead of `data`
  field sequence_type;       ///< says that the sequence is a number, where it counts as text otherwise
  json::pointer_tree inner;  ///< of bytes that came as base64 and must be JSON
  json::node_index inner_payload{json::k_root};

 private:
  void read_sequence(const decode_rules&, event_mode);
  field read(const std::string& text);
  field read_attribute(const std::string& text, event_mode);
};

}  // namespace ratchet
