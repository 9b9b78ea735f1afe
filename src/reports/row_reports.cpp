// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "reports/row_reports.hpp"

#include <optional>
#include <string_view>

#include "core/decoded_event.hpp"
#include "core/shown_id.hpp"
#include "core/utf8.hpp"
#include "decode/time_text.hpp"
#include "text/partition_name.hpp"
#include "text/rejected_messages.hpp"

namespace ratchet {

namespace {

constexpr std::size_t k_shown_bytes = 400;  // of a rejected record; --output json has all that is kept

void string_or_null(json_writer& json, std::string_view text) {
  text.empty() ? json.null() : json.string(text);
}

/// The beginning of a record's bytes, on one line.
std::string shown(const std::optional<std::string>& bytes) {
  std::string text = bytes_on_one_line(bytes);
  if (text.size() <= k_shown_bytes) return text;
  std::size_t cut = k_shown_bytes;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U)
    --cut;  // not inside a character
  return text.substr(0, cut) + " ...";
}

}  // namespace

std::string bytes_on_one_line(const std::optional<std::string>& bytes) {
  if (!bytes) return "null";
  std::string text;
  if (is_utf8(*bytes)) {
    append_json_string(text, *bytes);
  } else {
    text = "base64:";
    append_base64(text, *bytes);
  }
  return text;
}

void write_bytes(json_writer& json, const std::string& name, const std::optional<std::string>& bytes) {
  if (!bytes) {
    json.key(name).null();
  } else if (is_utf8(*bytes)) {
    json.key(name).string(*bytes);
  } else {
    json.key(name + "_base64").base64(*bytes);
  }
}

void write_rejected(json_writer& json, const rejected_row& row) {
  const bool malformed = row.reason == reject_reason::malformed;
  json.begin_object();
  if (row.where.topic.empty()) {
    json.key("topic").null().key("partition").null().key("offset").null();
    json.key("content_hash").string(content_hash_text(row));
  } else {
    json.place(row.where, row.place());
  }
  json.key("step").number(row.step).key("rejected_at").time(row.at);
  json.key("reason").string(name_of(row.reason));
  json.key("detail");
  string_or_null(json, malformed ? row.detail : "");
  json.key("aggregate");
  string_or_null(json, malformed ? "" : row.detail);
  json.key("pointer");
  string_or_null(json, row.pointer);
  json.key("byte_offset");
  malformed ? json.number(row.byte_offset) : json.null();
  json.key("time").time(row.record_time);
  write_bytes(json, "key", row.key);
  write_bytes(json, "value", row.value);
  json.key("truncated").boolean(row.truncated);
  json.end_object();
}

std::string rejected_line(const rejected_row& row) {
  std::string out =
      row.where.topic.empty() ? "content " + content_hash_text(row) : to_string(row.where, row.place());
  out += std::string{"  "} + name_of(row.reason);
  if (row.reason == reject_reason::malformed) {
    if (!row.detail.empty()) out += " " + row.detail;
    if (!row.pointer.empty()) out += " at " + row.pointer + ",";
    out += " byte " + std::to_string(row.byte_offset);
  } else if (!row.detail.empty()) {
    out += " of " + shown_id(row.detail);
  }
  if (const std::string hint = hint_on(row); !hint.empty()) out += " (" + hint + ")";
  if (row.key) out += "  key " + shown(row.key);
  out += "  value " + shown(row.value);
  if (row.truncated) out += " (truncated)";
  return out;
}

void write_audit(json_writer& json, const audit_row& row) {
  json.begin_object();
  json.key("step").number(row.step).key("time").time(row.time).key("kind").string(row.kind);
  json.key("stream");
  string_or_null(json, row.stream);
  json.key("topic");
  string_or_null(json, row.where ? row.where->topic : "");
  json.key("partition");
  row.where ? json.number(static_cast<std::int32_t>(row.where->partition)) : json.null();
  json.key("not_handled");
  if (row.not_handled) {
    json.begin_object().key("from").number(row.not_handled->from);
    json.key("to").number(row.not_handled->to).end_object();
  } else {
    json.null();
  }
  json.key("text").string(row.text).end_object();
}

std::string audit_line(const audit_row& row) {
  std::string out = to_rfc3339(row.time) + "  step " + std::to_string(row.step) + "  " + row.kind;
  if (!row.stream.empty()) out += "  " + row.stream;
  return out + "  " + row.text;
}

}  // namespace ratchet
