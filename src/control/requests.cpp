// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "control/requests.hpp"

#include <algorithm>
#include <charconv>

#include "control/words.hpp"
#include "core/shown_id.hpp"
#include "core/shown_text.hpp"
#include "core/typed_command.hpp"
#include "decode/json_grammar.hpp"
#include "decode/sequence_text.hpp"
#include "reports/explain_report.hpp"
#include "reports/id_spelling.hpp"
#include "reports/line_pages.hpp"
#include "reports/status_report.hpp"
#include "reports/wait_explanation.hpp"
#include "text/json_writer.hpp"
#include "text/sequence_text.hpp"

namespace ratchet {

namespace {

constexpr const char* k_get = "get";
constexpr const char* k_scan = "scan";
constexpr std::string_view k_prefix = "prefix=";  // of scan
constexpr std::string_view k_limit = "limit=";
constexpr const char* k_status = "status";
constexpr const char* k_explain = "explain";
constexpr const char* k_waiting_list = "waiting_list";
constexpr const char* k_waiting_show = "waiting_show";
constexpr const char* k_aggregate = "aggregate";
constexpr const char* k_event = "event";
constexpr const char* k_deleted = "deleted";
constexpr const char* k_audit = "audit";
constexpr std::string_view k_rejected = "rejected=";
constexpr std::string_view k_after = "after=";  // of audit rows, and limit=

problem not_understood() {
  return {errc::usage,
          "the running instance does not understand the request",
          "use the same version of ratchet as the one that runs",
          {}};
}

problem of_store(std::error_code code, const std::string& what) {
  return {code, what + ": " + code.message(), "", {}};
}

bool is_json(std::string_view text) {
  return json::check_json(text).reason == malformed_reason::none;
}

void write_row(json_writer& json, const id_spelling& ids, std::string_view aggregate,
               const aggregate_row& row, raw_layout layout) {
  json.begin_object();
  json.key("aggregate").string(aggregate);
  write_sequence(json.key("sequence"), ids.numbers, row.last);
  json.key("event_id");
  row.id ? json.string(ids.text(*row.id)) : json.null();
  json.key("time").time(row.time);
  if (row.deleted) {
    json.key("deleted").boolean(true);
  } else if (is_json(row.snapshot)) {
    json.key("snapshot").raw(row.snapshot, layout);
  } else {
    json.key("snapshot_base64").base64(row.snapshot);
  }
  json.end_object();
}

/// The streams that the store or the config knows, in the order of the config, then of the store.
reported<std::vector<named_stream>> known_streams(const read_context& context,
                                                  std::vector<std::string>* not_stored) {
  auto stored = context.view.streams();
  if (!stored) return of_store(stored.error(), "cannot list the streams");
  std::vector<named_stream> known;
  for (const std::string& name : context.streams) {
    const auto at = std::find_if(stored.value().begin(), stored.value().end(),
                                 [&](const named_stream& s) { return s.name == name; });
    if (at != stored.value().end()) {
      known.push_back(*at);
      stored.value().erase(at);
    } else if (not_stored != nullptr) {
      not_stored->push_back(name);
    }
  }
  known.insert(known.end(), stored.value().begin(), stored.value().end());
  return known;
}

/// None where the config knows the stream and the store does not yet.
reported<std::optional<stream_id>> find_stream(const read_context& context, const std::string& name) {
  RATCHET_TRY(const auto found, find_named_stream(context.view, context.streams, name));
  return found ? std::optional{found->id} : std::nullopt;
}

problem no_snapshot(const read_request& request, const std::string& why) {
  return {errc::not_found,
          "no snapshot of \"" + shown_id(request.aggregate) + "\" in stream \"" + request.stream + "\"" + why,
          "",
          {}};
}

reported<void> answer_get(const read_context& context, const read_request& request, const byte_sink& sink) {
  RATCHET_TRY(const auto stream, find_named_stream(context.view, context.streams, request.stream));
  if (!stream) return no_snapshot(request, "");
  const auto row = context.view.get(stream->id, request.aggregate);
  if (!row && row.error() == errc::not_found) return no_snapshot(request, "");
  if (!row) return of_store(row.error(), "cannot read \"" + shown_id(request.aggregate) + "\"");
  if (row.value().deleted) return no_snapshot(request, ": it was deleted by a tombstone");
  if (!request.json) {
    sink(row.value().snapshot);
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }
  json_writer json;
  write_row(json, id_spelling::of(*stream), request.aggregate, row.value(), raw_layout::as_it_stands);
  sink(json.take() + "\n");
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

reported<void> answer_scan(const read_context& context, const read_request& request, const byte_sink& sink) {
  RATCHET_TRY(const auto stream, find_named_stream(context.view, context.streams, request.stream));
  if (!stream) return BOOST_OUTCOME_V2_NAMESPACE::success();
  const id_spelling ids = id_spelling::of(*stream);
  const std::string& prefix = request.table.prefix;
  line_pages pages{request.table.limit, sink};
  const auto scanned = context.view.scan(stream->id, [&](const scanned_row& scanned_one) {
    const bool is_wanted = std::string_view{scanned_one.aggregate}.starts_with(prefix);
    if (!is_wanted && scanned_one.aggregate > prefix) return false;  // behind the last one
    if (!is_wanted || (scanned_one.row.deleted && !request.deleted)) return pages.pass_over();
    if (pages.is_full()) return false;
    json_writer json;
    write_row(json, ids, scanned_one.aggregate, scanned_one.row, raw_layout::one_line);
    return pages.add(json.text(), {});
  });
  (void)pages.end();
  if (!scanned) return of_store(scanned.error(), "cannot scan stream \"" + request.stream + "\"");
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

reported<stream_report> report_of(const read_context& context, const read_request& request,
                                  const named_stream& stream) {
  stream_report report;
  report.name = stream.name;
  auto state = context.view.load(stream.id);
  if (!state) return of_store(state.error(), "cannot read stream \"" + stream.name + "\"");
  report.state = std::move(state).value();
  if (request.rejected) {
    report.rejected = [&view = context.view, id = stream.id,
                       limit = *request.rejected](const visit_row<rejected_row>& visit) {
      return view.newest_rejected(id, limit, visit);
    };
  }
  auto gap = oldest_gap_of(context.view, stream);
  if (!gap) return of_store(gap.error(), "cannot read the gaps of \"" + stream.name + "\"");
  report.oldest_gap = std::move(gap).value();
  return report;
}

reported<void> answer_status(const read_context& context, const read_request& request,
                             const byte_sink& sink) {
  status_report report;
  report.source = context.live != nullptr ? report_source::instance : report_source::directory;
  if (context.live != nullptr) report.live = *context.live;
  report.replica = context.replica;
  auto identity = context.view.identity();
  if (!identity) return of_store(identity.error(), "cannot read the identity of the store");
  report.store = std::move(identity).value();
  report.step = context.view.step();
  const auto outbox = context.view.outboxes();
  if (!outbox) return of_store(outbox.error(), "cannot read the outbox");
  report.outbox = outbox.value().of({});
  report.sinks = outbox.value().sinks();
  std::vector<std::string> empty_ones;
  RATCHET_TRY(const auto known, known_streams(context, &empty_ones));
  for (const named_stream& stream : known) {
    RATCHET_TRY(auto one, report_of(context, request, stream));
    report.streams.push_back(std::move(one));
  }
  for (std::string& name : empty_ones) {
    report.streams.push_back({std::move(name), {}, {}, {}, {}});
    if (request.rejected)
      report.streams.back().rejected = [](const visit_row<rejected_row>&) -> result<void> {
        return BOOST_OUTCOME_V2_NAMESPACE::success();
      };
  }
  for (stream_report& stream : report.streams) {
    const auto live = report.live.streams.find(stream.name);
    if (live != report.live.streams.end()) stream.live = live->second;
    const auto fields = report.live.fields.find(stream.name);
    if (fields != report.live.fields.end()) stream.fields = fields->second;
  }
  if (request.audit) {
    report.audits = [&view = context.view,
                     after = request.audit_after.value_or(0)](const visit_row<audit_row>& visit) {
      return view.each_audit(after, [&visit](const audit_row& row) { return visit(&row); });
    };
    report.audit_limit = request.audit_limit;
  }
  if (const auto written = write_status(report, request.json, sink); !written)
    return of_store(written.error(), "cannot read the rejected records and audit rows");
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

/// The problem of an id that cannot be one.
problem no_event_id(const std::string& text, const id_spelling& ids) {
  return {errc::usage,
          "\"" + text + "\" is not an event id: " + shape_of(ids.kind),
          ids.kind == id_kind::monotonic
              ? "ask for its aggregate with --aggregate, or use the id that outputs show as xxh3:..."
          : ids.has_source ? "give the id as the event has it, and its source with --source"
                           : "give the id as the event has it",
          {}};
}

reported<void> answer_explain(const read_context& context, const read_request& request,
                              const byte_sink& sink) {
  RATCHET_TRY(const auto stream, find_named_stream(context.view, context.streams, request.stream));
  // Of a stream that the store does not know nobody can tell the kind of its ids.
  const id_spelling ids = stream ? id_spelling::of(*stream) : id_spelling{id_kind::uuidv7, true};
  auto asked = read_asked_id(ids, request.event);
  for (const id_kind kind : {id_kind::ulid, id_kind::opaque}) {
    if (!asked && !stream) asked = read_asked_id({kind, true}, request.event);
  }
  if (!request.event.empty() && !asked) return no_event_id(request.event, ids);
  result<explain_report> explained = explain_report{};
  if (stream) {
    const auto wanted = [&sink] { return sink({}); };
    explained = asked ? explain_event(context.view, *stream, *asked, wanted)
                      : explain_aggregate(context.view, *stream, request.aggregate, wanted);
    if (!explained) return of_store(explained.error(), "cannot read stream \"" + request.stream + "\"");
  } else {  // the config knows it, and nothing was ever handled
    explained.value().stream = request.stream;
    if (asked) explained.value().event = asked->stored;
    if (asked) explained.value().event_text = asked->text;
    if (!asked) explained.value().aggregate = request.aggregate;
  }
  const explain_report& report = explained.value();
  if (request.json || report.is_known()) {
    if (const auto written = write_explained(report, request.json, sink); !written)
      return of_store(written.error(), "cannot read stream \"" + request.stream + "\"");
  }
  if (!report.is_known()) return nothing_known(report);
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

/// The streams that were asked for: one, or all. None where the config knows the one, and the store does not.
reported<std::vector<named_stream>> asked_streams(const read_context& context, const std::string& name) {
  RATCHET_TRY(auto known, known_streams(context, nullptr));
  if (name.empty()) return known;
  RATCHET_TRY(const auto id, find_stream(context, name));
  std::erase_if(known, [&](const named_stream& s) { return !id || s.id != *id; });
  return known;
}

reported<void> answer_waiting_list(const read_context& context, const read_request& request,
                                   const byte_sink& sink) {
  RATCHET_TRY(const auto streams, asked_streams(context, request.stream));
  waiting_filter filter = request.waiting;
  for (const named_stream& stream : streams) {
    bool begun =
        request.json || !request.stream.empty();  // for people each stream has a line above its events
    const auto listed = list_waiting(context.view, stream, filter, request.json, [&](std::string_view piece) {
      if (piece.empty() || begun) return sink(piece);
      begun = true;
      std::string headed;
      append_line(headed, "stream " + stream.name);
      return sink(headed.append(piece));
    });
    if (!listed)
      return of_store(listed.error(), "cannot read the waiting events of stream \"" + stream.name + "\"");
    const waiting_listed& end = listed.value();
    if (!end.wanted) break;
    if (filter.limit) *filter.limit -= end.shown;
    if (!end.more) continue;
    if (!request.json) {
      const std::string more = filter.rejected ? "more are kept" : "more wait";
      std::string line;
      append_line(line, end.last.empty() ? more
                                         : more + ": go on with " + shell_word(stream.name) + " --after " +
                                               typed_shown(end.last));
      sink(line);
    }
    break;
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

reported<void> answer_waiting_show(const read_context& context, const read_request& request,
                                   const byte_sink& sink) {
  RATCHET_TRY(const auto streams, asked_streams(context, request.stream));
  result<std::string> shown = make_error_code(errc::not_found);
  if (!streams.empty()) {
    shown = show_waiting(context.view, streams.front(), request.aggregate, request.sequence, request.json);
  }
  if (shown) {
    sink(shown.value());
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }
  if (shown.error() != make_error_code(errc::not_found)) {
    return of_store(shown.error(),
                    "cannot read the waiting events of \"" + shown_id(request.aggregate) + "\"");
  }
  return problem{
      errc::not_found,
      "no event " + sequence_word(request.sequence) + " of \"" + shown_id(request.aggregate) +
          "\" waits in stream \"" + request.stream + "\"",
      typed_command("waiting list", shell_word(request.stream)) + " lists the waiting events, and " +
          typed_command("explain",
                        shell_word(request.stream) + " --aggregate " + typed_id(request.aggregate)) +
          " shows the handled ones",
      {}};
}

bool parse_status_word(const std::string& word, read_request& request) {
  if (word == k_audit) {
    request.audit = true;
    return true;
  }
  for (auto [name, into] :
       {std::pair{k_limit, &request.audit_limit}, std::pair{k_after, &request.audit_after}}) {
    if (!word.starts_with(name)) continue;
    *into = parse_u64(std::string_view{word}.substr(name.size()));
    return into->has_value();
  }
  if (!word.starts_with(k_rejected)) return false;
  std::size_t limit = 0;
  const char* const end = word.data() + word.size();
  const auto [at, error] = std::from_chars(word.data() + k_rejected.size(), end, limit);
  if (error != std::errc{} || at != end) return false;
  request.rejected = limit;
  return true;
}

reported<read_request> parse_waiting_list_words(std::span<const std::string> words) {
  read_request request;
  constexpr std::size_t k_form = 2;  // in a list; behind it comes the filter
  if (words[0] == k_waiting_list && words.size() > k_form && k_json_or_text.read(words[k_form])) {
    auto filter = parse_filter(words.subspan(k_form + 1));
    if (!filter) return not_understood();
    request.kind = read_request::kind_of::waiting_list;
    request.waiting = std::move(*filter);
  } else if (words[0] == k_waiting_show && words.size() == 5 && k_json_or_text.read(words[4])) {
    const auto wanted = sequence_of(words[3]);
    if (!wanted) return not_understood();
    request.kind = read_request::kind_of::waiting_show;
    request.aggregate = words[2];
    request.sequence = *wanted;
  } else {
    return not_understood();
  }
  request.stream = words[1];
  request.json = *k_json_or_text.read(words[0] == k_waiting_list ? words[k_form] : words[4]);
  return request;
}

}  // namespace

reported<std::optional<named_stream>> find_named_stream(const store_view& view,
                                                        std::span<const std::string> streams,
                                                        const std::string& name) {
  std::vector<std::string> empty_ones;
  RATCHET_TRY(const auto known, known_streams({view, streams, nullptr}, &empty_ones));
  std::string names;
  for (const named_stream& s : known) {
    if (s.name == name) return std::optional{s};
    names += (names.empty() ? "" : ", ") + s.name;
  }
  for (const std::string& s : empty_ones) {
    if (s == name) return std::optional<named_stream>{};
    names += (names.empty() ? "" : ", ") + s;
  }
  return problem{errc::usage,
                 "there is no stream \"" + name + "\"",
                 names.empty() ? "the store holds no streams yet" : "there are: " + names,
                 {}};
}

namespace {

std::vector<std::string> scan_words(const read_request& request) {
  std::vector<std::string> words{k_scan, request.stream};
  if (request.deleted) words.emplace_back(k_deleted);
  if (!request.table.prefix.empty()) words.push_back(std::string{k_prefix} + request.table.prefix);
  if (request.table.limit) words.push_back(std::string{k_limit} + std::to_string(*request.table.limit));
  return words;
}

reported<read_request> parse_scan_words(std::span<const std::string> words) {
  read_request request;
  request.kind = read_request::kind_of::scan;
  request.stream = words[1];
  for (const std::string& word : words.subspan(2)) {
    if (word == k_deleted) {
      request.deleted = true;
    } else if (word.starts_with(k_prefix)) {
      request.table.prefix = word.substr(k_prefix.size());
    } else if (word.starts_with(k_limit)) {
      request.table.limit = parse_u64(std::string_view{word}.substr(k_limit.size()));
      if (!request.table.limit) return not_understood();
    } else {
      return not_understood();
    }
  }
  return request;
}

}  // namespace

std::vector<std::string> to_words(const read_request& request) {
  const std::string form = k_json_or_text.of(request.json);
  switch (request.kind) {
    case read_request::kind_of::get:
      return {k_get, request.stream, request.aggregate, form};
    case read_request::kind_of::scan:
      return scan_words(request);
    case read_request::kind_of::explain:
      if (!request.event.empty()) return {k_explain, request.stream, k_event, request.event, form};
      return {k_explain, request.stream, k_aggregate, request.aggregate, form};
    case read_request::kind_of::waiting_list: {
      std::vector<std::string> words{k_waiting_list, request.stream, form};
      for (std::string& word : to_words(request.waiting)) words.push_back(std::move(word));
      return words;
    }
    case read_request::kind_of::waiting_show:
      return {k_waiting_show, request.stream, request.aggregate, sequence_word(request.sequence), form};
    case read_request::kind_of::table:
      return to_words(request.table);
    case read_request::kind_of::status:
      break;
  }
  std::vector<std::string> words{k_status, form};
  if (request.rejected) words.push_back(std::string{k_rejected} + std::to_string(*request.rejected));
  if (request.audit) words.emplace_back(k_audit);
  if (request.audit_limit) words.push_back(std::string{k_limit} + std::to_string(*request.audit_limit));
  if (request.audit_after) words.push_back(std::string{k_after} + std::to_string(*request.audit_after));
  return words;
}

reported<read_request> parse_words(std::span<const std::string> words) {
  read_request request;
  if (words.size() == 4 && words[0] == k_get && k_json_or_text.read(words[3])) {
    request.kind = read_request::kind_of::get;
    request.stream = words[1];
    request.aggregate = words[2];
    request.json = *k_json_or_text.read(words[3]);
    return request;
  }
  if (words.size() >= 2 && words[0] == k_scan) return parse_scan_words(words);
  if (words.size() == 5 && words[0] == k_explain && k_json_or_text.read(words[4]) &&
      (words[2] == k_event || words[2] == k_aggregate)) {
    request.kind = read_request::kind_of::explain;
    request.stream = words[1];
    (words[2] == k_event ? request.event : request.aggregate) = words[3];
    request.json = *k_json_or_text.read(words[4]);
    return request;
  }
  if (!words.empty() && (words[0] == k_waiting_list || words[0] == k_waiting_show)) {
    return parse_waiting_list_words(words);
  }
  if (auto asked = parse_table_words(words)) {
    request.kind = read_request::kind_of::table;
    request.table = std::move(*asked);
    return request;
  }
  if (words.size() < 2 || words[0] != k_status || !k_json_or_text.read(words[1])) return not_understood();
  request.kind = read_request::kind_of::status;
  request.json = *k_json_or_text.read(words[1]);
  for (const std::string& word : words.subspan(2)) {
    if (!parse_status_word(word, request)) return not_understood();
  }
  return request;
}

void answer_live_status(const status_snapshot& live, const read_request& request, const byte_sink& sink) {
  status_report report;
  report.source = report_source::instance;
  report.live = live;
  sink(request.json ? status_json(report) : status_text(report));
}

reported<void> answer_request(const read_context& context, const read_request& request,
                              const byte_sink& sink) {
  switch (request.kind) {
    case read_request::kind_of::get:
      return answer_get(context, request, sink);
    case read_request::kind_of::scan:
      return answer_scan(context, request, sink);
    case read_request::kind_of::explain:
      return answer_explain(context, request, sink);
    case read_request::kind_of::status:
      return answer_status(context, request, sink);
    case read_request::kind_of::waiting_list:
      return answer_waiting_list(context, request, sink);
    case read_request::kind_of::waiting_show:
      return answer_waiting_show(context, request, sink);
    case read_request::kind_of::table:
      return answer_table_question(context.view, request.table, sink);
  }
  return not_understood();
}

}  // namespace ratchet
