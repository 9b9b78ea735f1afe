// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "config/text.hpp"

#include <algorithm>
#include <iterator>

#include "decode/envelope_preset.hpp"
#include "decode/event_id_text.hpp"
#include "decode/sequence_kinds.hpp"
#include "streams/stream_definition.hpp"
#include "text/config_words.hpp"
#include "text/units.hpp"

namespace ratchet {

namespace {

constexpr std::string_view k_template =
    R"(# A config for ratchet. Check it with:  ratchet validate -c ratchet.yaml
# It is read strictly: a key that is unknown, given twice or of the wrong type is an error. Every key of this
# version is here; what is commented out shows its default, and what needs no default says so.
# One value can be overridden on the command line: --set streams[0].start=latest, -X fetch.wait.max.ms=100
version: 1

kafka:                            # may be left out where no topic is read or published to
  brokers: [localhost:9092]
  group: payments-read-model      # the consumer group; it belongs to this state directory alone
  properties: {}                  # librdkafka's own, as in {session.timeout.ms: 45000, security.protocol: ssl}.
                                  # A secret: sasl.password: {file: /run/secrets/kafka}, or {env: KAFKA_PASSWORD}
  # connect_timeout: 30s          # how long a start waits for the brokers' first answer

state:
  path: ratchet-state             # a directory; a relative path starts at the working directory
  # commit_interval: 100ms        # how long a power cut may send the position back: 1ms to 1m
  # sync: interval                # interval: sync once per commit interval. every-step: after each step
  # min_free: 512MiB              # with less free on the disk nothing is consumed until there is room; or off.
                                  # Default: half of memory_limit, but at most a tenth of the file system
  # snapshot_bytes: 16MiB         # an event that would leave a larger snapshot, or a larger row of a table, is dead

streams:
  - name: payments                # what get, scan and status call it
    topics: [payment-status]      # a topic feeds one stream. Leave it out to feed the stream by ratchet apply
    start: earliest               # earliest | latest: where a partition begins that nobody has read yet
    envelope:                     # a field comes from /a/json/pointer, key or header:NAME
      # format: json              # or cloudevents, debezium-outbox, debezium-cdc, ydb-changefeed, which know where their
                                  # fields are (docs/guides); of cloudevents a field is attribute:NAME, key or header:NAME
      aggregate: /payment/id      # which payment the event speaks of; 1 to 1024 bytes; [/tenant, /order] of several
                                  # fields, as event_id too, with dedup: {ids: opaque}
      event_id: /id               # not needed with dedup: off
      sequence: /sequence         # a number that grows with each event of one payment; not read with order: arrival.
                                  # {from: /sequence, as: integer}, also decimal, time, lsn, hlc, ulid, uuidv7, text; of
                                  # integers bits: 64 | 128 and base: 10 | 16. Or the record's own: offset, timestamp
      # epoch: /epoch             # compared before the sequence; without it 0
      type: /type                 # optional; reducers see it
      time: /occurred_at          # optional; RFC 3339 or milliseconds since 1970; {from: /created, unit: s} for numbers of
                                  # seconds, us or ns; what has no offset is UTC
      # key: auto                 # what keys are, where a field is taken from them: text, json, i32, i64 or uuid
      # each: /records            # where a record holds several events, their array; array: the value is one; lines:
                                  # NDJSON. Pointers go into the event then, and record:/pointer into the whole value
      # delete: {types: [payment.removed]}   # events that delete, beside null values; or {field: /__deleted, is: "true"}
    # order: latest               # latest: events carry full state, the newest sequence wins
                                  # strict: every event in turn, n+1 after n; what comes early waits
                                  # arrival: no sequence, each event id is applied once as it comes
                                  # strict alone has, each with its default:
                                  #   first: 1             an aggregate's first number: 0 | 1 | any, which takes the
                                  #                        lowest that comes and needs gap: {policy: skip}
                                  #   epoch_change: park   accept: the first number of a higher epoch follows too
                                  #   gap: {policy: wait}  or skip | stop: after a timeout, by the records' time,
                                  #                        as in {policy: skip, timeout: 1h}
                                  # and, where an event covers a range of numbers, envelope: {previous: /pu}, the number
                                  # before it, or sequence: {from: /u, first: /U}, its own first one
    # ties: reject                # of latest: two events with one number are a conflict. later: the later one wins
    # after_delete: refuse        # of latest. restart: behind a delete an aggregate may begin again with 0 or 1
    # too_old: reject             # of arrival. park: an event older than the window waits for an operator
    # handling: direct            # deferred: an event waits first, and its reducer runs in a step of its own, so that a
                                  # slow one does not hold up reading (docs/guides/inbox.md); not with latest
    # waiting: {per_aggregate: 10000, events: 1000000, bytes: 4GiB}   # how much may wait, failed events too:
                                  # then an aggregate is held for an operator, and the stream stops
    # retry: {attempts: 8, backoff: 200ms..5m}   # of an event whose reducer failed; then it is dead
    # dedup: {ids: uuidv7, window: 24h, max_skew: 5m}   # or ids: ulid, opaque; or off, but not with
                                  # arrival, which alone takes ids: monotonic, numbers that grow
    # retention: off              # as in 90d: an aggregate is forgotten when nothing of it was handled for so long, by
                                  # the records' time; an older event that comes then is rejected (too_old)
    # record_times: checked       # a record time far ahead of its neighbours' has to be borne out by others;
                                  # trusted: of a topic whose brokers set the times
    reducer:
      kind: replace               # replace: the payload becomes the snapshot
                                  # merge_patch: it is merged into it (RFC 7396); not with order: latest
                                  # flaky: as replace, but fails on purpose, to try that out:
                                  #   fail: {type: paid, how: retry, times: 2}   retry | give_up | stop | throw
                                  # own: a class of the program that embeds Ratchet, which alone runs it:
                                  #   name: payment_state, version: 1, as its reducer_traits say
      from: /payment              # the part of the value that is the payload; without it the whole value
      # timeout: off              # a call that takes longer, as 5s, counts as failed
    # emit: [{types: [paid], topic: cashback, key: aggregate, payload: /amount, as: payment-paid}]
                                  # messages that are published of the events that are applied, in the same write; of all
                                  # types, and the whole payload under the event's type, where nothing else is said;
                                  # key: aggregate, none, or a JSON Pointer into the payload
    # outputs: [cashback]         # topics that a reducer of your own may publish to; sinks as "sink:receipts"
    # tables: [{name: by-customer, key: text}]   # read models that a reducer of your own fills; key: text, bytes or
                                  # u64, for good; ratchet get and scan read them with --table
    # rejected: {records: 1000, age: 7d}   # how many rejected records are kept to look at, and for how long; age: off
    # types: [paid, refunded, payment.removed]   # the types of events that are the stream's; all others are ignored, whatever
                                  # they look like; ignore: [heartbeat] names those that are not; needs envelope.type
    # poison: 100                 # so many records in a row that cannot be decoded stop a partition; or off

# step: {records: 20000}          # the most records of one atomic write, over all streams
# sinks: [{name: receipts, http: {url: https://pay.example/receipts}}]
                                  # where messages go beside Kafka: emit: {sink: receipts}
# dead_letter: {topic: payments.dlq}       # gets a copy of each record that is rejected, or whose event is dead
# rejections: {topic: payments.rejections} # gets an answer to the sender of each rejected record, a CloudEvent;
                                  # both may stand under a stream, too, also as: off
# outbox: {bytes: 1GiB, message_bytes: 960KiB}   # nothing more is read while more bytes wait to be sent; an event with a
                                  # larger message is dead: no more than the topics take (max.message.bytes)
# http: {listen: 127.0.0.1:9187}  # answers /livez, /readyz and /metrics while it runs; without it nothing listens
# memory_limit: 1GiB              # indexes, caches, memtables and the prefetch queue together; 64MiB or more
)";

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
      return "; each event once, as it arrives";
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
        "of two events with the same sequence, the later one wins: key the topic by aggregate, so that its "
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
    out.emplace_back(
        "sequences are compared as text: \"10\" is below \"9\"" +
        std::string{stream.envelope.format == envelope_format::cloudevents
                        ? ", unless the event says sequencetype: Integer; for numbers set as: integer; an "
                          "aggregate whose events change from the one to the other is stale from then on"
                        : ""});
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
        "changes of PostgreSQL, MySQL, MariaDB, SQL Server and Oracle are ordered by the log, those of "
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
                " keeps its stored value; without one it is left out");
}

void add_limits_of_sequences(const stream_config& stream, std::vector<std::string>& out) {
  if (has_log_positions(stream.envelope.format)) {
    out.emplace_back(
        "of two changes of a row at one log position, the last one is kept: key the topic by row, so that "
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
  const std::string forgotten = "an aggregate of which nothing came for " +
                                format_duration(*stream.retention) + " of the records' time is forgotten: ";
  out.push_back(forgotten + (stream.order == order::arrival
                                 ? "an event of it that comes later is applied to an empty state"
                                 : "an event of it that comes later is its first, or too old"));
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
    out.push_back("an event covers the numbers from " +
                  (stream.envelope.previous.empty() ? stream.envelope.sequence_first
                                                    : "behind " + stream.envelope.previous) +
                  " to its sequence; one without that field has one number");
  }
  if (stream.first == first_number::any && says_where_it_begins) {
    out.emplace_back("the first event of an aggregate is applied at once, whatever its numbers");
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

}  // namespace

std::string_view config_template() noexcept {
  return k_template;
}

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
    text += "; forgets an aggregate of which nothing came for " + format_duration(*stream.retention);
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
  add_limits_of_retention(stream, limits);
  if (const std::string element = element_read(stream.envelope, stream.reducer.from); !element.empty()) {
    const std::string array = element.substr(0, element.rfind('/'));
    limits.push_back(
        "it reads " + element +
        " of an array: a record whose array has more elements is rejected (longer_array), because the "
        "others would be lost; each: " +
        (array.empty() ? "array" : array) + " takes all of them");
  }
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
