// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/envelope_preset.hpp"

#include <algorithm>
#include <utility>

#include "decode/field_source.hpp"

namespace ratchet {
namespace {

void fill(std::string& field, const char* known) {
  if (field.empty()) field = known;
}

/// All that a format of row changes knows by itself.
void set_row_change(envelope_config& e, const char* aggregate, const char* sequence, const char* type,
                    const char* time) {
  envelope_config known;
  known.aggregate = aggregate;
  known.sequence = sequence;
  known.type = type;
  known.time = time;
  known.format = e.format;
  known.position = e.position;
  known.unavailable = std::move(e.unavailable);
  e = std::move(known);
}

}  // namespace

const char* name_of(envelope_format format) noexcept {
  switch (format) {
    case envelope_format::json:
      return "json";
    case envelope_format::cloudevents:
      return "cloudevents";
    case envelope_format::debezium_outbox:
      return "debezium-outbox";
    case envelope_format::debezium_cdc:
      return "debezium-cdc";
    case envelope_format::ydb_changefeed:
      return "ydb-changefeed";
  }
  return "?";
}

envelope_config with_defaults(envelope_config e) {
  switch (e.format) {
    case envelope_format::json:
      break;
    case envelope_format::cloudevents:
      e.event_id = "attribute:id";
      e.type = "attribute:type";
      e.time = "attribute:time";
      fill(e.aggregate, "attribute:subject");
      fill(e.sequence, "attribute:sequence");
      break;
    case envelope_format::debezium_outbox:
      fill(e.event_id, "header:id");
      fill(e.aggregate, "key");
      fill(e.type, "header:eventType");
      break;
    case envelope_format::debezium_cdc:
      set_row_change(e, "key", "/source/lsn", "/op", "/source/ts_ms");
      break;
    case envelope_format::ydb_changefeed:
      set_row_change(e, "/key", "/ts", "", "");  // the type is the name of a member
      break;
  }
  return e;
}

bool tells_types(const envelope_config& e) noexcept {
  return !e.type.empty() || e.format == envelope_format::ydb_changefeed;
}

bool is_of_header(std::string_view field) noexcept {
  return field.starts_with("header:");
}

bool reads_headers(const envelope_config& e) {
  if (e.format == envelope_format::cloudevents) return true;
  const auto is_header = [](const std::string* field) { return is_of_header(*field); };
  const std::string* const fields[] = {&e.event_id, &e.aggregate, &e.sequence,       &e.epoch,
                                       &e.type,     &e.time,      &e.sequence_first, &e.previous};
  const auto any_header = [](const std::vector<std::string>& more) {
    return std::any_of(more.begin(), more.end(), is_of_header);
  };
  return std::any_of(std::begin(fields), std::end(fields), is_header) || any_header(e.event_id_more) ||
         any_header(e.aggregate_more) || is_header(&e.deletes.field);
}

std::string_view attribute_of(std::string_view source) noexcept {
  constexpr std::string_view k_prefix{"attribute:"};
  if (!source.starts_with(k_prefix)) return {};
  source.remove_prefix(k_prefix.size());
  const bool allowed = std::all_of(source.begin(), source.end(),
                                   [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
  return allowed ? source : std::string_view{};
}

bool is_field_source(envelope_format format, std::string_view text) {
  if (format != envelope_format::cloudevents) return parse_field_source(text).has_value();
  if (text.starts_with(k_record_source)) return false;
  if (text.starts_with('/')) return false;  // the value is the event in one mode and its data in the other
  return !attribute_of(text).empty() || parse_field_source(text).has_value();
}

}  // namespace ratchet
