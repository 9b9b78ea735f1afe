// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/row_change_reader.hpp"

namespace ratchet {

ydb_changefeed_reader::ydb_changefeed_reader(const decode_rules& rules)
    : field_reader{rules, tree},
      key_{field_at(tree, "/key")},
      erase_{field_at(tree, "/erase")},
      image_{field_at(tree, "/newImage")},
      payload_{field_at(tree, "/newImage" + rules.payload_from)},
      arrays_{arrays_on_way(tree, payload_, field_use::payload)},
      resolved_{field_at(tree, "/resolved")},
      stamp_{field_at(tree, "/ts")},
      step_{field_at(tree, "/ts/0")},
      transaction_{field_at(tree, "/ts/1")},
      wrapped_{field_at(tree, "/payload")} {}

bool ydb_changefeed_reader::read_all() {
  left_it_ = false;
  if (!from().value) return fail(malformed_reason::null_value, {}, 0);
  if (!check_size() || !walk_value()) return false;
  if (at(key_.node).what == json::kind::none) {
    if (at(resolved_.node).what != json::kind::none) return ignore();
    left_it_ = at(wrapped_.node).what == json::kind::object;
    if (left_it_) return true;
  }
  if (!read_key() || !read_sequence()) return false;
  field_value erased;
  if (!fetch(erase_, erased)) return false;
  if (erased.what != json::kind::none) {
    event().type = "erase";
    event().kind = decoded_kind::tombstone;
    return true;
  }
  event().type = "update";
  field_value image;
  if (!fetch_required(image_, image)) return false;
  if (image.what != json::kind::object) return fail(malformed_reason::wrong_type, image_, image);
  return set_payload(payload_) && are_whole(arrays_);
}

/// The aggregate: the array of the key's columns, byte for byte.
bool ydb_changefeed_reader::read_key() {
  field_value key;
  if (!fetch_required(key_, key)) return false;
  if (key.what != json::kind::array) return fail(malformed_reason::wrong_type, key_, key);
  return set_aggregate(key_, key);
}

/// The virtual timestamp: {the coordinator's step, the transaction}.
bool ydb_changefeed_reader::read_sequence() {
  field_value stamp;
  if (!fetch_required(stamp_, stamp)) return false;
  if (stamp.what != json::kind::array) return fail(malformed_reason::wrong_type, stamp_, stamp);
  ratchet::sequence step;
  ratchet::sequence transaction;
  if (!read_number(step_, false, step) || !read_number(transaction_, false, transaction)) return false;
  event().sequence = {step.number, transaction.number};
  event().has_sequence = true;
  return true;
}

ydb_reader::ydb_reader(const decode_rules& rules) : plain_{rules}, debezium_{rules, change_form::envelope} {}

void ydb_reader::read(const record& r, decoded_event& event, text_arena& texts) {
  plain_.read(r, event, texts);
  if (!plain_.left_it()) return;
  debezium_.read(r, event, texts);
  if (!debezium_.left_it()) return;
  decoded_event broken;
  broken.from = &r;
  broken.record_time = event.record_time;
  broken.malformed = {malformed_reason::missing_field, "/key", 0};
  event = broken;
}

}  // namespace ratchet
