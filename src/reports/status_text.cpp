// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/shown_id.hpp"
#include "core/shown_text.hpp"
#include "core/typed_command.hpp"
#include "decode/time_text.hpp"
#include "reports/row_reports.hpp"
#include "reports/slot_report.hpp"
#include "reports/status_rows.hpp"
#include "reports/wait_explanation.hpp"
#include "telemetry/count_names.hpp"
#include "text/counted.hpp"
#include "text/partition_name.hpp"

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
  std::string line = "  ";
  left(line, name, k_name_width);
  right(line, std::to_string(value), k_number_width);
  if (!more.empty()) line += "   " + more;
  append_line(out, line);
}

/// Most likely the config does not fit, which the numbers alone do not shout.
void append_if_all_rejected(std::string& out, const stream_report& stream) {
  const counters& c = stream.state.counters;
  if (c.consumed == 0 || c.rejected() != c.consumed) return;
  append_line(out, "  every event was rejected: most likely the config does not fit" +
                       (stream.rejected ? std::string{} : "; see " + typed_command("status", "--rejected")));
}

void append_counters(std::string& out, const counters& c) {
  count_line(out, "consumed", c.consumed);
  for (const auto& [name, value] : verdict_counts(c)) {
    const std::string_view n = name;
    const bool rare = n == "ignored" || n == "skipped" || n == "discarded";
    if (rare && value == 0) continue;
    count_line(out, n, value, n == "rejected" ? breakdown(reason_counts(c)) : "");
  }
  const auto waiting = counts_of_waiting(c);
  std::string more = breakdown(waiting);
  if (!more.empty()) more += "; " + counted(c.waiting_bytes, "byte");
  count_line(out, "waiting", c.waiting(), more);
  if (c.waiting_dead != 0)
    append_line(
        out, "  -> dead events wait for your decision: " + typed_command("waiting list", "--state-is dead"));
  if (c.ids_ahead != 0)
    count_line(out, "ids ahead", c.ids_ahead, "event ids from the future, filed at their time");
  if (c.times_passed_over != 0)
    count_line(out, "times ahead", c.times_passed_over,
               "record times far ahead of their neighbours'; they moved neither window nor gaps");
  if (c.times_behind != 0)
    count_line(
        out, "times behind", c.times_behind,
        "record times older than the window of their partition: old records, or wrong clocks moved it");
  if (c.forgotten != 0) count_line(out, "forgotten", c.forgotten, "aggregates whose retention is over");
}

/// "all have aggregate, sequence; 3 have time; none has type (/evtType)": what is amiss comes last.
void append_fields(std::string& out, const std::optional<live_fields>& found) {
  if (!found || found->events == 0) return;
  std::string all;
  std::string some;
  std::string none;
  const auto add = [](std::string& to, const std::string& text) { to += (to.empty() ? "" : ", ") + text; };
  for (const live_field& field : found->fields) {
    if (field.found == found->events) {
      add(all, field.name);
    } else if (field.found > 0) {
      add(some, std::to_string(field.found) + " have " + field.name);
    } else {
      add(none, field.name + " (" + field.from + ")");
    }
  }
  std::string text = all.empty() ? "" : "all have " + all;
  if (!some.empty()) text += (text.empty() ? "" : "; ") + some;
  if (!none.empty()) text += (text.empty() ? "" : "; ") + std::string{"none has "} + none;
  append_line(out, "  of " + counted(found->events, "event") +
                       " since the start (deletions, ignored and malformed records left out) " + text);
}

/// Until they are borne out, window and gaps stay where they are. The first ones of a partition are nothing
/// odd.
void append_leaps(std::string& out, const stream_state& state) {
  std::uint64_t leaps = 0;
  for (const auto& [where, partition] : state.partitions)
    leaps += partition.highest_time ? partition.leaps.size() : 0;
  if (leaps != 0)
    count_line(out, "times in doubt", leaps,
               "records with a time far ahead of those before them; window and gaps follow such a time once "
               "later records come up to it");
}

/// Nobody's events are as old as that: the times are in another unit.
void append_odd_times(std::string& out, const stream_state& state) {
  constexpr timestamp k_before_kafka{std::chrono::sys_days{std::chrono::year{1990} / 1 / 1}};
  const auto time = stream_time_of(state);
  if (!time || *time >= k_before_kafka) return;
  append_line(out, "  the records' times are of " + to_rfc3339(*time).substr(0, 10) +
                       ": if they are seconds, set `time: {from: /created, unit: s}`; windows and gaps are "
                       "measured by them");
}

/// Which numbers, as far as anybody knows.
void append_gap(std::string& out, const stream_report& stream) {
  if (!stream.oldest_gap) return;
  const gap_report& gap = *stream.oldest_gap;
  std::string line = "  ";
  left(line, "oldest gap", k_name_width);
  line += "   " + shown_id(gap.aggregate) + ": ";
  line += gap.missing ? missing_text(*gap.missing) : "earlier events are missing";
  if (!stream.state.floor)
    return append_line(
        out, line +
                 "; it has no age yet, because too few records agree on the stream's time; until then no "
                 "`gap.policy` skips it or stops the stream");
  append_line(out, line + ", for " + age_text(age_of(gap, stream.state)) + " of stream time");
}

std::string optional_text(const std::optional<std::int64_t>& value) {
  return value ? std::to_string(*value) : "-";
}

/// What happened, without the place, which begins the line already.
std::string stop_text(const topic_partition& where, std::string_view stopped) {
  std::string_view what = message_of_stop(stopped).what;
  const std::string place = to_string(where);
  if (!what.starts_with(place)) return "   stopped: " + std::string{what};
  what.remove_prefix(place.size());
  while (what.starts_with(':') || what.starts_with(' ')) what.remove_prefix(1);
  return (what.find("stopped") == std::string_view::npos ? "   stopped: " : "   ") + std::string{what};
}

void append_partitions(std::string& out, const std::vector<partition_report>& partitions) {
  if (partitions.empty()) return;
  std::size_t width = std::string_view{"partition"}.size();
  for (const auto& p : partitions) width = std::max(width, to_string(p.where).size());
  std::string head = "  ";
  left(head, "partition", width);
  right(head, "next offset", k_number_width);
  right(head, "committed", k_number_width);
  right(head, "lag", k_number_width);
  append_line(out, head);
  std::vector<std::string> to_do;  // of many partitions it is the same
  for (const auto& p : partitions) {
    std::string line = "  ";
    left(line, to_string(p.where), width);
    right(line, optional_text(p.next_offset), k_number_width);
    right(line, optional_text(p.live ? p.live->committed : std::nullopt), k_number_width);
    right(line, optional_text(p.lag), k_number_width);
    if (p.live && p.live->stopped) {
      line += stop_text(p.where, *p.live->stopped);
      add_new(to_do, *p.live->stopped);
    } else if (p.live && !p.live->assigned) {
      line += "   not assigned";
    } else if (p.live && p.live->held_back) {
      line += "   waits for the transaction that began at offset " + std::to_string(*p.live->held_back) +
              " to end";
    }
    append_line(out, line);
  }
  for (const std::string& one : to_do) append_line(out, "  -> " + one);
}

/// Of a replica the step of the log says how far it is, which stands below; its directory counts steps of its
/// own.
void append_copy(std::string& out, const store_identity& store, bool is_replica) {
  if (!store.copy) return;
  append_line(out, "a checkpoint of the store " + store.uuid +
                       (is_replica ? std::string{} : ", of its step " + std::to_string(store.copy->step)) +
                       ", taken at " + to_rfc3339(store.copy->taken_at));
}

void append_head(std::string& out, const status_report& report) {
  if (report.source == report_source::directory) {
    const bool is_empty = std::all_of(
        report.streams.begin(), report.streams.end(),
        [](const stream_report& s) { return s.state.counters.consumed == 0 && s.state.partitions.empty(); });
    append_line(out, std::string{"no instance is running; this is what the state directory holds"} +
                         (is_empty ? ": nothing yet: no run has read a record" : ""));
  }
  if (report.source != report_source::instance) return;
  std::string line = report.live.ready ? "ready" : "NOT READY";
  if (!report.live.ready_reason.empty()) line += ": " + report.live.ready_reason;
  append_line(out, line + "; running since " + to_rfc3339(report.live.started_at));
}

void append_outboxes(std::string& out, const status_report& report) {
  if (report.outbox.rows() > 0) {
    const std::string& trouble = report.live.outbox_trouble;
    append_line(out, "outbox: " + counted(report.outbox.rows(), "message") + " not sent yet; " +
                         counted(report.outbox.bytes, "byte") + (trouble.empty() ? "" : ": " + trouble));
  }
  for (const auto& [name, waiting] : report.sinks) {
    if (waiting.rows() == 0) continue;
    const auto live = report.live.sinks.find(name);
    const bool well = live == report.live.sinks.end() || live->second.trouble.empty();
    append_line(out, "sink " + name + ": " + counted(waiting.rows(), "message") + " not sent yet; " +
                         counted(waiting.bytes, "byte") + (well ? "" : ": " + live->second.trouble));
    if (live == report.live.sinks.end() || live->second.refused == 0) continue;
    append_line(out,
                "  " + counted(live->second.refused, "message") +
                    " refused, and later messages of their aggregates wait: " + typed_command("sinks list"));
  }
}

}  // namespace

result<void> write_status_text(const status_report& report, answer_pieces& pieces) {
  std::string out;
  append_head(out, report);
  if (report.store) append_copy(out, *report.store, report.replica.has_value());
  if (report.live.slot) append_slot(out, *report.live.slot);
  if (report.replica) append_slot(out, *report.replica);
  for (const stream_report& stream : report.streams) {
    append_line(out, "stream " + stream.name +
                         (stream.state.floor ? ", window floor " + to_rfc3339(*stream.state.floor) : ""));
    append_counters(out, stream.state.counters);
    append_if_all_rejected(out, stream);
    append_leaps(out, stream.state);
    if (stream.fields && !stream.fields->unlikely_times.empty()) {
      append_line(out, "  " + stream.fields->unlikely_times);
    } else {
      append_odd_times(out, stream.state);
    }
    append_fields(out, stream.fields);
    append_gap(out, stream);
    append_partitions(out, partitions_of(stream));
    if (!stream.rejected) continue;
    pieces.add(out);
    out.clear();
    RATCHET_TRY(pieces.add_lines<rejected_row>(
        "  rejected records, newest first:", "  no rejected records are kept", stream.rejected,
        [](const rejected_row& row) { return "    " + rejected_line(row); }));
  }
  const bool may_look = report.source != report_source::instance || report.store;
  if (report.streams.empty() && may_look) append_line(out, "no streams");
  append_outboxes(out, report);
  pieces.add(out);
  if (!report.audits) return BOOST_OUTCOME_V2_NAMESPACE::success();
  audits_listed listed;
  RATCHET_TRY(pieces.add_lines<audit_row>("audit:", "no audit rows", limited_audits(report, listed),
                                          [](const audit_row& row) { return "  " + audit_line(row); }));
  if (listed.more)
    pieces.add_line("more are kept: go on with " +
                    typed_command("status", "--audit --after " + std::to_string(listed.last_step)));
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

}  // namespace ratchet
