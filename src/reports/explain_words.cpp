// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What a report of an aggregate or an event is in words, and as JSON.
#include <optional>
#include <string>

#include "core/hex.hpp"
#include "core/shown_id.hpp"
#include "core/shown_text.hpp"
#include "core/typed_command.hpp"
#include "decode/event_id_text.hpp"
#include "decode/time_text.hpp"
#include "reports/explain_report.hpp"
#include "reports/row_reports.hpp"
#include "text/counted.hpp"
#include "text/json_writer.hpp"
#include "text/sequence_text.hpp"

namespace ratchet {

namespace {

void append_nothing_handled(std::string& out, const explain_report& report) {
  append_line(out, report.forgotten_before
                       ? "  last handled    nothing: no event was applied, or it is forgotten"
                       : "  last handled    nothing: no event was applied");
}

/// Whether a repeat of the event handled last would be told by its id; none: nothing is filed.
std::optional<bool> last_event_in_window(const explain_report& report, const explained_aggregate& of) {
  if (!of.row->id || !report.keeps_ids) return std::nullopt;
  if (has_own_time(report.ids.kind)) return !report.is_below_floor(of.row->id->time());
  return of.last_filed && !report.is_below_floor(*of.last_filed);
}

std::string text_of_event(const explain_report& report) {
  return report.event_text.empty() ? report.ids.text(*report.event) : report.event_text;
}

std::string shown_event(const explain_report& report) {
  return shown_id(text_of_event(report));
}

const char* name_of(id_place place) noexcept {
  switch (place) {
    case id_place::inside:
      return "inside";
    case id_place::before_floor:
      return "before_floor";
    case id_place::not_seen:
      return "not_seen";
    case id_place::off:
      return "off";
  }
  return "?";
}

void write_last_handled(json_writer& json, const explain_report& report, const explained_aggregate& of) {
  const aggregate_row& row = *of.row;
  json.key("last_handled").begin_object();
  write_sequence(json.key("sequence"), report.ids.numbers, row.last);
  json.key("event_id");
  row.id ? json.string(report.ids.text(*row.id)) : json.null();
  json.key("time").time(row.time);
  json.key("payload_hash").string(to_hex(row.payload_hash));
  json.key("deleted").boolean(row.deleted);
  json.key("snapshot_bytes");
  row.deleted ? json.null() : json.number(row.snapshot.size());
  json.key("event_in_window");
  const auto in_window = last_event_in_window(report, of);
  in_window ? json.boolean(*in_window) : json.null();
  json.end_object();
}

std::string floor_text(const explain_report& report) {
  return report.floor ? "the window reaches back to " + to_rfc3339(*report.floor)
                      : "the window has no floor yet, so every id is remembered";
}

std::string retention_text(const explain_report& report) {
  return "an aggregate whose last event was handled before " + to_rfc3339(*report.forgotten_before) +
         " of stream time is forgotten, and an event of an unknown one that is older is too old";
}

std::string window_text(const explain_report& report) {
  switch (report.place) {
    case id_place::inside:
      return (report.supersedes ? "inside: applied, or superseded by a newer event of the same step; "
                                : "inside: applied; ") +
             floor_text(report);
    case id_place::before_floor:
      return "older than it: a repeat would no longer be recognised by this id; " + floor_text(report);
    case id_place::not_seen:
      return (has_own_time(report.ids.kind) ? "not in it: no event with this id was applied; "
                                            : "not in it: no event with this id was applied within it; ") +
             floor_text(report);
    case id_place::off:
      return "none: this stream keeps no event ids";
  }
  return {};
}

void write_range(json_writer& json, const sequence_spelling& numbers, const sequence_range& range) {
  write_sequence(json.begin_object().key("first"), numbers, range.first);
  write_sequence(json.key("last"), numbers, range.last).end_object();
}

void write_backlog(json_writer& json, const sequence_spelling& numbers, const explained_aggregate& of) {
  json.key("backlog");
  if (!of.backlog) {
    json.null();
    return;
  }
  const backlog& b = *of.backlog;
  const waiting_counts counts = b.counted();
  json.begin_object().key("parked").number(counts.parked);
  json.key("retrying").number(counts.retrying).key("dead").number(counts.dead);
  json.key("highest");
  b.events() > 0 ? write_sequence(json, numbers, b.highest) : json.null();
  json.key("held").boolean(b.held).key("missing");
  write_missing(json, of.missing);
  json.key("gap_since").time(b.gap_since).key("next_try").time(b.wake);
  json.key("skipped").begin_array();
  for (const sequence_range& range : b.skipped) write_range(json, numbers, range);
  json.end_array().end_object();
}

std::string range_text(const sequence_spelling& numbers, const sequence_range& range) {
  return sequence_word(numbers, range.first) +
         (range.first == range.last ? "" : " to " + sequence_word(numbers, range.last));
}

void append_backlog(std::string& out, const sequence_spelling& numbers, const explained_aggregate& of) {
  if (!of.backlog) return;
  const backlog& b = *of.backlog;
  if (b.events() > 0) {
    const waiting_counts counts = b.counted();
    std::string line = "  waiting         " + counted(b.events(), "event");
    if (b.held && !b.accepted) {
      line += ", held: the limit per aggregate was reached, and an operator decides";
    } else {
      line += ": " + std::to_string(counts.parked) + " parked, " + std::to_string(counts.retrying) +
              " retrying, " + std::to_string(counts.dead) + " dead";
      if (b.held) line += ": the limit per aggregate was reached, and an operator decides";
    }
    if (of.missing) line += "; " + missing_text(*of.missing);
    if (b.gap_since) line += " since " + to_rfc3339(*b.gap_since) + " of stream time";
    append_line(out, line);
  }
  for (const sequence_range& range : b.skipped)
    append_line(out, "  skipped         " + range_text(numbers, range));
}

std::string last_in_window_text(const explain_report& report, const explained_aggregate& of) {
  if (const auto in_window = last_event_in_window(report, of)) {
    return (*in_window ? "the last event's id is inside; " : "the last event's id is older than it; ") +
           floor_text(report);
  }
  if (report.keeps_ids) return "the last event came without an id";
  return report.ids.kind == id_kind::monotonic ? "none: the stream keeps the last id of each partition"
                                               : "none: this stream keeps no event ids";
}

void append_aggregate(std::string& out, const explain_report& report, const explained_aggregate& of) {
  if (!of.row) {
    append_nothing_handled(out, report);
    return append_backlog(out, report.ids.numbers, of);
  }
  const aggregate_row& row = *of.row;
  std::string last = "  last handled    sequence " + sequence_word(report.ids.numbers, row.last);
  if (row.id) last += ", event " + report.ids.text(*row.id);
  if (row.time) last += ", of " + to_rfc3339(*row.time);
  append_line(out, last);
  append_line(out, "  payload hash    " + to_hex(row.payload_hash));
  append_line(out, "  snapshot        " +
                       (row.deleted ? "none: it was deleted" : counted(row.snapshot.size(), "byte")));
  append_backlog(out, report.ids.numbers, of);
  if (!report.event) append_line(out, "  window          " + last_in_window_text(report, of));
}

}  // namespace

namespace {

result<void> write_json(const explain_report& report, answer_pieces& out) {
  json_writer json;
  json.begin_object().key("stream").string(report.stream).key("known").boolean(report.is_known());
  json.key("floor").time(report.floor);
  if (report.forgotten_before) json.key("forgotten_before").time(report.forgotten_before);
  if (report.aggregate) json.key("aggregate").string(*report.aggregate);
  if (report.event) {
    json.key("event_id").string(text_of_event(report)).key("event_time").time(report.event_time);
    json.key("window").string(name_of(report.place));
  }
  json.key("aggregates").begin_array();
  for (const explained_aggregate& of : report.aggregates) {
    json.begin_object().key("aggregate").string(of.aggregate);
    if (of.row) {
      write_last_handled(json, report, of);
    } else {
      json.key("last_handled").null();
    }
    write_backlog(json, report.ids.numbers, of);
    if (report.event) json.key("is_last").boolean(of.row && of.row->id == report.event);
    json.end_object();
  }
  json.end_array();
  if (report.event) json.key("more_aggregates").boolean(report.more_aggregates);
  json.key("waiting").begin_array();
  for (const explained_event& one : report.waiting) {
    json.begin_object();
    write_waiting_members(json, report.stream, report.ids, one.aggregate, one.event, one.story);
    json.end_object();
  }
  json.end_array().key("more_waiting").boolean(report.more_waiting);
  json.key("rejected_records").begin_array();
  RATCHET_TRY(out.add_array<rejected_row>(json, report.rejected, write_rejected));
  json.end_array().key("audit").begin_array();
  RATCHET_TRY(out.add_array<audit_row>(json, report.audits, write_audit));
  json.end_array().end_object();
  out.add(json.take() + "\n");
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

result<void> write_text(const explain_report& report, answer_pieces& pieces) {
  std::string out;
  if (report.event) {
    append_line(out, "stream " + report.stream + ", event " + shown_event(report) +
                         (report.event_time ? ", of " + to_rfc3339(*report.event_time) : ""));
    append_line(out, "  window          " + window_text(report));
  } else {
    append_line(out, "stream " + report.stream + ", aggregate " + shown_id(*report.aggregate));
  }
  for (const explained_aggregate& of : report.aggregates) {
    if (report.event) {
      const bool is_last = of.row && of.row->id == report.event;
      append_line(out, "  aggregate       " + shown_id(of.aggregate) +
                           (is_last ? ": this event was handled last" : ", which has:"));
    }
    append_aggregate(out, report, of);
  }
  if (report.aggregates.empty() && report.aggregate) append_nothing_handled(out, report);
  if (report.forgotten_before) append_line(out, "  retention       " + retention_text(report));
  if (report.more_aggregates) append_line(out, "  aggregate       and more");
  if (!report.waiting.empty()) append_line(out, "  waiting events:");
  for (const explained_event& one : report.waiting) {
    append_line(out, "    " + waiting_line(report.ids, one.aggregate, one.event, one.story));
  }
  if (report.more_waiting)
    append_line(
        out, "    and more: " + typed_command("waiting list", shell_word(report.stream)) + " lists them all");
  pieces.add(out);
  RATCHET_TRY(
      pieces.add_lines<rejected_row>("  rejected records that are kept, newest first:", {}, report.rejected,
                                     [](const rejected_row& row) { return "    " + rejected_line(row); }));
  return pieces.add_lines<audit_row>("  audit rows, of it and of its stream as a whole:", {}, report.audits,
                                     [](const audit_row& row) { return "    " + audit_line(row); });
}

}  // namespace

result<void> write_explained(const explain_report& report, bool json, const byte_sink& sink) {
  answer_pieces out{sink};
  RATCHET_TRY(json ? write_json(report, out) : write_text(report, out));
  out.end();
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

problem nothing_known(const explain_report& report) {
  problem p{make_error_code(errc::not_found), "", "", {}};
  if (report.aggregate) {
    p.message = "the state has nothing about aggregate \"" + shown_id(*report.aggregate) + "\" in stream \"" +
                report.stream +
                "\": no event of it was ever applied or waits, no decision was made about one, and no kept "
                "rejected record names it";
    p.hint = "ids are compared byte by byte; " + typed_command("scan", shell_word(report.stream)) +
             " lists the stored ones";
    if (report.forgotten_before) p.hint += "; " + retention_text(report);
    return p;
  }
  const std::string of_aggregate = typed_command("explain", shell_word(report.stream) + " --aggregate A");
  p.message =
      "the state has nothing about event " + shown_event(report) + " in stream \"" + report.stream + "\": ";
  switch (report.place) {
    case id_place::off:
      p.message += "this stream keeps no event ids (`dedup: off`)";
      p.hint = "ask for its aggregate: " + of_aggregate;
      break;
    case id_place::before_floor:
      p.message += "its own time, " + to_rfc3339(*report.event_time) + ", lies before the window's floor, " +
                   to_rfc3339(*report.floor) + ", so Ratchet cannot tell whether it was handled";
      p.hint = "ask for its aggregate, whose last handled sequence " +
               std::string{report.forgotten_before ? "is remembered for longer: " : "is never forgotten: "} +
               of_aggregate;
      break;
    case id_place::inside:
    case id_place::not_seen:
      p.message += "no event with this id was applied, none waits, and " + floor_text(report);
      p.hint =
          "it has not come, or it was discarded as stale, or rejected so long ago that its record is no "
          "longer kept";
      break;
  }
  if (report.ids.has_source)
    p.hint += "; an id counts together with its source: give the source with --source";
  return p;
}

}  // namespace ratchet
