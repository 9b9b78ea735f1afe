// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/record_reader.hpp"

#include <algorithm>
#include <chrono>

#include "decode/event_id_text.hpp"
#include "decode/media_type.hpp"
#include "decode/record_hash.hpp"
#include "decode/sequence_text.hpp"

namespace ratchet {

namespace {

/// Whether the value can be a name: text, or an integer, which is taken as it is spelt. A number with a
/// fraction or an exponent names nothing.
bool names_something(json::kind what, std::string_view text) noexcept {
  if (what == json::kind::number) return text.find_first_of(".eE") == std::string_view::npos;
  return what == json::kind::string;
}

/// A UUIDv7 that says it is from behind the year 2100. Older drafts begin with 36 bits of seconds under the
/// same version, which read as the milliseconds of the year 2190 and later: never would such an id be too
/// old.
constexpr timestamp k_no_uuid_yet{std::chrono::sys_days{std::chrono::year{2100} / 1 / 1}};

}  // namespace

/// The order in which faults are looked for: first the value as a whole, then field by field.
bool record_reader::read_all() {
  return read_value() && (!fields_->is_cloudevent || read_context()) && read_event_id() && read_aggregate() &&
         read_sequence() && read_type() && read_time_from(fields_->time) && number_the_record() &&
         read_payload();
}

bool record_reader::read_value() {
  if (!from().value) return true;
  return check_size() && (value_is_bytes() || walk_value());
}

/// Where nothing is read from the value, a record that says so may carry something other than JSON.
bool record_reader::value_is_bytes() const {
  if (!rules().bytes_allowed || fields_->any_in_value) return false;
  const auto at = std::find_if(from().headers.begin(), from().headers.end(), is_content_type);
  return at != from().headers.end() && at->value && !is_json_media_type(*at->value);
}

bool record_reader::read_event_id() {
  const field& f = fields_->event_id;
  if (!f.mapped) return true;
  field_value value;
  if (!(fields_->is_cloudevent ? fetch_attribute(f, value) : fetch_required(f, value))) return false;
  if (rules().ids == id_kind::none) return true;
  if (rules().ids == id_kind::monotonic) return read_id_number(f, value);
  const bool opaque = rules().ids == id_kind::opaque;
  if (value.what != json::kind::string && !(opaque && names_something(value.what, value.text)))
    return fail(malformed_reason::wrong_type, f, value);
  const auto id = parse_event_id(rules().ids, value.text);
  if (!id) return fail(malformed_reason::id_invalid, f, value);
  if (rules().ids == id_kind::uuidv7 && id->time() >= k_no_uuid_yet)
    return fail(malformed_reason::id_time_invalid, f, value);
  if (opaque) {
    if (!check_utf8(f, value)) return false;
    event().id_text = value.text;
  }
  event().has_id = true;
  event().id = *id;
  if (fields_->is_cloudevent) {
    event().id = id_of_source(rules().ids, *id, origin_);
    event().source = origin_;
  }
  return true;
}

bool record_reader::read_id_number(const field& f, const field_value& value) {
  if (!names_something(value.what, value.text)) return fail(malformed_reason::wrong_type, f, value);
  const auto number = parse_u128(value.text);
  if (!number) return fail(malformed_reason::id_invalid, f, value);
  if (fields_->is_cloudevent) event().source = origin_;
  event().has_id = true;
  event().id_text = value.text;
  event().id_number = *number;
  event().id = id_of_number(*from().where, event().source, *number);
  return true;
}

bool record_reader::read_aggregate() {
  const field& f = fields_->aggregate;
  field_value value;
  if (!fetch_required(f, value)) return false;
  if (!names_something(value.what, value.text)) return fail(malformed_reason::wrong_type, f, value);
  return set_aggregate(f, value) && check_utf8(f, value);
}

bool record_reader::read_type() {
  const field& f = fields_->type;
  field_value value;
  if (!(fields_->is_cloudevent ? fetch_attribute(f, value) : fetch(f, value))) return false;
  if (value.what == json::kind::none) return true;
  if (value.what != json::kind::string) return fail(malformed_reason::wrong_type, f, value);
  if (!check_utf8(f, value)) return false;
  event().type = value.text;
  return true;
}

bool record_reader::read_payload() {
  if (!from().value) return true;
  if (fields_->base64.mapped) return read_data();
  if (fields_->payload.mapped) return set_payload(fields_->payload);
  event().payload = *from().value;
  event().payload_hash = payload_hash(event().payload);
  return true;
}

}  // namespace ratchet
