// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "reports/explain_report.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

#include "core/hex.hpp"
#include "core/shown_id.hpp"
#include "core/shown_text.hpp"
#include "core/typed_command.hpp"
#include "decode/event_id_text.hpp"
#include "decode/time_text.hpp"
#include "reports/row_reports.hpp"
#include "text/counted.hpp"
#include "text/json_writer.hpp"
#include "text/sequence_text.hpp"

namespace ratchet {

namespace {

/// So many aggregates of one event id are told of; more than one is rare by itself.
constexpr std::size_t k_most_aggregates = 100;
/// So many waiting events are told of; `ratchet waiting list` has them all.
constexpr std::size_t k_most_waiting = 20;
/// Of each stream no more are kept.
constexpr std::size_t k_all_rejected = 100'000;

void append_nothing_handled(std::string& out, const explain_report& report) {
  append_line(out, report.forgotten_before
                       ? "  last handled    nothing: no event was applied, or it is forgotten"
                       : "  last handled    nothing: no event was applied");
}

constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

constexpr bool is_of_a_word(char c) noexcept {
  return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z') || c == '-' || c == '_';
}

bool mentions(const std::optional<std::string>& bytes, std::string_view text, bool any_case) {
  return bytes && ratchet::mentions(*bytes, text, any_case);
}

/// Each by itself, that is: of growing numbers the last one is kept.
bool keeps_ids(const named_stream& stream) {
  const auto at = std::find_if(stream.meaning.begin(), stream.meaning.end(),
                               [](const auto& line) { return line.first == "dedup.ids"; });
  return at == stream.meaning.end() || (at->second != "none" && at->second != "monotonic");
}

/// What such a row tells was done to one aggregate, or to what came of it.
bool is_of_an_aggregate(const audit_row& row) {
  constexpr std::string_view k_of_aggregates[] = {"gap_skipped",      "first_adopted",   "aggregate_held",
                                                  "waiting_replayed", "waiting_skipped", "waiting_discarded",
                                                  "output_skipped",   "output_given_up"};
  const auto end = std::end(k_of_aggregates);
  return std::find(std::begin(k_of_aggregates), end, row.kind) != end;
}

/// False for a row about single aggregates, none of which is among `own`. Rows name theirs in their text.
bool concerns(const audit_row& row, const std::vector<std::string>& own) {
  if (!is_of_an_aggregate(row)) return true;
  return std::any_of(own.begin(), own.end(), [&row](const std::string& aggregate) {
    return row.text.find("aggregate `" + shown_id(aggregate) + "`") != std::string::npos;
  });
}

/// Leaves out what was decided about other aggregates.
void keep_own_audits(explain_report& report) {
  std::vector<std::string> own;
  if (report.aggregate) own.push_back(*report.aggregate);
  for (const explained_aggregate& of : report.aggregates) own.push_back(of.aggregate);
  for (const explained_event& of : report.waiting) own.push_back(of.aggregate);
  for (const rejected_row& of : report.rejected) {
    if (of.reason != reject_reason::malformed) own.push_back(of.detail);
  }
  std::erase_if(report.audits, [&](const audit_row& row) { return !concerns(row, own); });
  report.is_audited =
      report.aggregate && std::any_of(report.audits.begin(), report.audits.end(), is_of_an_aggregate);
}

/// What both questions have in common.
result<explain_report> begin(const store_view& view, const named_stream& stream,
                             const std::function<bool(const rejected_row&)>& is_of_it) {
  explain_report report;
  report.stream = stream.name;
  report.keeps_ids = keeps_ids(stream);
  report.ids = id_spelling::of(stream);
  RATCHET_TRY(const stream_state state, view.load(stream.id));
  report.floor = state.floor;
  report.forgotten_before = state.retention.before;
  RATCHET_TRY(auto rejected, view.rejected(stream.id, k_all_rejected));
  std::erase_if(rejected, [&](const rejected_row& row) { return !is_of_it(row); });
  report.rejected = std::move(rejected);
  RATCHET_TRY(auto audits, view.audits());
  std::erase_if(audits,
                [&](const audit_row& row) { return !row.stream.empty() && row.stream != stream.name; });
  report.audits = std::move(audits);
  return report;
}

bool is_below_floor(const explain_report& report, timestamp t) {
  return report.floor && t < *report.floor;
}

/// Whether a repeat of the event handled last would be told by its id; none: nothing is filed.
std::optional<bool> last_event_in_window(const explain_report& report, const explained_aggregate& of) {
  if (!of.row->id || !report.keeps_ids) return std::nullopt;
  if (has_own_time(report.ids.kind)) return !is_below_floor(report, of.row->id->time());
  return of.last_filed && !is_below_floor(report, *of.last_filed);
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
      return "inside: applied, or superseded by a newer event of the same step; " + floor_text(report);
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

bool mentions(std::string_view bytes, std::string_view text, bool any_case) noexcept {
  if (text.empty()) return false;
  const auto same = [any_case](char a, char b) { return any_case ? lower(a) == lower(b) : a == b; };
  for (auto from = bytes.begin();; ++from) {
    from = std::search(from, bytes.end(), text.begin(), text.end(), same);
    if (from == bytes.end()) return false;
    const auto behind = from + static_cast<std::ptrdiff_t>(text.size());
    const bool begins = from == bytes.begin() || !is_of_a_word(*(from - 1));
    const bool ends = behind == bytes.end() || !is_of_a_word(*behind);
    if (begins && ends) return true;
  }
}

namespace {

/// What is stored of an aggregate, and of what waits of it.
result<explained_aggregate> explain_one(const store_view& view, const named_stream& stream,
                                        const std::string& aggregate,
                                        const std::optional<waiting_aggregate>& of,
                                        const explain_report& report) {
  explained_aggregate found{aggregate, {}};
  if (of) {
    found.backlog = of->backlog;
    found.missing = missing_below_lowest(rules_of(stream), *of);
  }
  auto row = view.get(stream.id, aggregate);
  if (row) {
    found.row = std::move(row).value();
  } else if (row.error() != make_error_code(errc::not_found)) {
    return row.error();
  }
  // The numbers that were skipped are forgotten with the rest.
  if (!found.row && report.forgotten_before && found.backlog && found.backlog->events() == 0)
    found.backlog.reset();
  if (!found.row || !found.row->id || has_own_time(report.ids.kind)) return found;
  constexpr std::size_t k_all = std::numeric_limits<std::size_t>::max();
  RATCHET_TRY(const auto filed, view.aggregates_with(stream.id, *found.row->id, k_all));
  for (const filed_id_of& one : filed) {
    if (one.aggregate == aggregate) found.last_filed = one.filed;
  }
  return found;
}

/// Adds the waiting events that have the id. No index leads to them, so that every one is looked at.
result<void> add_waiting_with(const store_view& view, const named_stream& stream, event_id id,
                              explain_report& report) {
  const gate_rules rules = rules_of(stream);
  std::error_code failed;
  RATCHET_TRY(view.waiting(stream.id, {}, [&](std::string_view aggregate, const waiting_event& event) {
    if (event.head.id != id) return true;
    report.more_waiting = report.waiting.size() == k_most_waiting;
    if (report.more_waiting) return false;
    const auto of = read_waiting_aggregate(view, stream.id, aggregate);
    if (!of || !of.value()) {
      failed = of ? make_error_code(errc::state_damaged) : of.error();
      return false;
    }
    report.waiting.push_back({std::string{aggregate}, event, story_of(rules, *of.value(), event)});
    return true;
  }));
  if (failed) return failed;
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

}  // namespace

result<explain_report> explain_aggregate(const store_view& view, const named_stream& stream,
                                         const std::string& aggregate) {
  RATCHET_TRY(auto report, begin(view, stream, [&](const rejected_row& row) {
                if (row.reason != reject_reason::malformed) return row.detail == aggregate;
                return mentions(row.key, aggregate, false) || mentions(row.value, aggregate, false);
              }));
  report.aggregate = aggregate;
  keep_own_audits(report);
  RATCHET_TRY(const auto of, read_waiting_aggregate(view, stream.id, aggregate));
  RATCHET_TRY(auto found, explain_one(view, stream, aggregate, of, report));
  if (found.row || found.backlog) report.aggregates.push_back(std::move(found));
  if (!of) return report;
  RATCHET_TRY(view.waiting(stream.id, in_front_of(aggregate),
                           [&, rules = rules_of(stream)](std::string_view name, const waiting_event& event) {
                             if (name != aggregate) return name < aggregate;
                             report.more_waiting = report.waiting.size() == k_most_waiting;
                             if (report.more_waiting) return false;
                             report.waiting.push_back({aggregate, event, story_of(rules, *of, event)});
                             return true;
                           }));
  return report;
}

result<explain_report> explain_event(const store_view& view, const named_stream& stream,
                                     const asked_id& asked) {
  const event_id id = asked.stored;
  const std::string& text = asked.text;
  const bool is_opaque = !has_own_time(id_spelling::of(stream).kind);
  const bool any_case = !is_opaque;
  RATCHET_TRY(auto report, begin(view, stream, [&](const rejected_row& row) {
                return row.id == id || mentions(row.key, text, any_case) ||
                       mentions(row.value, text, any_case);
              }));
  report.event = id;
  if (is_opaque) report.event_text = text;
  RATCHET_TRY(auto filed, view.aggregates_with(stream.id, id, k_most_aggregates + 1));
  report.more_aggregates = filed.size() > k_most_aggregates;
  if (report.more_aggregates) filed.pop_back();
  if (!is_opaque) report.event_time = id.time();
  for (const filed_id_of& one : filed) {
    report.event_time = std::max(report.event_time.value_or(one.filed), one.filed);
  }
  report.place = !report.keeps_ids                            ? id_place::off
                 : !report.event_time                         ? id_place::not_seen
                 : is_below_floor(report, *report.event_time) ? id_place::before_floor
                 : filed.empty()                              ? id_place::not_seen
                                                              : id_place::inside;
  for (const auto& [aggregate, when] : filed) {
    RATCHET_TRY(const auto of, read_waiting_aggregate(view, stream.id, aggregate));
    RATCHET_TRY(auto found, explain_one(view, stream, aggregate, of, report));
    // An id is filed when its event is applied.
    if (!found.row && !report.forgotten_before) return make_error_code(errc::state_damaged);
    report.aggregates.push_back(std::move(found));
  }
  RATCHET_TRY(add_waiting_with(view, stream, id, report));
  keep_own_audits(report);
  return report;
}

std::string explain_json(const explain_report& report) {
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
  for (const rejected_row& row : report.rejected) write_rejected(json, row);
  json.end_array().key("audit");
  write_audits(json, report.audits);
  json.end_object();
  return json.take() + "\n";
}

std::string explain_text(const explain_report& report) {
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
  if (!report.rejected.empty()) append_line(out, "  rejected records that are kept, newest first:");
  for (const rejected_row& row : report.rejected) append_line(out, "    " + rejected_line(row));
  if (!report.audits.empty()) append_line(out, "  audit rows, of it and of its stream as a whole:");
  for (const audit_row& row : report.audits) append_line(out, "    " + audit_line(row));
  return out;
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
