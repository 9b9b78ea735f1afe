// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>

#include "app/counted.hpp"
#include "app/pipeline.hpp"
#include "app/row_reports.hpp"
#include "app/status_rows.hpp"
#include "decode/time_text.hpp"

namespace ratchet {

namespace {

constexpr std::size_t k_name_width = 12;
constexpr std::size_t k_number_width = 15;

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
  std::string more = breakdown(waiting);
  if (!more.empty()) more += "; " + counted(c.waiting_bytes, "byte");
  count_line(out, "waiting", c.waiting(), more);
  if (c.ids_ahead != 0)
    count_line(out, "ids ahead", c.ids_ahead, "event ids from the future, filed at their time");
}

/// Which numbers, as far as anybody knows.
void append_gap(std::string& out, const stream_report& stream) {
  if (!stream.oldest_gap) return;
  const gap_report& gap = *stream.oldest_gap;
  out += "  ";
  left(out, "oldest gap", k_name_width);
  out += "   " + gap.aggregate + ": ";
  out += gap.missing ? missing_text(*gap.missing) : "earlier events are missing";
  out += ", for " + age_text(age_of(gap, stream.state)) + " of stream time\n";
}

std::string optional_text(const std::optional<std::int64_t>& value) {
  return value ? std::to_string(*value) : "-";
}

void append_partitions(std::string& out, const std::vector<partition_report>& partitions) {
  if (partitions.empty()) return;
  std::size_t width = std::string_view{"partition"}.size();
  for (const auto& p : partitions) width = std::max(width, to_string(p.where).size());
  out += "  ";
  left(out, "partition", width);
  right(out, "next offset", k_number_width);
  right(out, "committed", k_number_width);
  right(out, "lag", k_number_width);
  out += '\n';
  for (const auto& p : partitions) {
    out += "  ";
    left(out, to_string(p.where), width);
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

void append_rejected(std::string& out, const std::vector<rejected_row>& rows) {
  out += rows.empty() ? "  no rejected records are kept\n" : "  rejected records, newest first:\n";
  for (const rejected_row& row : rows) out += "    " + rejected_line(row) + "\n";
}

void append_copy(std::string& out, const store_identity& store) {
  if (!store.copy) return;
  out += "a checkpoint of the store " + store.uuid + ", of its step " + std::to_string(store.copy->step) +
         ", taken at " + to_rfc3339(store.copy->taken_at) + "\n";
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

std::string status_text(const status_report& report) {
  std::string out;
  append_head(out, report);
  if (report.store) append_copy(out, *report.store);
  for (const stream_report& stream : report.streams) {
    out += "stream " + stream.name;
    if (stream.state.floor) out += ", window floor " + to_rfc3339(*stream.state.floor);
    out += '\n';
    append_counters(out, stream.state.counters);
    append_gap(out, stream);
    append_partitions(out, partitions_of(stream));
    if (report.lists_rejected) append_rejected(out, stream.rejected);
  }
  if (report.streams.empty()) out += "no streams\n";
  if (report.outbox.rows() > 0) {
    out += "outbox: " + counted(report.outbox.rows(), "message") + " not sent yet; " +
           counted(report.outbox.bytes, "byte");
    const std::string& trouble = report.live.outbox_trouble;
    out += (trouble.empty() ? "" : ": " + trouble) + "\n";
  }
  for (const auto& [name, waiting] : report.sinks) {
    if (waiting.rows() == 0) continue;
    const auto live = report.live.sinks.find(name);
    const bool well = live == report.live.sinks.end() || live->second.trouble.empty();
    out += "sink " + name + ": " + counted(waiting.rows(), "message") + " not sent yet; " +
           counted(waiting.bytes, "byte") + (well ? "" : ": " + live->second.trouble) + "\n";
    if (live == report.live.sinks.end() || live->second.refused == 0) continue;
    out += "  " + counted(live->second.refused, "message") +
           " refused, and what their aggregates published behind them waits: `ratchet sinks list`\n";
  }
  if (!report.audits) return out;
  out += report.audits->empty() ? "no audit rows\n" : "audit:\n";
  for (const audit_row& row : *report.audits) out += "  " + audit_line(row) + "\n";
  return out;
}

}  // namespace ratchet
