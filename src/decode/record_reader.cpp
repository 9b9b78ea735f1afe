// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/record_reader.hpp"

#include <algorithm>
#include <chrono>
#include <string>

#include "decode/event_id_text.hpp"
#include "decode/json_number.hpp"
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
  if (!chooses_) return read_value() && read_fields();
  // A type in a header is known before the value, which of others' events may be anything.
  return fields_->type.in_value() ? read_value() && choose() : choose();
}

bool record_reader::read_fields() {
  if (!fields_->arrays.empty() && from().value && !are_whole(fields_->arrays)) return false;
  return (!fields_->is_cloudevent || read_context()) && read_event_id() && read_aggregate() &&
         read_sequence() && read_type() && read_time_from(fields_->time) && number_the_record() &&
         read_payload();
}

/// Of what is ignored nothing but its type is looked at: it may have another shape. A null value has no type
/// where types stand in the value, and is judged by what else it has.
bool record_reader::choose() {
  if (!from().value && rules().ignore_tombstones) return ignore();
  field_value type;
  if (!fetch(fields_->type, type)) {
    // The types of the config are text.
    if (event().malformed.reason != malformed_reason::header_binary || types_.empty()) return false;
    event().malformed = {};
    return ignore();
  }
  const bool is_text = type.what == json::kind::string;
  const bool may_be_ours = is_text ? types_.empty() || types_.contain(type.text)
                                   : types_.empty() || (!from().value && type.what == json::kind::none);
  if (!may_be_ours || (is_text && ignored_.contain(type.text))) {
    if (!are_told_by_all(&whole_array::tells_type)) return false;
    if (is_text && !type.outside) event().type = type.text;
    return ignore();
  }
  bool is_others = false;
  if ((fields_->type.in_value() || read_value()) && is_foreign(is_others)) {
    if (is_others) return ignore();
    if (read_fields()) return true;
  }
  if (from().value || types_.empty()) return false;
  event().malformed = {};  // a null value of which nothing can be read is none of the types
  return ignore();
}

/// Whether it has the field that events of others have. False: it cannot be told.
bool record_reader::is_foreign(bool& yes) {
  field_value value;
  if (!fetch(fields_->foreign, value)) return false;
  yes = value.what != json::kind::none;
  return !yes || are_told_by_all(&whole_array::tells_foreign);
}

/// What one element says makes nothing of the others.
bool record_reader::are_told_by_all(bool whole_array::*decides) {
  return !from().value || std::all_of(fields_->arrays.begin(), fields_->arrays.end(),
                                      [&](const whole_array& a) { return !(a.*decides) || is_whole(a); });
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
  const bool is_lost =
      !from().value &&
      (f.in_value() || std::any_of(fields_->event_id_more.begin(), fields_->event_id_more.end(),
                                   [](const field& part) { return part.in_value(); }));
  if (is_lost && give_position_for_id()) return true;
  field_value value;
  if (!fields_->event_id_more.empty()) {
    if (!fetch_joined(f, fields_->event_id_more, value)) return false;
  } else if (!(fields_->is_cloudevent ? fetch_attribute(f, value) : fetch_required(f, value))) {
    return false;
  }
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

/// A null value whose id would stand in it is told from others by its place alone.
bool record_reader::give_position_for_id() {
  const id_kind ids = rules().ids;
  if (fields_->aggregate.in_value() || fields_->is_cloudevent || from().where->topic.empty()) return false;
  if (ids != id_kind::opaque && (!has_own_time(ids) || !from().time)) return false;
  const std::string place = "null/" + from().where->topic + "/" +
                            std::to_string(static_cast<std::int32_t>(from().where->partition)) + "/" +
                            std::to_string(from().offset);
  event().has_id = true;
  if (ids == id_kind::opaque) {
    char* const room = texts().room(place.size());
    std::copy(place.begin(), place.end(), room);
    texts().keep(room, place.size());
    event().id_text = {room, place.size()};
    event().id = hash_opaque_id(place).value();
  } else {
    event().id = id_of_place(ids, *from().time, place);
  }
  return true;
}

/// The parts, with a slash between them. In a part a slash is ~1 and a tilde ~0, as in a JSON Pointer, so
/// that no two lists of parts are one text.
bool record_reader::fetch_joined(const field& first, std::span<const field> more, field_value& value) {
  parts_.clear();
  std::size_t most = more.size();
  for (std::size_t i = 0; i <= more.size(); ++i) {
    const field& part = i == 0 ? first : more[i - 1];
    field_value here;
    if (!fetch_required(part, here)) return false;
    if (!names_something(here.what, here.text)) return fail(malformed_reason::wrong_type, part, here);
    if (!check_utf8(part, here)) return false;
    if (i == 0) value.offset = here.offset;
    parts_.push_back(here.text);
    most += 2 * here.text.size();
  }
  char* const room = texts().room(most);
  char* end = room;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const std::string_view part = parts_[i];
    if (i > 0) *end++ = '/';
    if (part.find('~') == std::string_view::npos && part.find('/') == std::string_view::npos) {
      end = std::copy(part.begin(), part.end(), end);
      continue;
    }
    for (const char c : part) {
      const bool is_special = c == '~' || c == '/';
      *end++ = is_special ? '~' : c;
      if (is_special) *end++ = c == '~' ? '0' : '1';
    }
  }
  const auto size = static_cast<std::size_t>(end - room);
  const bool says_nothing = size == more.size();
  texts().keep(room, size);
  value.what = json::kind::string;
  value.text = {room, says_nothing ? 0 : size};
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
  if (!fields_->aggregate_more.empty())
    return fetch_joined(f, fields_->aggregate_more, value) && set_aggregate(f, value);
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

/// Whether the event deletes its aggregate's snapshot though it has a value. False: it cannot be told.
bool record_reader::deletes(bool& yes) {
  yes = deleting_.contain(event().type);
  if (yes || !fields_->deleted.mapped) return true;
  field_value value;
  if (!fetch(fields_->deleted, value)) return false;
  const std::vector<std::string>& is = rules().envelope.deletes.is;
  if (value.what == json::kind::none) {
    // What is not there says nothing, but null is a value.
    yes = is_null(fields_->deleted) && std::find(is.begin(), is.end(), "null") != is.end();
    return true;
  }
  // A producer may spell a number as 1 and as 1.0.
  const bool is_number = value.what == json::kind::number;
  if (is.empty()) {
    const bool says_no = value.text.empty() || value.text == "false" || value.text == "0" ||
                         (is_number && json::is_zero(value.text));
    yes = !says_no;
    return true;
  }
  yes = std::any_of(is.begin(), is.end(), [&](const std::string& one) {
    return value.text == one || (is_number && json::is_same_number(value.text, one));
  });
  return true;
}

bool record_reader::read_payload() {
  if (!from().value) return true;
  if (!deleting_.empty() || fields_->deleted.mapped) {
    bool yes = false;
    if (!deletes(yes)) return false;
    if (yes) {
      event().kind = decoded_kind::tombstone;
      return true;
    }
  }
  if (fields_->base64.mapped) return read_data();
  if (fields_->payload.mapped) return set_payload(fields_->payload);
  event().payload = body();
  event().payload_hash = payload_hash(event().payload);
  return true;
}

}  // namespace ratchet
