// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/field_map.hpp"

#include "decode/envelope_preset.hpp"
#include "decode/sequence_kinds.hpp"

namespace ratchet {

field field_at(json::pointer_tree& tree, const std::string& pointer) {
  field f{true, {}, json::k_no_node};
  f.source.text = pointer;
  f.source.tokens = parse_json_pointer(pointer).value();
  f.node = tree.add(f.source.tokens);
  return f;
}

field_map::field_map(const decode_rules& rules) {
  const envelope_config& from = rules.envelope;
  if (rules.ids != id_kind::none) {
    event_id = read(from.event_id);
    for (const std::string& part : from.event_id_more) event_id_more.push_back(read(part));
  }
  aggregate = read(from.aggregate);
  for (const std::string& part : from.aggregate_more) aggregate_more.push_back(read(part));
  read_sequence(rules, event_mode::structured);
  type = read(from.type);
  time = read(from.time);
  element = read(element_read(from, rules.payload_from));
  foreign = read(rules.ignore_having);
  deleted = read(from.deletes.field);
  payload = read(rules.payload_from);
  list = outside.add(parse_json_pointer(from.each.pointer).value());
}

field_map::field_map(const decode_rules& rules, event_mode mode) : is_cloudevent{true} {
  const envelope_config& from = rules.envelope;
  version = read_attribute("attribute:specversion", mode);
  origin = read_attribute("attribute:source", mode);
  event_id = read_attribute("attribute:id", mode);
  aggregate = read_attribute(from.aggregate, mode);
  for (const std::string& part : from.aggregate_more) aggregate_more.push_back(read_attribute(part, mode));
  foreign = read_attribute(rules.ignore_having, mode);
  deleted = read_attribute(from.deletes.field, mode);
  read_sequence(rules, mode);
  type = read_attribute("attribute:type", mode);
  time = read_attribute("attribute:time", mode);
  if (mode == event_mode::binary) {
    payload = read(rules.payload_from);
    return;
  }
  data = read("/data");
  base64 = read("/data_base64");
  payload = read("/data" + rules.payload_from);
  inner_payload = inner.add(parse_json_pointer(rules.payload_from).value());
}

void field_map::read_sequence(const decode_rules& rules, event_mode mode) {
  const envelope_config& from = rules.envelope;
  if (rules.order == order::arrival) return;
  versions = kind_of_sequences(from, rules.order);
  if (is_of_record(from.sequence)) {
    of_record = from.sequence == "offset" ? own::place : own::time;
    return;
  }
  sequence = read_attribute(from.sequence, mode);
  epoch = read_attribute(from.epoch, mode);
  if (are_numbers_or_text(from, rules.order)) sequence_type = read_attribute("attribute:sequencetype", mode);
  if (rules.order != order::strict) return;
  begin = read_attribute(from.sequence_first, mode);
  previous = read_attribute(from.previous, mode);
}

field field_map::read(const std::string& text) {
  if (text.empty()) return {};
  field f{true, parse_field_source(text).value(), json::k_no_node};
  if (f.in_value()) {
    f.node = (f.is_outside() ? outside : tree).add(f.source.tokens);
    any_in_value = true;
  }
  return f;
}

field field_map::read_attribute(const std::string& text, event_mode mode) {
  const std::string_view name = attribute_of(text);
  if (name.empty()) return read(text);
  return read((mode == event_mode::structured ? "/" : "header:ce_") + std::string{name});
}

}  // namespace ratchet
