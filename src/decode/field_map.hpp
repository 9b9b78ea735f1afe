// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "decode/decoder.hpp"
#include "decode/field.hpp"
#include "decode/pointer_tree.hpp"
#include "decode/whole_array.hpp"

namespace ratchet {

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
  field foreign;                        ///< see decode_rules::ignore_having
  field deleted;                        ///< what says that an event deletes; see delete_config
  json::pointer_tree outside;           ///< of records that hold several events, what stands around them
  json::node_index list{json::k_root};  ///< and their list, in `outside`
  std::vector<whole_array> arrays;      ///< of which elements are read, in `tree`
  std::vector<whole_array> arrays_outside;
  bool any_in_value{false};  ///< some field is read from the value: then it must be JSON
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
  std::vector<whole_array> inner_arrays;

 private:
  void read_sequence(const decode_rules&, event_mode);
  void find_arrays(const std::string& each);
  field read(const std::string& text);
  field read_attribute(const std::string& text, event_mode);
};

/// The elements of arrays that a stream reads as if their arrays had no others: pointers, as /records/0. Of
/// row changes they lead into the row. The envelope must have its defaults.
[[nodiscard]] std::vector<std::string> elements_read(const decode_rules&);

}  // namespace ratchet
