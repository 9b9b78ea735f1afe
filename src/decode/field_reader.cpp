// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/field_reader.hpp"

#include <algorithm>

#include "decode/json_text.hpp"
#include "decode/key_text.hpp"
#include "decode/media_type.hpp"
#include "decode/record_hash.hpp"
#include "decode/registry_frame.hpp"
#include "decode/sequence_text.hpp"
#include "decode/time_text.hpp"

namespace ratchet {
namespace {

constexpr std::size_t k_max_aggregate_bytes = 1024;

}  // namespace

void field_reader::read(const record& r, decoded_event& event, text_arena& texts) {
  record_ = &r;
  event_ = &event;
  texts_ = &texts;
  body_ = r.value.value_or(std::string_view{});
  event = decoded_event{};
  event.from = &r;
  event.kind = r.value ? decoded_kind::event : decoded_kind::tombstone;
  if (!rules_->time_stands_for_record) event.record_time = r.time;
  (void)read_all();  // what fails has said so in the event
}

bool field_reader::check_size() {
  if (body_.size() > rules_->max_value_bytes) {
    return fail(malformed_reason::too_large, {}, rules_->max_value_bytes);
  }
  return !body_.empty() || fail(malformed_reason::empty_value, {}, 0);
}

bool field_reader::walk_value() {
  if (static_cast<unsigned char>(body_.front()) <= k_highest_frame_byte && record_->part_of == nullptr) {
    const malformed_reason framed = take_off_frame(body_);
    if (framed != malformed_reason::none) return fail(framed, {}, 0);
  }
  const json::fault fault = walker_.walk(body_);
  if (fault.reason != malformed_reason::none) {
    return fail(fault.reason, {}, offset_of(body_.data()) + fault.offset);
  }
  const json::found& root = walker_.at(json::k_root);
  return root.what != json::kind::null || fail(malformed_reason::null_value, {}, offset_of(root.begin));
}

bool field_reader::check_utf8(const field& f, const field_value& value) {
  if (!value.outside) return true;
  const std::size_t bad = json::first_bad_utf8(value.text);
  return bad == value.text.size() || fail(malformed_reason::invalid_utf8, f.source.text, bad);
}

bool field_reader::set_aggregate(const field& f, const field_value& value) {
  if (value.text.empty() || value.text.size() > k_max_aggregate_bytes) {
    return fail(malformed_reason::aggregate_size, f, value);
  }
  event_->aggregate = value.text;
  return true;
}

bool field_reader::read_number(const field& f, bool wide, ratchet::sequence& to) {
  field_value value;
  if (!fetch_required(f, value)) return false;
  if (value.what != json::kind::string && value.what != json::kind::number) {
    return fail(malformed_reason::wrong_type, f, value);
  }
  if (wide) {
    const auto number = parse_u128(value.text);
    if (!number) return fail_number(f, value);
    to = *number;
  } else {
    const auto number = parse_u64(value.text);
    if (!number) return fail_number(f, value);
    to = {0, *number};
  }
  return true;
}

bool field_reader::fail_number(const field& f, const field_value& value) {
  const bool is_number =
      !value.text.empty() && value.text.find_first_not_of("0123456789") == std::string_view::npos;
  return fail(is_number ? malformed_reason::sequence_too_large : malformed_reason::sequence_invalid, f,
              value);
}

bool field_reader::read_hex(const field& f, bool wide, ratchet::sequence& to) {
  field_value value;
  if (!fetch_required(f, value)) return false;
  if (value.what != json::kind::string) return fail(malformed_reason::wrong_type, f, value);
  const auto number = parse_hex_u128(value.text);
  if (!number || (!wide && number->epoch != 0)) return fail(malformed_reason::sequence_invalid, f, value);
  to = *number;
  return true;
}

bool field_reader::read_time_from(const field& f) {
  field_value value;
  if (!fetch(f, value)) return false;
  if (value.what == json::kind::none) return true;
  const bool is_text = value.what == json::kind::string;
  const bool is_number = value.what == json::kind::number || value.outside;
  if (is_text) event_->time = parse_rfc3339(value.text);
  if (!event_->time && (is_number || is_text)) {  // also digits as text
    event_->time = parse_time_number(value.text, rules_->envelope.time_unit);
  }
  if (is_text && !event_->time) event_->time = parse_time_spelling(value.text);
  // Also where the record has a time of its own: what is there and means nothing is no time that is absent.
  if (!event_->time) {
    return fail(is_text || is_number ? malformed_reason::time_invalid : malformed_reason::wrong_type, f,
                value);
  }
  if (rules_->time_stands_for_record) event_->record_time = event_->time;
  return true;
}

bool field_reader::set_payload(const field& f) {
  if (!no_duplicate(f)) return false;
  const json::found& here = walker_.at(f.node);
  if (here.what == json::kind::none) {
    field_value value;
    return fetch_required(f, value);  // says where it is missing
  }
  event_->payload = {here.begin, static_cast<std::size_t>(here.end - here.begin)};
  event_->payload_hash = payload_hash(event_->payload);
  return true;
}

bool field_reader::fetch(const field& f, field_value& value) {
  if (!f.mapped) return true;
  switch (f.source.from) {
    case field_source::place::pointer:
      return fetch_from_value(f, value);
    case field_source::place::header:
      return fetch_header(f, value);
    case field_source::place::record:
      return fetch_from_outside(f, value);
    case field_source::place::key:
      break;
  }
  return fetch_key(f, value);
}

bool field_reader::fetch_key(const field& f, field_value& value) {
  if (!record_->key) return fail(malformed_reason::null_key, f.source.text, 0);
  // Most keys are plain text, which the first look tells.
  const std::string_view key = *record_->key;
  if (rules_->envelope.key == key_kind::automatic && is_ascii_text(key)) {
    value = {json::kind::string, true, key, 0};
    return true;
  }
  const key_text read = read_key(rules_->envelope.key, *record_->key, *texts_);
  if (read.reason != malformed_reason::none) return fail(read.reason, f.source.text, read.offset);
  value = {json::kind::string, true, read.text, 0};
  return true;
}

bool field_reader::fetch_required(const field& f, field_value& value) {
  if (!fetch(f, value)) return false;
  if (value.what != json::kind::none) return true;
  const bool deletes = !record_->value && f.in_value();
  return fail(deletes ? malformed_reason::null_value : malformed_reason::missing_field, f, value);
}

/// A header that is there twice with one value says what it says once. Its name in other letter case is it,
/// where it is nowhere as the config has it.
bool field_reader::fetch_header(const field& f, field_value& value) {
  const header* found = nullptr;
  const auto is_one = [&found](const header& h) {
    if (found != nullptr) return found->value == h.value;
    found = &h;
    return true;
  };
  for (const header& h : record_->headers) {
    if (h.name == f.source.header && !is_one(h))
      return fail(malformed_reason::duplicate_header, f.source.text, 0);
  }
  if (found == nullptr) {
    for (const header& h : record_->headers) {
      if (h.name.size() == f.source.header.size() && equal_ignoring_case(h.name, f.source.header) &&
          !is_one(h))
        return fail(malformed_reason::duplicate_header, f.source.text, 0);
    }
  }
  if (found == nullptr || !found->value) return true;
  if (has_control(*found->value)) return fail(malformed_reason::header_binary, f.source.text, 0);
  value = {json::kind::string, true, *found->value, 0};
  return true;
}

/// As a part of both its callers: most fields are read by the first one.
[[gnu::always_inline]] inline bool field_reader::fetch_from(document in, const field& f, field_value& value) {
  if (in.walked.any_duplicate() && !fail_where_twice(in, f)) return false;
  const json::found& here = in.walked.at(f.node);
  if (here.what == json::kind::none) {
    value.offset = static_cast<std::uint64_t>(in.walked.begin_of_nearest(f.node) - in.begin);
    return true;
  }
  value.offset = static_cast<std::uint64_t>(here.begin - in.begin);
  if (here.what == json::kind::null) return true;
  value.what = here.what;
  value.text = {here.begin, static_cast<std::size_t>(here.end - here.begin)};
  if (here.what != json::kind::string) return true;
  value.text = value.text.substr(1, value.text.size() - 2);
  return !here.escaped || unescape(in.begin, f, value);
}

bool field_reader::fetch_from_value(const field& f, field_value& value) {
  if (!record_->value) return true;
  return fetch_from({walker_, record_->value->data()}, f, value);
}

/// From what stands beside the list that the event is of.
bool field_reader::fetch_from_outside(const field& f, field_value& value) {
  if (!record_->value) return true;
  return fetch_from({*outside_, whole_of(*record_).value->data()}, f, value);
}

bool field_reader::unescape(const char* begin, const field& f, field_value& value) {
  char* const room = texts_->room(value.text.size());
  const json::unescaped plain = json::unescape(value.text, room);
  if (plain.lone_surrogate != nullptr) {
    return fail(malformed_reason::lone_surrogate, f.source.text,
                static_cast<std::uint64_t>(plain.lone_surrogate - begin));
  }
  texts_->keep(room, plain.size);
  value.text = {room, plain.size};
  return true;
}

/// Whether every key on the field's path occurs once.
bool field_reader::no_duplicate(const field& f) {
  if (!walker_.any_duplicate()) return true;
  return fail_where_twice({walker_, record_->value->data()}, f);
}

bool field_reader::are_whole(std::span<const whole_array> arrays) {
  return std::all_of(arrays.begin(), arrays.end(), [this](const whole_array& a) { return is_whole(a); });
}

bool field_reader::is_whole(const whole_array& array) {
  if (!no_duplicate(array.last)) return false;
  if (!array.has_more(walker_, body_.data() + body_.size())) return true;
  return fail(malformed_reason::longer_array, array.last.source.text,
              offset_of(walker_.at(array.array).begin));
}

/// True: every key on the field's path occurs once. If not, the outermost second one is the fault.
bool field_reader::fail_where_twice(document in, const field& f) {
  const char* const second = in.walked.second_key(f.node);
  return second == nullptr || fail(malformed_reason::duplicate_field, f.source.text,
                                   static_cast<std::uint64_t>(second - in.begin));
}

std::string_view field_reader::key_body() const noexcept {
  return record_->key->substr(json_behind_frame(*record_->key).value_or(0));
}

std::uint64_t field_reader::offset_of(const char* p) const noexcept {
  return static_cast<std::uint64_t>(p - record_->value->data());
}

bool field_reader::fail(malformed_reason reason, std::string_view pointer, std::uint64_t offset) noexcept {
  decoded_event broken;
  broken.from = event_->from;
  broken.record_time = event_->record_time;
  broken.kind = decoded_kind::malformed;
  broken.malformed = {reason, pointer, offset};
  *event_ = broken;
  return false;
}

}  // namespace ratchet
