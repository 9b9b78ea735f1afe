// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The part of record_reader that reads sequences.
#include "decode/record_reader.hpp"
#include "decode/sequence_kinds.hpp"
#include "decode/sequence_text.hpp"

namespace ratchet {

bool record_reader::read_sequence() {
  if (rules().order == order::arrival || fields_->of_record != field_map::own::none) return true;
  if (fields_->versions != sequence_kind::integer) return read_version();
  if (fields_->is_cloudevent && !check_sign()) return false;
  const bool wide = rules().envelope.sequence_bits == 128;
  const bool hex = rules().envelope.sequence_base == 16;
  if (!(hex ? read_hex(fields_->sequence, wide, event().sequence)
            : read_number(fields_->sequence, wide, event().sequence))) {
    return false;
  }
  if (fields_->epoch.mapped && !wide) {
    ratchet::sequence epoch;
    if (!read_number(fields_->epoch, false, epoch)) return false;
    event().sequence.epoch = epoch.number;
  }
  event().has_sequence = true;
  return (!fields_->begin.mapped && !fields_->previous.mapped) || read_begin();
}

/// What is no plain number.
bool record_reader::read_version() {
  const field& f = fields_->sequence;
  field_value value;
  if (!fetch_required(f, value)) return false;
  const bool is_number = value.what == json::kind::number;
  if (fields_->sequence_type.mapped) {
    // A JSON number is one, and so is what the event says is one.
    field_value type;
    if (!fetch(fields_->sequence_type, type)) return false;
    if (is_number || type.text == "Integer") {
      if (!check_sign() || !read_number(f, false, event().sequence)) return false;
      return event().has_sequence = true;
    }
  }
  const sequence_kind kind = fields_->versions;
  if (value.what != json::kind::string && !(is_number && may_be_number(kind)))
    return fail(malformed_reason::wrong_type, f, value);
  if (kind == sequence_kind::text && !check_utf8(f, value)) return false;
  const auto [fault, sequence] = read_version_of(kind, value.text);
  if (fault != malformed_reason::none) return fail(fault, f, value);
  event().sequence = sequence;
  return event().has_sequence = true;
}

/// Where the range of numbers begins that the event covers. One that does not say it has one number.
bool record_reader::read_begin() {
  const bool says_previous = fields_->previous.mapped;
  const field& f = says_previous ? fields_->previous : fields_->begin;
  field_value value;
  if (!fetch(f, value)) return false;
  if (value.what == json::kind::none) return true;
  ratchet::sequence number;
  if (!read_number(f, false, number)) return false;
  const std::uint64_t last = event().sequence.number;
  if (says_previous ? number.number >= last : number.number > last)
    return fail(malformed_reason::range_invalid, f, value);
  event().begins_at = number.number + (says_previous ? 1U : 0U);
  return true;
}

/// Where the record's own place or time is the sequence.
bool record_reader::number_the_record() {
  if (fields_->of_record == field_map::own::none) return true;
  const std::string_view name{rules().envelope.sequence};
  if (fields_->of_record == field_map::own::place) {
    event().sequence = {0, static_cast<std::uint64_t>(from().offset)};
  } else {
    const auto time = event().record_time;  // in plain files the event's own
    if (!time) return fail(malformed_reason::missing_field, name, 0);
    if (time->time_since_epoch().count() < 0) return fail(malformed_reason::sequence_negative, name, 0);
    event().sequence = {0, static_cast<std::uint64_t>(time->time_since_epoch().count())};
  }
  return event().has_sequence = true;
}

}  // namespace ratchet
