// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Each rule between the values of a config, for a file and for a program: both are refused with the same
// words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>

#include "ratchet/config.hpp"
#include "streams/stream_definition.hpp"

namespace ratchet {
namespace {

using kind_of = reducer_config::kind_of;

/// One fault, as lines of a stream and as a program makes it.
struct rule {
  const char* name;
  const char* lines;  ///< behind name, topics and start
  void (*make)(config&, stream_config&);
  const char* path;
  const char* message;
  const char* top{""};  ///< lines in front of `streams`
};

std::ostream& operator<<(std::ostream& out, const rule& r) {
  return out << r.name;
}

std::string yaml_of(const rule& r) {
  return std::string{"version: 1\nkafka: {brokers: [localhost:9092], group: g}\nstate: {path: /s}\n"} +
         r.top + "streams:\n  - name: payments\n    topics: [in]\n    start: earliest\n" + r.lines;
}

/// What the lines above and these say: {event_id: /id, aggregate: /a, sequence: /s}.
config config_of(const rule& r) {
  config c;
  stream_config& s = c.streams.emplace_back();
  s.name = "payments";
  s.topics = {"in"};
  s.start = start_position::earliest;
  s.envelope.event_id = "/id";
  s.envelope.aggregate = "/a";
  s.envelope.sequence = "/s";
  r.make(c, s);
  return c;
}

#define FIELDS "envelope: {event_id: /id, aggregate: /a, sequence: /s}\n"
#define ALL "    " FIELDS

constexpr rule k_orders[] = {
    {"latest_deferred", ALL "    handling: deferred\n",
     [](config&, stream_config& s) { s.handling = handling::deferred; }, "streams[0].handling",
     "deferred does not go with order: latest"},
    {"row_changes_deferred", "    envelope: {format: debezium-cdc}\n    handling: deferred\n",
     [](config&, stream_config& s) {
       s.envelope = {};
       s.envelope.format = envelope_format::debezium_cdc;
       s.dedup.ids = id_kind::none;
       s.handling = handling::deferred;
     },
     "streams[0].handling", "deferred does not go with order: latest"},
    {"latest_with_patches", ALL "    reducer: {kind: merge_patch}\n",
     [](config&, stream_config& s) { s.reducer.kind = kind_of::merge_patch; }, "streams[0].reducer.kind",
     "merge_patch does not go with order: latest"},
    {"a_key_that_an_outbox_unwraps",
     "    envelope: {format: debezium-outbox, key: json}\n    order: arrival\n",
     [](config&, stream_config& s) {
       s.envelope = {};
       s.envelope.format = envelope_format::debezium_outbox;
       s.envelope.key = key_kind::json;
       s.order = order::arrival;
     },
     "streams[0].envelope.key", "does not go with format: debezium-outbox"},
    {"a_key_that_no_field_is_taken_from",
     "    envelope: {event_id: /id, aggregate: /a, sequence: /s, key: uuid}\n",
     [](config&, stream_config& s) { s.envelope.key = key_kind::uuid; }, "streams[0].envelope.key",
     "does nothing: no field comes from the key"},
    {"latest_without_a_sequence", "    envelope: {event_id: /id, aggregate: /a}\n",
     [](config&, stream_config& s) { s.envelope.sequence.clear(); }, "streams[0].envelope.sequence",
     "is missing"},
    {"latest_without_an_id", "    envelope: {aggregate: /a, sequence: /s}\n",
     [](config&, stream_config& s) { s.envelope.event_id.clear(); }, "streams[0].envelope.event_id",
     "is missing"},
    {"strict_without_a_sequence", "    order: strict\n    envelope: {event_id: /id, aggregate: /a}\n",
     [](config&, stream_config& s) {
       s.order = order::strict;
       s.envelope.sequence.clear();
     },
     "streams[0].envelope.sequence", "is missing"},
    {"strict_without_an_id", "    order: strict\n    envelope: {aggregate: /a, sequence: /s}\n",
     [](config&, stream_config& s) {
       s.order = order::strict;
       s.envelope.event_id.clear();
     },
     "streams[0].envelope.event_id", "is missing"},
    {"arrival_without_ids", ALL "    order: arrival\n    dedup: off\n",
     [](config&, stream_config& s) {
       s.order = order::arrival;
       s.dedup.ids = id_kind::none;
     },
     "streams[0].dedup", "cannot be off with order: arrival"},
    {"arrival_without_an_id", "    order: arrival\n    envelope: {aggregate: /a}\n",
     [](config&, stream_config& s) {
       s.order = order::arrival;
       s.envelope.event_id.clear();
       s.envelope.sequence.clear();
     },
     "streams[0].envelope.event_id", "is missing"},
    {"no_aggregate", "    envelope: {event_id: /id, sequence: /s}\n",
     [](config&, stream_config& s) { s.envelope.aggregate.clear(); }, "streams[0].envelope.aggregate",
     "is missing"},
    {"monotonic_with_a_sequence", ALL "    dedup: {ids: monotonic}\n",
     [](config&, stream_config& s) { s.dedup.ids = id_kind::monotonic; }, "streams[0].dedup.ids",
     "monotonic goes with order: arrival alone"},
    {"strict_row_changes", "    order: strict\n    envelope: {format: ydb-changefeed}\n",
     [](config&, stream_config& s) {
       s.envelope = {};
       s.envelope.format = envelope_format::ydb_changefeed;
       s.dedup.ids = id_kind::none;
       s.order = order::strict;
     },
     "streams[0].order", "strict does not go with format: ydb-changefeed"},
    {"row_changes_by_arrival", "    order: arrival\n    envelope: {format: debezium-cdc}\n",
     [](config&, stream_config& s) {
       s.envelope = {};
       s.envelope.format = envelope_format::debezium_cdc;
       s.dedup.ids = id_kind::none;
       s.order = order::arrival;
     },
     "streams[0].order", "arrival does not go with format: debezium-cdc"},
    {"row_changes_with_ids", "    envelope: {format: debezium-cdc}\n    dedup: {ids: uuidv7}\n",
     [](config&, stream_config& s) {
       s.envelope = {};
       s.envelope.format = envelope_format::debezium_cdc;
     },
     "streams[0].dedup", "does not go with format: debezium-cdc"},
    {"row_changes_with_patches", "    envelope: {format: debezium-cdc}\n    reducer: {kind: merge_patch}\n",
     [](config&, stream_config& s) {
       s.envelope = {};
       s.envelope.format = envelope_format::debezium_cdc;
       s.dedup.ids = id_kind::none;
       s.reducer.kind = kind_of::merge_patch;
     },
     "streams[0].reducer.kind", "merge_patch does not go with order: latest"},
};

constexpr rule k_epochs[] = {
    {"accept_without_an_epoch", ALL "    order: strict\n    epoch_change: accept\n",
     [](config&, stream_config& s) {
       s.order = order::strict;
       s.epoch_change = epoch_change::accept;
     },
     "streams[0].epoch_change", "accept does nothing without an epoch"},
    {"accept_with_any_first",
     "    order: strict\n    envelope: {event_id: /id, aggregate: /a, sequence: /s, epoch: /e}\n"
     "    first: any\n    gap: {policy: skip}\n    epoch_change: accept\n",
     [](config&, stream_config& s) {
       s.order = order::strict;
       s.envelope.epoch = "/e";
       s.first = first_number::any;
       s.gap.policy = gap_policy::skip;
       s.epoch_change = epoch_change::accept;
     },
     "streams[0].epoch_change", "accept does nothing with first: any"},
    {"epoch_beside_128_bits",
     "    envelope: {event_id: /id, aggregate: /a, sequence: {from: /s, bits: 128}, epoch: /e}\n",
     [](config&, stream_config& s) {
       s.envelope.sequence_bits = 128;
       s.envelope.epoch = "/e";
     },
     "streams[0].envelope.epoch", "does not go with a sequence of 128 bits"},
    {"first_any_that_waits", ALL "    order: strict\n    first: any\n",
     [](config&, stream_config& s) {
       s.order = order::strict;
       s.first = first_number::any;
     },
     "streams[0].first", "any needs gap: {policy: skip}"},
};

constexpr rule k_values[] = {
    {"no_source_of_a_field", "    envelope: {event_id: /id, aggregate: /a, sequence: s}\n",
     [](config&, stream_config& s) { s.envelope.sequence = "s"; }, "streams[0].envelope.sequence",
     "is not a source of a field"},
    {"attribute_of_json", "    envelope: {event_id: /id, aggregate: \"attribute:a\", sequence: /s}\n",
     [](config&, stream_config& s) { s.envelope.aggregate = "attribute:a"; }, "streams[0].envelope.aggregate",
     "is not a source of a field"},
    {"pointer_of_cloudevents", "    envelope: {format: cloudevents, aggregate: /a}\n",
     [](config&, stream_config& s) {
       s.envelope = {};
       s.envelope.format = envelope_format::cloudevents;
       s.envelope.aggregate = "/a";
     },
     "streams[0].envelope.aggregate", "is not a source of a field"},
    {"reducer_from_no_pointer", ALL "    reducer: {kind: replace, from: v}\n",
     [](config&, stream_config& s) { s.reducer.from = "v"; }, "streams[0].reducer.from",
     "is not a JSON Pointer"},
    {"no_events_may_wait", ALL "    waiting: {events: 0}\n",
     [](config&, stream_config& s) { s.waiting.events = 0; }, "streams[0].waiting.events",
     "0 is out of range"},
    {"none_of_an_aggregate_may_wait", ALL "    waiting: {per_aggregate: 0}\n",
     [](config&, stream_config& s) { s.waiting.per_aggregate = 0; }, "streams[0].waiting.per_aggregate",
     "0 is out of range"},
    {"no_bytes_may_wait", ALL "    waiting: {bytes: 0B}\n",
     [](config&, stream_config& s) { s.waiting.bytes = 0; }, "streams[0].waiting.bytes", "is 0"},
    {"no_attempt", ALL "    retry: {attempts: 0}\n", [](config&, stream_config& s) { s.retry.attempts = 0; },
     "streams[0].retry.attempts", "0 is out of range"},
    {"no_records_in_a_step", ALL, [](config& c, stream_config&) { c.step_records = 0; }, "step.records",
     "0 is out of range", "step: {records: 0}\n"},
    {"no_rejected_records", ALL "    rejected: {records: 0}\n",
     [](config&, stream_config& s) { s.rejected.records = 0; }, "streams[0].rejected.records",
     "0 is out of range"},
    {"too_many_rejected_records", ALL "    rejected: {records: 100001}\n",
     [](config&, stream_config& s) { s.rejected.records = 100'001; }, "streams[0].rejected.records",
     "100001 is out of range"},
};

constexpr rule k_reducers[] = {
    {"flaky_without_a_rule", ALL "    reducer: {kind: flaky}\n",
     [](config&, stream_config& s) { s.reducer.kind = kind_of::flaky; }, "streams[0].reducer.fail",
     "is missing"},
    {"rules_of_what_is_not_flaky", ALL "    reducer: {kind: replace, fail: [{how: stop}]}\n",
     [](config&, stream_config& s) {
       s.reducer.fail = {{{}, {}, failure_kind::stop, 0}};
     },
     "streams[0].reducer.fail", "belongs to kind: flaky"},
    {"rules_by_a_type_that_events_have_not",
     ALL "    reducer: {kind: flaky, fail: {type: paid, how: stop}}\n",
     [](config&, stream_config& s) {
       s.reducer.kind = kind_of::flaky;
       s.reducer.fail = {{"paid", {}, failure_kind::stop, 0}};
     },
     "streams[0].envelope.type", "is missing"},
    {"name_of_what_is_not_own", ALL "    reducer: {kind: replace, name: mine}\n",
     [](config&, stream_config& s) { s.reducer.name = "mine"; }, "streams[0].reducer.name",
     "belongs to kind: own"},
};

constexpr rule k_outputs[] = {
    {"output_to_own_topic", ALL "    outputs: [in]\n", [](config&, stream_config& s) { s.outputs = {"in"}; },
     "streams[0].outputs[0]", "in is a topic that the stream reads itself"},
    {"emit_to_own_topic", ALL "    emit: [{topic: in}]\n",
     [](config&, stream_config& s) { s.emit = {{.topic = "in"}}; }, "streams[0].emit[0].topic",
     "in is a topic that the stream reads itself"},
    {"emit_to_nowhere", ALL "    emit: [{as: a}]\n",
     [](config&, stream_config& s) { s.emit = {{.topic = "", .as = "a"}}; }, "streams[0].emit[0].topic",
     "is missing"},
    {"emit_by_no_key", ALL "    emit: [{topic: out, key: customer}]\n",
     [](config&, stream_config& s) { s.emit = {{.topic = "out", .key = "customer"}}; },
     "streams[0].emit[0].key", "is not a key"},
    {"emit_of_no_payload", ALL "    emit: [{topic: out, payload: v}]\n",
     [](config&, stream_config& s) { s.emit = {{.topic = "out", .payload = "v"}}; },
     "streams[0].emit[0].payload", "is not a JSON Pointer"},
    {"emit_by_a_type_that_events_have_not", ALL "    emit: [{topic: out, types: [paid]}]\n",
     [](config&, stream_config& s) { s.emit = {{.types = {"paid"}, .topic = "out"}}; },
     "streams[0].envelope.type", "is missing"},
    {"emit_of_transactions", ALL "  - {name: orders, order: arrival, emit: [{topic: out}]}\n",
     [](config& c, stream_config&) {
       stream_config orders;
       orders.name = "orders";
       orders.order = order::arrival;
       orders.dedup.ids = id_kind::opaque;
       orders.emit = {{.topic = "out"}};
       c.streams.push_back(orders);
     },
     "streams[1].emit", "does nothing in a stream without topics and envelope"},
    {"other_ids_of_transactions", ALL "  - {name: orders, order: arrival, dedup: {ids: ulid}}\n",
     [](config& c, stream_config&) {
       stream_config orders;
       orders.name = "orders";
       orders.order = order::arrival;
       orders.dedup.ids = id_kind::ulid;
       c.streams.push_back(orders);
     },
     "streams[1].dedup", "must be {ids: opaque} in a stream without topics and envelope"},
    {"dead_letters_that_come_back", ALL "    dead_letter: {topic: in}\n",
     [](config&, stream_config& s) { s.dead_letter = "in"; }, "streams[0].dead_letter.topic",
     "in is a topic that stream payments reads"},
    {"rejections_that_come_back", ALL "    rejections: {topic: in}\n",
     [](config&, stream_config& s) { s.rejections = "in"; }, "streams[0].rejections.topic",
     "in is a topic that stream payments reads"},
    {"unknown_sink", ALL "    outputs: [\"sink:recipts\"]\n",
     [](config& c, stream_config& s) {
       s.outputs = {"sink:recipts"};
       c.sinks = {{.name = "receipts", .kind = sink_config::kind_of::http, .http = {}}};
     },
     "streams[0].outputs[0]", "recipts is not among `sinks`",
     "sinks: [{name: receipts, http: {url: \"http://localhost\"}}]\n"},
    {"sink_that_throws_away", ALL "    outputs: [\"sink:old\"]\n",
     [](config& c, stream_config& s) {
       s.outputs = {"sink:old"};
       c.sinks = {{.name = "old", .kind = sink_config::kind_of::discard, .http = {}}};
     },
     "streams[0].outputs[0]", "old discards its messages", "sinks: [{name: old, discard: true}]\n"},
};

constexpr rule k_names[] = {
    {"two_streams_of_a_name", ALL "  - {name: payments, " FIELDS "    }\n",
     [](config& c, stream_config& s) {
       stream_config other = s;
       other.topics.clear();
       c.streams.push_back(other);
     },
     "streams[1].name", "payments is taken by streams[0].name"},
    {"a_topic_of_two_streams", ALL "  - {name: refunds, topics: [in], start: latest, " FIELDS "    }\n",
     [](config& c, stream_config& s) {
       stream_config other = s;
       other.name = "refunds";
       c.streams.push_back(other);
     },
     "streams[1].topics[0]", "in is taken by streams[0].topics[0]"},
    {"two_tables_of_a_name", ALL "    tables: [{name: t, key: text}, {name: t, key: u64}]\n",
     [](config&, stream_config& s) {
       s.tables = {{"t", key_encoding::text}, {"t", key_encoding::u64}};
     },
     "streams[0].tables[1].name", "t is taken by streams[0].tables[0].name"},
    {"a_table_without_a_name", ALL "    tables: [{key: text}]\n",
     [](config&, stream_config& s) {
       s.tables = {{"", key_encoding::text}};
     },
     "streams[0].tables[0].name", "is missing"},
    {"two_sinks_of_a_name", ALL "    outputs: [\"sink:a\"]\n",
     [](config& c, stream_config& s) {
       s.outputs = {"sink:a"};
       c.sinks = {{.name = "a", .kind = sink_config::kind_of::http, .http = {}},
                  {.name = "a", .kind = sink_config::kind_of::http, .http = {}}};
     },
     "sinks[1]", "has the name of another one",
     "sinks: [{name: a, http: {url: \"http://x\"}}, {name: a, http: {url: \"http://y\"}}]\n"},
};

class config_rule : public ::testing::TestWithParam<rule> {};

TEST_P(config_rule, is_one_for_files_and_for_programs) {
  const rule& r = GetParam();
  const auto read = parse_config(yaml_of(r), "f.yaml");
  ASSERT_FALSE(read.has_value());
  ASSERT_EQ(read.error().diagnostics.size(), 1U) << to_text(read.error());
  const diagnostic& of_file = read.error().diagnostics.front();
  EXPECT_EQ(of_file.path, r.path);
  EXPECT_EQ(of_file.message, r.message);
  EXPECT_GT(of_file.line, 0);

  const auto made = make_streams(config_of(r), {});
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, errc::config_invalid);
  ASSERT_EQ(made.error().diagnostics.size(), 1U) << to_text(made.error());
  const diagnostic& of_program = made.error().diagnostics.front();
  EXPECT_EQ(of_program.path, of_file.path);
  EXPECT_EQ(of_program.message, of_file.message);
  EXPECT_EQ(of_program.hint, of_file.hint);
  EXPECT_EQ(of_program.line, 0) << "a program has none";
}

std::string name_of_case(const ::testing::TestParamInfo<rule>& info) {
  return info.param.name;
}
INSTANTIATE_TEST_SUITE_P(orders, config_rule, ::testing::ValuesIn(k_orders), name_of_case);
INSTANTIATE_TEST_SUITE_P(epochs, config_rule, ::testing::ValuesIn(k_epochs), name_of_case);
INSTANTIATE_TEST_SUITE_P(values, config_rule, ::testing::ValuesIn(k_values), name_of_case);
INSTANTIATE_TEST_SUITE_P(reducers, config_rule, ::testing::ValuesIn(k_reducers), name_of_case);
INSTANTIATE_TEST_SUITE_P(outputs, config_rule, ::testing::ValuesIn(k_outputs), name_of_case);
INSTANTIATE_TEST_SUITE_P(names, config_rule, ::testing::ValuesIn(k_names), name_of_case);

TEST(config_rules, say_all_at_once_to_a_program) {
  config c;
  for (const char* name : {"a", "b"}) {
    stream_config& s = c.streams.emplace_back();
    s.name = name;
    s.envelope.aggregate = "key";
    s.dedup.ids = id_kind::none;
  }
  const auto made = make_streams(c, {});
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().diagnostics.size(), 2U) << to_text(made.error());
  EXPECT_THAT(to_text(made.error()), ::testing::HasSubstr("the config has 2 errors"));
}

TEST(config_rules, name_a_topic_of_all_streams_once_where_it_was_written) {
  const auto read = parse_config(
      "version: 1\nkafka: {brokers: [b:9092], group: g}\nstate: {path: /s}\ndead_letter: {topic: "
      "in}\nstreams:\n"
      "  - {name: a, topics: [in], start: latest, dedup: off, envelope: {aggregate: /a, sequence: /s}}\n"
      "  - {name: b, dedup: off, envelope: {aggregate: /a, sequence: /s}}\n",
      "f.yaml");
  ASSERT_FALSE(read.has_value());
  ASSERT_EQ(read.error().diagnostics.size(), 1U) << to_text(read.error());
  EXPECT_EQ(read.error().diagnostics.front().path, "dead_letter.topic");
  EXPECT_EQ(read.error().diagnostics.front().line, 4);
}

std::size_t findings_in(const std::string& lines, const std::string& top = "") {
  const std::string text = "version: 1\nstate: {path: /s}\n" + top + "streams:\n  - name: payments\n" + lines;
  const auto read = parse_config(text, "f.yaml");
  return read ? 0 : read.error().diagnostics.size();
}

TEST(config_rules, say_nothing_of_what_was_judged_by_a_value_that_could_not_be_read) {
  EXPECT_EQ(findings_in(ALL "    order: stric\n    reducer: {kind: merge_patch}\n"), 1U);
  EXPECT_EQ(findings_in(ALL "    oder: strict\n    handling: deferred\n"), 1U);
  EXPECT_EQ(findings_in(ALL "    outputs: [\"sink:b\"]\n", "sinks: [{name: a}]\n"), 1U) << "of no kind";
  EXPECT_EQ(findings_in("    envelope: {format: json5, aggregate: key, sequence: /s, event_id: id}\n"), 1U);
  EXPECT_EQ(findings_in("    envelop: {aggregate: key}\n"), 1U);
}

TEST(config_rules, say_all_that_can_be_told_of_a_file) {
  EXPECT_EQ(findings_in(ALL "    reducer: {kind: replace, name: mine, version: 1}\n"), 2U);
  EXPECT_EQ(findings_in(ALL "    emit: {sink: a, topic: out}\n", "kafka: {brokers: [b:9092], group: g}\n"),
            2U);
}

TEST(config_rules, leave_alone_what_a_program_may_leave_out) {
  config c;
  stream_config& s = c.streams.emplace_back();
  s.name = "payments";
  s.topics = {"in"};  // no `start`: the beginning
  s.envelope.aggregate = "/a";
  s.envelope.sequence = "/s";
  s.envelope.sequence_bits = 128;  // no word on epochs: they are parked
  s.order = order::strict;
  s.dedup.ids = id_kind::none;
  s.waiting.events = 5;       // below what an aggregate may have by default
  s.dead_letter = "letters";  // no brokers: `ratchet apply`, or a test
  stream_config& transactions = c.streams.emplace_back();
  transactions.name = "orders";
  transactions.order = order::arrival;
  transactions.dedup.ids = id_kind::opaque;
  transactions.dead_letter = "letters";
  const auto made = make_streams(c, {});
  EXPECT_TRUE(made.has_value()) << to_text(made.error());
}

}  // namespace
}  // namespace ratchet
