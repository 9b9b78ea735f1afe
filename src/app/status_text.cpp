// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>

#include "app/json_writer.hpp"
#include "app/status_rows.hpp"
#include "decode/time_text.hpp"

namespace ratchet {

namespace {

constexpr std::size_t k_name_width = 12;
constexpr std::size_t k_number_width = 15;
constexpr std::size_t k_shown_bytes = 400;  // of a rejected record; --output json has all that is kept

void right(std::string& out, std::string_view text, std::size_t width) {
  out.append(width - std::min(width, text.size()), ' ');
  out += text;
}

void left(std::string& out, std::string_view text, std::size_t width) {
  out += text;
  out.append(width - std::min(width, text.size()), ' ');
}

/// "2 malformed, 1 conflict": those that are not 0.
template <class Counts>
std::string breakdown(const Counts& counts) {
  std::string text;
  for (const auto& [name, value] : counts) {
    if (value == 0) continue;
    if (!text.empty()) text += ", ";
    text += std::to_string(value) + " " + name;
  }
  return text;
}

void count_line(std::string& out, std::string_view name, std::uint64_t value, const std::string& more = {}) {
  out += "  ";
  left(out, name, k_name_width);
  right(out, std::to_string(value), k_number_width);
  if (!more.empty()) out += "   " + more;
  out += '\n';
}

void append_counters(std::string& out, const counters& c) {
  count_line(out, "consumed", c.consumed);
  for (const auto& [name, value] : verdict_counts(c)) {
    const std::string_view n = name;
    const bool rare = n == "ignored" || n == "skipped" || n == "discarded";
    if (rare && value == 0) continue;
    count_line(out, n, value, n == "rejected" ? breakdown(reason_counts(c)) : "");
  }
  const auto waiting = waiting_counts(c);
  count_line(out, "waiting", waiting[0].second + waiting[1].second + waiting[2].second, breakdown(waiting));
  if (c.ids_ahead != 0)
    count_line(out, "ids ahead", c.ids_ahead, "event ids from the future, filed at their time");
}

std::string optional_text(const std::optional<std::int64_t>& value) {
  return value ? std::to_string(*value) : "-";
}

std::string name_of_partition(const topic_partition& where) {
  return where.topic + "/" + std::to_string(static_cast<std::int32_t>(where.partition));
}

void append_partitions(std::string& out, const std::vector<partition_report>& partitions) {
  if (partitions.empty()) return;
  std::size_t width = std::string_view{"partition"}.size();
  for (const auto& p : partitions) width = std::max(width, name_of_partition(p.where).size());
  out += "  ";
  left(out, "partition", width);
  right(out, "next offset", k_number_width);
  right(out, "committed", k_number_width);
  right(out, "lag", k_number_width);
  out += '\n';
  for (const auto& p : partitions) {
    out += "  ";
    left(out, name_of_partition(p.where), width);
    right(out, optional_text(p.next_offset), k_number_width);
    right(out, optional_text(p.live ? p.live->committed : std::nullopt), k_number_width);
    right(out, optional_text(p.lag), k_number_width);
    if (p.live && p.live->stopped) {
      out += "   stopped: " + *p.live->stopped;
    } else if (p.live && !p.live->assigned) {
      out += "   not assigned";
    }
    out += '\n';
  }
}

/// Bytes of a record on one line: as a JSON string, or as base64.
std::string shown(const std::optional<std::string>& bytes) {
  if (!bytes) return "null";
  std::string text;
  if (is_utf8(*bytes)) {
    append_json_string(text, *bytes);
  } else {
    text = "base64:";
    append_base64(text, *bytes);
  }
  if (text.size() <= k_shown_bytes) return text;
  std::size_t cut = k_shown_bytes;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U)
    --cut;  // not inside a character
  return text.substr(0, cut) + " ...";
}

void append_rejected(std::string& out, const std::vector<rejected_row>& rows) {
  out += rows.empty() ? "  no rejected records are kept\n" : "  rejected records, newest first:\n";
  for (const rejected_row& row : rows) {
    out += "    ";
    out += row.where.topic.empty() ? "content " + content_hash_text(row)
                                   : name_of_partition(row.where) + "@" + std::to_string(row.offset);
    out += std::string{"  "} + name_of(row.reason);
    if (!row.detail.empty()) out += " " + row.detail;
    if (row.reason == reject_reason::malformed) {
      if (!row.pointer.empty()) out += " at " + row.pointer + ",";
      out += " byte " + std::to_string(row.byte_offset);
    }
    if (row.key) out += "  key " + shown(row.key);
    out += "  value " + shown(row.value);
    if (row.truncated) out += " (truncated)";
    out += '\n';
  }
}

void append_head(std::string& out, const status_report& report) {
  if (report.source == report_source::directory) {
    out += "no instance is running; this is what the state directory holds\n";
  }
  if (report.source != report_source::instance) return;
  out += report.live.ready ? "ready" : "NOT READY";
  if (!report.live.ready_reason.empty()) out += ": " + report.live.ready_reason;
  out += "; running since " + to_rfc3339(report.live.started_at) + "\n";
}

}  // namespace

std::string content_hash_text(const rejected_row& row) {
  constexpr char k_hex[] = "0123456789abcdef";
  std::string text;
  const auto hash = static_cast<std::uint64_t>(row.offset);
  for (int shift = 60; shift >= 0; shift -= 4) text += k_hex[(hash >> shift) & 0x0F];
  return text;
}

std::string status_text(const status_report& report) {
  std::string out;
  append_head(out, report);
  for (const stream_report& stream : report.streams) {
    out += "stream " + stream.name;
    if (stream.state.floor) out += ", window floor " + to_rfc3339(*stream.state.floor);
    out += '\n';
    append_counters(out, stream.state.counters);
    append_partitions(out, partitions_of(stream));
    if (report.lists_rejected) append_rejected(out, stream.rejected);
  }
  if (report.streams.empty()) out += "no streams\n";
  if (!report.audits) return out;
  out += report.audits->empty() ? "no audit rows\n" : "audit:\n";
  for (const audit_row& row : *report.audits) {
    out += "  " + to_rfc3339(row.time) + "  step " + std::to_string(row.step) + "  " + row.kind;
    if (!row.stream.empty()) out += "  " + row.stream;
    out += "  " + row.text + "\n";
  }
  return out;
}

}  // namespace ratchet
