// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/record_reader.hpp"

#include <algorithm>

#include "decode/event_id_text.hpp"
#include "decode/json_text.hpp"
#include "decode/media_type.hpp"
#include "decode/record_hash.hpp"
#include "decode/sequence_text.hpp"
#include "decode/time_text.hpp"

namespace ratchet {
namespace {

constexpr std::size_t k_max_aggregate_bytes = 1024;
constexpr std::string_view k_content_type{"content-type"};

}  // namespace

field_map::field_map(const decode_rules& rules) {
  const envelope_config& from = rules.envelope;
  if (rules.ids != id_kind::none) event_id = read(from.event_id);
  aggregate = read(from.aggregate);
  if (rules.order != order::arrival) {
    sequence = read(from.sequence);
    epoch = read(from.epoch);
  }
  type = read(from.type);
  time = read(from.time);
  payload = read(rules.payload_from);
}

field field_map::read(const std::string& text) {
  if (text.empty()) return {};
  field f{true, parse_field_source(text).value(), json::k_no_node};
  if (f.in_value()) {
    f.node = tree.add(f.source.tokens);
    any_in_value = true;
  }
  return f;
}

record_reader::record_reader(const decode_rules& rules, const field_map& fields)
    : rules_{&rules}, fields_{&fields}, walker_{fields.tree} {}

void record_reader::read(const record& r, decoded_event& event, text_arena& texts) {
  record_ = &r;
  event_ = &event;
  texts_ = &texts;
  event = decoded_event{};
  event.from = &r;
  if (!rules_->time_stands_for_record) event.record_time = r.time;
  if (read_all()) event.kind = r.value ? decoded_kind::event : decoded_kind::tombstone;
}

/// The order in which faults are looked for: first the value as a whole, then field by field.
bool record_reader::read_all() {
  return read_value() && read_event_id() && read_aggregate() && read_sequence() && read_type() &&
         read_time() && read_payload();
}

bool record_reader::read_value() {
  if (!record_->value) return true;
  const std::string_view value = *record_->value;
  if (value.size() > rules_->max_value_bytes) {
    return fail(malformed_reason::too_large, {}, rules_->max_value_bytes);
  }
  if (value.empty()) return fail(malformed_reason::empty_value, {}, 0);
  if (value_is_bytes()) return true;
  const json::fault fault = walker_.walk(value);
  if (fault.reason != malformed_reason::none) return fail(fault.reason, {}, fault.offset);
  const json::found& root = walker_.at(json::k_root);
  if (root.what == json::kind::null) return fail(malformed_reason::null_value, {}, offset_of(root.begin));
  return true;
}

/// Where nothing is read from the value, a record that says so may carry something other than JSON.
bool record_reader::value_is_bytes() const {
  if (!rules_->bytes_allowed || fields_->any_in_value) return false;
  const auto at = std::find_if(record_->headers.begin(), record_->headers.end(),
                               [](const header& h) { return equal_ignoring_case(h.name, k_content_type); });
  return at != record_->headers.end() && at->value && !is_json_media_type(*at->value);
}

bool record_reader::read_event_id() {
  const field& f = fields_->event_id;
  if (!f.mapped) return true;
  field_value value;
  if (!fetch_required(f, value)) return false;
  if (value.what != json::kind::string) return fail(malformed_reason::wrong_type, f, value);
  const auto id = parse_uuidv7(value.text);
  if (!id) return fail(malformed_reason::id_invalid, f, value);
  event_->has_id = true;
  event_->id = *id;
  return true;
}

bool record_reader::read_aggregate() {
  const field& f = fields_->aggregate;
  field_value value;
  if (!fetch_required(f, value)) return false;
  if (value.what == json::kind::number) {
    // An integer is taken as it is spelt; a number with a fraction or an exponent names nothing.
    if (value.text.find_first_of(".eE") != std::string_view::npos) {
      return fail(malformed_reason::wrong_type, f, value);
    }
  } else if (value.what != json::kind::string) {
    return fail(malformed_reason::wrong_type, f, value);
  }
  if (value.text.empty() || value.text.size() > k_max_aggregate_bytes) {
    return fail(malformed_reason::aggregate_size, f, value);
  }
  if (value.outside) {
    const std::size_t bad = json::first_bad_utf8(value.text);
    if (bad != value.text.size()) return fail(malformed_reason::invalid_utf8, f.source.text, bad);
  }
  event_->aggregate = value.text;
  return true;
}

bool record_reader::read_sequence() {
  if (rules_->order == order::arrival) return true;
  const bool wide = rules_->envelope.sequence_bits == 128;
  if (!read_number(fields_->sequence, wide, event_->sequence)) return false;
  if (fields_->epoch.mapped && !wide) {
    ratchet::sequence epoch;
    if (!read_number(fields_->epoch, false, epoch)) return false;
    event_->sequence.epoch = epoch.number;
  }
  event_->has_sequence = true;
  return true;
}

bool record_reader::read_number(const field& f, bool wide, ratchet::sequence& to) {
  field_value value;
  if (!fetch_required(f, value)) return false;
  if (value.what != json::kind::string && value.what != json::kind::number) {
    return fail(malformed_reason::wrong_type, f, value);
  }
  if (wide) {
    const auto number = parse_u128(value.text);
    if (!number) return fail(malformed_reason::sequence_invalid, f, value);
    to = *number;
  } else {
    const auto number = parse_u64(value.text);
    if (!number) return fail(malformed_reason::sequence_invalid, f, value);
    to = {0, *number};
  }
  return true;
}

bool record_reader::read_type() {
  const field& f = fields_->type;
  field_value value;
  if (!fetch(f, value)) return false;
  if (value.what == json::kind::none) return true;
  if (value.what != json::kind::string) return fail(malformed_reason::wrong_type, f, value);
  if (value.outside) {
    const std::size_t bad = json::first_bad_utf8(value.text);
    if (bad != value.text.size()) return fail(malformed_reason::invalid_utf8, f.source.text, bad);
  }
  event_->type = value.text;
  return true;
}

bool record_reader::read_time() {
  const field& f = fields_->time;
  field_value value;
  if (!fetch(f, value)) return false;
  if (value.what == json::kind::none) return true;
  const bool is_text = value.what == json::kind::string;
  const bool is_number = value.what == json::kind::number || value.outside;
  if (is_text) event_->time = parse_rfc3339(value.text);
  if (is_number && !event_->time) event_->time = parse_milliseconds(value.text);
  if (!rules_->time_stands_for_record) return true;
  if (!event_->time) {
    return fail(is_text || is_number ? malformed_reason::time_invalid : malformed_reason::wrong_type, f,
                value);
  }
  event_->record_time = event_->time;
  return true;
}

bool record_reader::read_payload() {
  if (!record_->value) return true;
  const field& f = fields_->payload;
  if (!f.mapped) {
    event_->payload = *record_->value;
  } else {
    if (!no_duplicate(f)) return false;
    const json::found& here = walker_.at(f.node);
    if (here.what == json::kind::none) {
      field_value value;
      return fetch_required(f, value);  // says where it is missing
    }
    event_->payload = {here.begin, static_cast<std::size_t>(here.end - here.begin)};
  }
  event_->payload_hash = payload_hash(event_->payload);
  return true;
}

/// The field's text. Success with kind none: there is none, or it is null. False: it cannot be read at all.
bool record_reader::fetch(const field& f, field_value& value) {
  if (!f.mapped) return true;
  switch (f.source.from) {
    case field_source::place::pointer:
      return fetch_from_value(f, value);
    case field_source::place::header:
      return fetch_header(f, value);
    case field_source::place::key:
      break;
  }
  if (!record_->key) return fail(malformed_reason::null_key, f.source.text, 0);
  value = {json::kind::string, true, *record_->key, 0};
  return true;
}

bool record_reader::fetch_required(const field& f, field_value& value) {
  if (!fetch(f, value)) return false;
  if (value.what != json::kind::none) return true;
  const bool deletes = !record_->value && f.in_value();
  return fail(deletes ? malformed_reason::null_value : malformed_reason::missing_field, f, value);
}

bool record_reader::fetch_header(const field& f, field_value& value) {
  const header* found = nullptr;
  for (const header& h : record_->headers) {
    if (h.name != f.source.header) continue;
    if (found != nullptr) return fail(malformed_reason::duplicate_header, f.source.text, 0);
    found = &h;
  }
  if (found != nullptr && found->value) value = {json::kind::string, true, *found->value, 0};
  return true;
}

bool record_reader::fetch_from_value(const field& f, field_value& value) {
  if (!record_->value) return true;
  if (!no_duplicate(f)) return false;
  const json::found& here = walker_.at(f.node);
  if (here.what == json::kind::none) {
    // What is missing has no place: name the innermost value on its path that is there.
    json::node_index node = fields_->tree.parent(f.node);
    while (node != json::k_root && walker_.at(node).what == json::kind::none)
      node = fields_->tree.parent(node);
    value.offset = offset_of(walker_.at(node).begin);
    return true;
  }
  value.offset = offset_of(here.begin);
  if (here.what == json::kind::null) return true;
  value.what = here.what;
  value.text = {here.begin, static_cast<std::size_t>(here.end - here.begin)};
  if (here.what != json::kind::string) return true;
  value.text = value.text.substr(1, value.text.size() - 2);
  return !here.escaped || unescape(f, value);
}

bool record_reader::unescape(const field& f, field_value& value) {
  char* const room = texts_->room(value.text.size());
  const json::unescaped plain = json::unescape(value.text, room);
  if (plain.lone_surrogate != nullptr) {
    return fail(malformed_reason::lone_surrogate, f.source.text, offset_of(plain.lone_surrogate));
  }
  texts_->keep(room, plain.size);
  value.text = {room, plain.size};
  return true;
}

/// Whether every key on the field's path occurs once. If not, the outermost second one is the fault.
bool record_reader::no_duplicate(const field& f) {
  if (!walker_.any_duplicate()) return true;
  const char* second = nullptr;
  for (json::node_index node = f.node; node != json::k_no_node; node = fields_->tree.parent(node)) {
    if (walker_.at(node).duplicate != nullptr) second = walker_.at(node).duplicate;
  }
  return second == nullptr || fail(malformed_reason::duplicate_field, f.source.text, offset_of(second));
}

std::uint64_t record_reader::offset_of(const char* p) const noexcept {
  return static_cast<std::uint64_t>(p - record_->value->data());
}

bool record_reader::fail(malformed_reason reason, std::string_view pointer, std::uint64_t offset) noexcept {
  decoded_event broken;
  broken.from = event_->from;
  broken.record_time = event_->record_time;
  broken.kind = decoded_kind::malformed;
  broken.malformed = {reason, pointer, offset};
  *event_ = broken;
  return false;
}

}  // namespace ratchet
