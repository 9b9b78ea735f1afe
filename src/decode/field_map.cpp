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
  foreign = read(rules.ignore_having);
  deleted = read(from.deletes.field);
  payload = read(rules.payload_from);
  list = outside.add(parse_json_pointer(from.each.pointer).value());
  find_arrays(from.each.pointer);
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
    find_arrays({});
    return;
  }
  data = read("/data");
  base64 = read("/data_base64");
  payload = read("/data" + rules.payload_from);
  const field within = field_at(inner, rules.payload_from);
  inner_payload = within.node;
  inner_arrays = arrays_on_way(inner, within, field_use::payload);
  find_arrays({});
}

void field_map::find_arrays(const std::string& each) {
  array_finder within;
  array_finder beside;
  const auto add = [&](const field& f, field_use use) {
    f.is_outside() ? beside.add(outside, f, use) : within.add(tree, f, use);
  };
  add(event_id, field_use::names_event);
  for (const field& part : event_id_more) add(part, field_use::names_event);
  add(aggregate, field_use::names_aggregate);
  for (const field& part : aggregate_more) add(part, field_use::names_aggregate);
  add(sequence, field_use::sequence);
  add(epoch, field_use::epoch);
  add(begin, field_use::begin);
  add(previous, field_use::previous);
  add(type, field_use::type);
  add(time, field_use::time);
  add(foreign, field_use::foreign);
  add(deleted, field_use::deletes);
  add(payload, field_use::payload);
  beside.add(outside, field_at(outside, each), field_use::list);
  arrays = within.arrays();
  arrays_outside = beside.arrays();
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

std::vector<std::string> elements_read(const decode_rules& rules) {
  std::vector<std::string> out;
  const auto add = [&out](const std::vector<whole_array>& arrays) {
    for (const whole_array& a : arrays) out.push_back(a.last.source.text);
  };
  switch (rules.envelope.format) {
    case envelope_format::json:
    case envelope_format::debezium_outbox: {
      const field_map fields{rules};
      add(fields.arrays_outside);
      add(fields.arrays);
      break;
    }
    case envelope_format::cloudevents:
      add(field_map{rules, event_mode::structured}.arrays);
      break;
    case envelope_format::debezium_cdc:
    case envelope_format::ydb_changefeed: {
      json::pointer_tree row;
      add(arrays_on_way(row, field_at(row, rules.payload_from), field_use::payload));
      break;
    }
  }
  return out;
}

}  // namespace ratchet
