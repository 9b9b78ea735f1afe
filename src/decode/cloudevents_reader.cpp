// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/cloudevents_reader.hpp"

#include <algorithm>

#include "decode/base64_text.hpp"
#include "decode/media_type.hpp"
#include "decode/record_hash.hpp"
#include "decode/registry_frame.hpp"

namespace ratchet {
namespace {

constexpr std::string_view k_version{"1.0"};
constexpr std::string_view k_absent_data{"null"};

enum class travels : std::uint8_t { structured, unsaid, binary, batch, otherwise };

/// In any letter case, as the other headers; its length alone tells it from most of them.
bool is_version(std::string_view name) noexcept {
  constexpr std::string_view k_header{"ce_specversion"};
  return name.size() == k_header.size() && (name == k_header || equal_ignoring_case(name, k_header));
}

/// By the Kafka protocol binding 1.0.2, section 3.
travels mode_of(const record& r) noexcept {
  bool has_version = false;
  for (const header& h : r.headers) {
    if (is_content_type(h) && h.value) {
      const cloudevents_type type = cloudevents_type_of(*h.value);
      if (type == cloudevents_type::json) return travels::structured;
      if (type == cloudevents_type::batch) return travels::batch;
      if (type == cloudevents_type::other) return travels::otherwise;
    }
    has_version = has_version || is_version(h.name);
  }
  return has_version ? travels::binary : travels::unsaid;
}

/// No event in JSON is an array, but the data of one in binary mode may be.
bool holds_several(const record& r) noexcept {
  std::string_view body = *r.value;
  if (!body.empty() && static_cast<unsigned char>(body.front()) <= k_highest_frame_byte)
    body.remove_prefix(json_behind_frame(body).value_or(0));
  const std::size_t first = body.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || body[first] != '[') return false;
  const travels mode = mode_of(r);
  return mode == travels::batch || mode == travels::unsaid;
}

}  // namespace

cloudevents_reader::cloudevents_reader(const decode_rules& rules)
    : rules_{&rules},
      structured_fields_{rules, event_mode::structured},
      binary_fields_{rules, event_mode::binary},
      structured_{rules, structured_fields_},
      binary_{rules, binary_fields_},
      splitter_{rules, &holds_several} {}

void cloudevents_reader::read(const record& r, decoded_event& event, text_arena& texts) {
  if (r.part_of != nullptr) return structured_.read(r, event, texts);
  const travels mode = mode_of(r);
  if (mode == travels::binary) return binary_.read(r, event, texts);
  if (mode == travels::otherwise || mode == travels::batch)
    return refuse(r, malformed_reason::event_format, event);
  // Only binary mode can tell whose tombstone it is.
  if (!r.value) {
    refuse(r, malformed_reason::null_value, event);
    if (!rules_->ignore_tombstones && rules_->types.empty()) return;
    event.malformed = {};
    event.kind = decoded_kind::ignored;
    return;
  }
  structured_.read(r, event, texts);
}

void cloudevents_reader::refuse(const record& r, malformed_reason reason, decoded_event& event) const {
  event = decoded_event{};
  event.from = &r;
  if (!rules_->time_stands_for_record) event.record_time = r.time;
  const bool of_header = reason == malformed_reason::event_format;
  event.malformed = {reason, of_header ? std::string_view{"header:content-type"} : std::string_view{}, 0};
}

/// What makes it a CloudEvent: the version, and a source.
bool record_reader::read_context() {
  field_value version;
  if (!fetch_attribute(fields_->version, version)) return false;
  if (version.text != k_version) return fail(malformed_reason::version_unknown, fields_->version, version);
  field_value origin;
  if (!fetch_attribute(fields_->origin, origin) || !check_utf8(fields_->origin, origin)) return false;
  origin_ = origin.text;
  return true;
}

/// A required attribute that is text, and not empty.
bool record_reader::fetch_attribute(const field& f, field_value& value) {
  if (!fetch_required(f, value)) return false;
  if (value.what != json::kind::string) return fail(malformed_reason::wrong_type, f, value);
  return !value.text.empty() || fail(malformed_reason::missing_field, f, value);
}

bool record_reader::check_sign() {
  field_value value;
  if (!fetch(fields_->sequence, value)) return false;
  const bool negative = value.text.size() > 1 && value.text.front() == '-' &&
                        value.text.find_first_not_of("0123456789", 1) == std::string_view::npos;
  return !negative || fail(malformed_reason::sequence_negative, fields_->sequence, value);
}

/// What stands for the data of an event in structured mode.
bool record_reader::read_data() {
  field_value encoded;
  if (!fetch_from_value(fields_->base64, encoded)) return false;
  if (encoded.what != json::kind::none) return read_base64(encoded);
  if (at(fields_->data.node).what != json::kind::none || !rules().payload_from.empty()) {
    return set_payload(fields_->payload);
  }
  event().payload = k_absent_data;
  event().payload_hash = payload_hash(event().payload);
  return true;
}

bool record_reader::read_base64(const field_value& encoded) {
  const field& f = fields_->base64;
  if (at(fields_->data.node).what != json::kind::none) {
    return fail(malformed_reason::duplicate_field, f, encoded);  // an event has one or the other
  }
  if (encoded.what != json::kind::string) return fail(malformed_reason::wrong_type, f, encoded);
  char* const room = texts().room(encoded.text.size());
  const auto size = decode_base64(encoded.text, room);
  if (!size) return fail(malformed_reason::base64_invalid, f, encoded);
  texts().keep(room, *size);
  const std::string_view bytes{room, *size};
  event().payload = bytes;
  // Bytes may be anything, but where something is read out of them.
  if (!rules().payload_from.empty() || !rules().bytes_allowed) {
    const json::fault fault = inner_.walk(bytes);
    if (fault.reason != malformed_reason::none) return fail(fault.reason, f, encoded);
    if (inner_.any_duplicate()) return fail(malformed_reason::duplicate_field, fields_->payload, encoded);
    const json::found& here = inner_.at(fields_->inner_payload);
    if (here.what == json::kind::none)
      return fail(malformed_reason::missing_field, fields_->payload, encoded);
    for (const whole_array& a : fields_->inner_arrays) {
      if (a.has_more(inner_, bytes.data() + bytes.size()))
        return fail(malformed_reason::longer_array, fields_->payload, encoded);
    }
    event().payload = {here.begin, static_cast<std::size_t>(here.end - here.begin)};
  }
  event().payload_hash = payload_hash(event().payload);
  return true;
}

}  // namespace ratchet
