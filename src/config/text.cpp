// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "config/text.hpp"

#include <algorithm>
#include <iterator>

#include "decode/envelope_preset.hpp"
#include "decode/event_id_text.hpp"
#include "decode/field_map.hpp"
#include "decode/field_source.hpp"
#include "decode/pointer_tree.hpp"
#include "decode/sequence_kinds.hpp"
#include "streams/stream_definition.hpp"
#include "text/config_words.hpp"
#include "text/units.hpp"

namespace ratchet {

namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// A source, or all of them as the config has them.
std::string parts_of(const std::string& first, const std::vector<std::string>& more) {
  return more.empty() ? first : "[" + first + ", " + joined(more) + "]";
}

std::string order_of(const stream_config& stream) {
  switch (stream.order) {
    case order::latest:
      if (stream.envelope.format != envelope_format::debezium_cdc)
        return "; the newest by " + stream.envelope.sequence + " wins";
      return stream.envelope.position == change_order::log
                 ? "; the newest by its place in the database's log wins"
                 : "; the last one of its partition wins";
    case order::arrival:
      return "; each event once, in the order of arrival";
    case order::strict:
      break;
  }
  std::string text = "; every event in turn by " + stream.envelope.sequence;
  if (stream.first == first_number::any) text += ", from the lowest that comes";
  if (stream.first == first_number::zero) text += ", from 0";
  if (stream.first == first_number::one) text += ", from 1";
  return text;
}

bool is_compared_as_text(const stream_config& stream) {
  return kind_of_sequences(stream.envelope, stream.order) == sequence_kind::text;
}

/// What a producer's numbers do not say.
void add_limits_of_versions(const stream_config& stream, std::vector<std::string>& out) {
  const bool is_latest = stream.order == order::latest;
  const bool is_time = stream.envelope.sequence == "timestamp" ||
                       kind_of_sequences(stream.envelope, stream.order) == sequence_kind::time;
  if (is_latest && (stream.ties == ties::later || (stream.ties == ties::usual && is_time))) {
    out.emplace_back(
        "if two events have the same sequence, the later one wins: key the topic by aggregate, so that its "
        "events share a partition");
  } else if (is_latest) {
    out.emplace_back(
        "two different events with the same sequence are a conflict, and the second is rejected: if "
        "sequences are coarser than the events, set ties: later");
  } else {
    out.emplace_back(
        "two different events with the same sequence are a conflict, and the second is rejected");
  }
  if (is_compared_as_text(stream)) {
    // Whoever names `as: text` has said it; CloudEvents' extension says it for all others.
    out.emplace_back(
        "sequences are compared as text: \"10\" is below \"9\"; for digits that are not padded with zeros "
        "set "
        "as: integer");
    if (are_text_by_format(stream.envelope, stream.order)) {
      out.emplace_back(
          "digits of another length than those of their aggregate are rejected (sequence_mixed)" +
          std::string{are_numbers_or_text(stream.envelope, stream.order)
                          ? ", and so is a number, or a sequence with sequencetype: Integer, where its "
                            "aggregate has text, and the other way round"
                          : ""});
    }
  }
  if (stream.envelope.format == envelope_format::cloudevents &&
      stream.envelope.aggregate == "attribute:subject") {
    out.emplace_back(
        "numbers of two sources are compared if they have the same subject, although a sequence counts "
        "within its source: give each subject one source");
  }
  const bool may_begin_again = is_latest && !is_compared_as_text(stream) && !is_time;
  if (may_begin_again && stream.after_delete == after_delete::restart) {
    out.emplace_back(
        "after a delete, number 0 or 1 starts the aggregate over, also a late one from before the delete "
        "that no event id reveals; a repeat from the earlier life with a higher number wins, too");
  } else if (may_begin_again) {
    out.emplace_back(
        "an aggregate that is deleted and created again must continue its numbers: lower numbers are stale; "
        "if they begin at 0 or 1 again, set after_delete: restart");
  }
}

void add_limits_of_debezium(const stream_config& stream, std::vector<std::string>& out) {
  if (stream.envelope.position == change_order::log) {
    out.emplace_back(
        "changes of PostgreSQL, MySQL, MariaDB, SQL Server, Oracle and TiCDC are ordered by the log, those "
        "of "
        "MongoDB by their partition; changes of other connectors are rejected (connector_unknown) unless you "
        "set position: partition");
  } else {
    out.emplace_back("while a connector repeats earlier changes, rows go back, and forward again");
    out.emplace_back(
        "a tombstone deletes nothing: for rows that ExtractNewRecordState unwraps, let the connector set "
        "delete.tombstone.handling.mode: rewrite");
  }
  if (stream.envelope.unavailable.empty() || stream.reducer.kind != reducer_config::kind_of::replace) return;
  out.push_back("a column that comes as " + stream.envelope.unavailable +
                " keeps its stored value; without a stored one the change waits as dead, and a new row is "
                "rejected (unavailable_column)");
}

void add_limits_of_sequences(const stream_config& stream, std::vector<std::string>& out) {
  if (has_log_positions(stream.envelope.format)) {
    out.emplace_back(
        "if two changes of a row have one log position, the last one is kept: key the topic by row, so that "
        "its changes share a partition");
    if (stream.envelope.format == envelope_format::debezium_cdc) add_limits_of_debezium(stream, out);
    return;
  }
  if (stream.dedup.ids != id_kind::none) {
    out.push_back("Ratchet notices an event id that comes again under a new sequence only within " +
                  format_duration(stream.dedup.window));
  }
  if (stream.envelope.sequence == "offset") {
    out.emplace_back(
        "the record of an aggregate with the highest offset wins: key the topic by aggregate, so that its "
        "events share a partition");
    return;
  }
  add_limits_of_versions(stream, out);
}

void add_limits_of_retention(const stream_config& stream, std::vector<std::string>& out) {
  if (!stream.retention) return;
  const std::string forgotten = "an aggregate without an event for " + format_duration(*stream.retention) +
                                " of the records' time is forgotten: ";
  out.push_back(forgotten + (stream.order == order::arrival
                                 ? "a later event of it is applied to an empty state"
                             : stream.too_old == too_old::park
                                 ? "a later event of it counts as its first one, or waits for an operator "
                                   "if it is too old"
                                 : "a later event of it counts as its first one, or is too old"));
}

/// The pointer leads through an element of an array.
bool has_index(const std::string& pointer) {
  const std::size_t begin = std::min(pointer.find('/'), pointer.size());
  const std::vector<std::string> tokens = parse_json_pointer(pointer.substr(begin)).value();
  return std::any_of(tokens.begin(), tokens.end(),
                     [](const std::string& token) { return json::as_index(token).has_value(); });
}

/// Elements of arrays that are read as if there were no others.
void add_limits_of_arrays(const stream_config& stream, std::vector<std::string>& out) {
  decode_rules rules;
  rules.envelope = stream.envelope;
  rules.order = stream.order;
  rules.ids = stream.dedup.ids;
  rules.payload_from = stream.reducer.from;
  rules.ignore_having = stream.ignore_having;
  const bool may_take_all =
      stream.envelope.format == envelope_format::json && stream.envelope.each.kind == each_kind::none;
  for (const std::string& element : elements_read(rules)) {
    const std::string array = element.substr(0, element.rfind('/'));
    const bool is_within_another = has_index(array);
    out.push_back(
        "it reads " + element +
        " of an array: a record whose array has more elements is rejected (longer_array), because "
        "the others would be lost" +
        (may_take_all && !is_within_another
             ? "; if each one is an event, each: " + (array.empty() ? "array" : array) + " takes all of them"
             : ""));
  }
}

void add_limits_of_strict(const stream_config& stream, std::vector<std::string>& out) {
  const std::string timeout = format_duration(stream.gap.timeout);
  switch (stream.gap.policy) {
    case gap_policy::wait:
      out.emplace_back(
          "if an event never comes, all later ones of its aggregate wait until an operator decides");
      break;
    case gap_policy::skip:
      out.push_back("a number that is missing for " + timeout +
                    " of the records' time is skipped: its event is rejected (late) if it comes after all");
      break;
    case gap_policy::stop:
      out.push_back("a number that is missing for " + timeout +
                    " of the records' time stops the whole stream until an operator decides");
      break;
  }
  const bool says_where_it_begins =
      !stream.envelope.previous.empty() || !stream.envelope.sequence_first.empty();
  if (says_where_it_begins) {
    out.push_back("an event covers the numbers " +
                  (stream.envelope.previous.empty() ? "from " + stream.envelope.sequence_first
                                                    : "after " + stream.envelope.previous) +
                  " up to its sequence; an event without that field has one number");
  }
  if (stream.first == first_number::any && says_where_it_begins) {
    out.emplace_back("the first event of an aggregate is applied at once, with any number");
  } else if (stream.first == first_number::any) {
    out.push_back("the first event of an aggregate is applied " + timeout +
                  " after it came: lower numbers might follow");
  } else if (!stream.topics.empty() && stream.start == start_position::latest) {
    out.emplace_back(
        "an aggregate whose first events are older than the first start waits for them without end");
  }
}

/// Where it may publish besides: only the code of a program does.
std::vector<std::string> left_to_programs(const stream_config& stream) {
  const std::vector<std::string> emitted = emitted_to(stream);
  std::vector<std::string> rest;
  std::copy_if(
      stream.outputs.begin(), stream.outputs.end(), std::back_inserter(rest),
      [&](const std::string& to) { return std::find(emitted.begin(), emitted.end(), to) == emitted.end(); });
  return rest;
}

std::string words_of_outputs(const stream_config& stream) {
  std::string text;
  const std::vector<std::string> emitted = emitted_to(stream);
  if (!emitted.empty()) text += "; publishes to " + joined(emitted);
  const std::vector<std::string> others = left_to_programs(stream);
  if (!others.empty()) text += "; lets the code of a program publish to " + joined(others);
  std::vector<std::string> tables;
  for (const table_config& t : stream.tables) tables.push_back(t.name + " (" + name_of(t.key) + ")");
  if (!tables.empty()) text += "; has the tables " + joined(tables);
  return text;
}

void add_limit_of_published(const stream_config& stream, std::vector<std::string>& out) {
  if (stream.outputs.empty() && stream.emit.empty()) return;
  out.emplace_back(
      "messages are sent at least once: consumers must drop repeats by ce_id; a tombstone publishes nothing");
}

/// What a built-in reducer leaves empty, by name.
void add_limits_of_built_in(const stream_config& stream, std::vector<std::string>& out) {
  const std::string who = std::string{" by kind: "} + std::string{word_of(stream.reducer.kind)} +
                          ": only a program's own reducer or transactions do, and ratchet run has none";
  for (const table_config& t : stream.tables) out.push_back("nothing is put into the table " + t.name + who);
  for (const std::string& to : left_to_programs(stream)) out.push_back("nothing is published to " + to + who);
}

std::string any_of(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " or ") + word;
  return text;
}

/// Which events it handles, and which of them delete.
std::string words_of_choice(const stream_config& stream) {
  std::string text;
  if (!stream.types.empty()) text += "; handles the types " + joined(stream.types) + " alone";
  std::string ignored = stream.ignore.empty() ? "" : "the types " + joined(stream.ignore);
  if (!stream.ignore_having.empty())
    ignored += (ignored.empty() ? "events with " : ", events with ") + stream.ignore_having;
  if (stream.ignore_tombstones) ignored += ignored.empty() ? "null values" : ", null values";
  if (!ignored.empty()) text += "; ignores " + ignored;
  const delete_config& deletes = stream.envelope.deletes;
  if (!deletes.types.empty()) text += "; an event of type " + any_of(deletes.types) + " deletes";
  if (!deletes.field.empty())
    text += "; an event deletes whose " + deletes.field + " is " +
            (deletes.is.empty() ? "not null, false, 0 or empty" : any_of(deletes.is));
  return text;
}

/// What of a record the reducer is given.
std::string payload_of(const stream_config& stream) {
  const std::string& from = stream.reducer.from;
  switch (stream.envelope.format) {
    case envelope_format::json:
    case envelope_format::debezium_outbox:
      if (!from.empty()) return from;
      return stream.envelope.each.kind == each_kind::none ? "the whole value" : "the whole event";
    case envelope_format::cloudevents:
      return from.empty() ? "the data" : from + " of the data";
    case envelope_format::debezium_cdc:
    case envelope_format::ydb_changefeed:
      return from.empty() ? "the new row" : from + " of the new row";
  }
  return {};
}

void add_limits_of_arrival(const stream_config& stream, const std::string& window,
                           std::vector<std::string>& limits) {
  limits.emplace_back("events of one aggregate that arrive in the wrong order are applied in that order");
  if (!stream.envelope.sequence.empty()) {
    limits.push_back("the sequence " + stream.envelope.sequence + " is not read with order: arrival");
  }
  const std::string fate_of_old =
      stream.too_old == too_old::park
          ? " older than the stream waits, with later events of its aggregate, until an operator decides"
          : " older than the stream is rejected (too_old): Ratchet cannot tell whether it was handled";
  if (stream.dedup.ids == id_kind::monotonic) {
    limits.emplace_back(
        "an id counts as a repeat, also of another aggregate, if its partition had an equal or higher one "
        "of the same source before");
  } else if (stream.dedup.ids == id_kind::opaque) {
    limits.push_back("an opaque id has no time of its own: a repeat whose record is more than " + window +
                     " later than the first is applied again");
    limits.push_back("an event whose record is more than " + window + fate_of_old);
  } else {
    limits.push_back("an event whose id is more than " + window + fate_of_old);
  }
}

}  // namespace

std::string describe(const stream_config& stream) {
  std::string text = stream.name + ": ";
  if (!takes_events(stream)) {
    text += "fed by the transactions of a program only; their keys remembered for " +
            format_duration(stream.dedup.window);
    return text + words_of_outputs(stream);
  }
  text += stream.topics.empty() ? "fed by ratchet apply" : "reads " + joined(stream.topics);
  if (stream.envelope.format != envelope_format::json) {
    text += std::string{" as "} + name_of(stream.envelope.format);
  }
  const std::string_view each = word_of(stream.envelope.each);
  if (!each.empty()) text += ", each record several events (" + std::string{each} + ")";
  text += "; aggregates by " + parts_of(stream.envelope.aggregate, stream.envelope.aggregate_more);
  text += order_of(stream);
  if (stream.dedup.ids == id_kind::none) {
    text += "; no event ids";
  } else if (stream.dedup.ids == id_kind::monotonic) {
    text += "; ids " + stream.envelope.event_id + " (monotonic), the last one of each partition remembered";
  } else {
    text += "; ids " + parts_of(stream.envelope.event_id, stream.envelope.event_id_more) + " (" +
            name_of(stream.dedup.ids) + ") remembered for " + format_duration(stream.dedup.window);
  }
  if (stream.retention)
    text += "; forgets an aggregate without an event for " + format_duration(*stream.retention);
  text += words_of_choice(stream);
  const std::string what = payload_of(stream);
  switch (stream.reducer.kind) {
    case reducer_config::kind_of::merge_patch:
      text += "; merges " + what + " into the snapshot";
      break;
    case reducer_config::kind_of::own:
      text += "; gives " + what + " to the reducer " + stream.reducer.name + ", version " +
              std::to_string(stream.reducer.version) + ", of a program";
      break;
    case reducer_config::kind_of::replace:
    case reducer_config::kind_of::flaky:
      text += "; keeps " + what;
      break;
  }
  if (stream.reducer.kind == reducer_config::kind_of::flaky) text += ", and fails on purpose";
  return text + words_of_outputs(stream);
}

std::vector<std::string> limits_of(const stream_config& stream) {
  std::vector<std::string> limits;
  const std::string window = format_duration(stream.dedup.window);
  if (!takes_events(stream)) {
    limits.push_back("a request whose key comes again after " + window + " runs again");
    add_limits_of_retention(stream, limits);
    add_limit_of_published(stream, limits);
    return limits;
  }
  if (stream.order == order::latest) {
    limits.emplace_back(
        "an event that is older than the last one of its aggregate is discarded (stale): each event must "
        "carry the full state");
    add_limits_of_sequences(stream, limits);
  } else if (stream.order == order::strict) {
    add_limits_of_strict(stream, limits);
    add_limits_of_sequences(stream, limits);
  } else {
    add_limits_of_arrival(stream, window, limits);
  }
  add_limits_of_retention(stream, limits);
  add_limits_of_arrays(stream, limits);
  if (stream.envelope.each.kind != each_kind::none) {
    limits.emplace_back(
        "the events of one record are handled one after another: one that is rejected or waits leaves the "
        "others as they are, and a stop may come between two of them");
  }
  if (stream.poison == 0) {
    limits.emplace_back(
        "Ratchet does not notice a wrong envelope or topic: malformed records never stop the stream");
  }
  if (!stream.topics.empty() && stream.start == start_position::latest) {
    limits.emplace_back("records from before the first start are never read");
  }
  const bool own = stream.reducer.kind == reducer_config::kind_of::own;
  if (own) {
    limits.emplace_back(
        "only the program that has its reducer can run it: `ratchet run` and `apply` refuse; the state can "
        "be read");
  }
  if (!own && takes_events(stream)) add_limits_of_built_in(stream, limits);
  add_limit_of_published(stream, limits);
  if (stream.reducer.timeout) {
    limits.push_back("a reducer is never interrupted: its result after more than " +
                     format_duration(*stream.reducer.timeout) + " is dropped, and the event is tried again");
  }
  return limits;
}

std::string to_text(const http_config& http) {
  const bool v6 = http.host.find(':') != std::string::npos;
  return (v6 ? "[" + http.host + "]" : http.host) + ":" + std::to_string(http.port);
}

}  // namespace ratchet
