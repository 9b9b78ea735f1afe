// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Every way in which a config is refused, with the place and the advice that a person gets.
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "ratchet/config.hpp"

namespace ratchet {

namespace {

constexpr const char* k_base = R"(version: 1
kafka: {brokers: [localhost:9092], group: g}
state: {path: /var/lib/ratchet}
streams:
  - name: payments
    topics: [payment-status]
    start: earliest
    envelope: {event_id: /id, aggregate: /a, sequence: /s}
    order: latest
    dedup: {window: 24h}
    reducer: {kind: replace}
)";

/// One change to the config above, and the one finding that it brings.
struct refusal {
  const char* name;
  const char* from;  ///< what is replaced, its first occurrence
  const char* to;
  int line;
  int column;
  const char* path;
  const char* message;
  const char* hint;  ///< a part of the hint; empty: there is none
};

std::ostream& operator<<(std::ostream& out, const refusal& r) {
  return out << r.name;
}

std::string changed(const refusal& r) {
  std::string text = k_base;
  const std::size_t at = text.find(r.from);
  if (at == std::string::npos) return {};
  return text.replace(at, std::string{r.from}.size(), r.to);
}

class config_refusal : public ::testing::TestWithParam<refusal> {};

TEST_P(config_refusal, names_the_place_and_what_to_do) {
  const refusal& want = GetParam();
  const auto parsed = parse_config(changed(want), "f.yaml");
  ASSERT_FALSE(parsed.has_value());
  const problem& p = parsed.error();
  EXPECT_EQ(p.code, errc::config_invalid);
  ASSERT_EQ(p.diagnostics.size(), 1U) << to_text(p);
  const diagnostic& d = p.diagnostics.front();
  EXPECT_EQ(d.file, "f.yaml");
  EXPECT_EQ(d.line, want.line) << to_text(p);
  EXPECT_EQ(d.column, want.column) << to_text(p);
  EXPECT_EQ(d.path, want.path);
  EXPECT_EQ(d.message, want.message);
  EXPECT_NE(d.hint.find(want.hint), std::string::npos) << "hint: " << d.hint;
  EXPECT_EQ(d.hint.empty(), std::string{want.hint}.empty()) << "hint: " << d.hint;
}

constexpr refusal k_keys[] = {
    {"version_missing", "version: 1\n", "", 1, 1, "version", "is missing", "version: 1"},
    {"version_of_the_future", "version: 1", "version: 2", 1, 10, "version",
     "2 is not a version that this Ratchet reads", "it reads version: 1"},
    {"version_quoted", "version: 1", "version: \"1\"", 1, 10, "version", "\"1\" is not a plain whole number",
     "without quotes"},
    {"version_octal", "version: 1", "version: 01", 1, 10, "version", "\"01\" is not a plain whole number",
     "leading zeros"},
    {"top_key_misspelt", "state:", "stat:", 3, 1, "stat", "is not a known key", "did you mean \"state\"?"},
    {"top_key_unlike_any", "version: 1", "version: 1\nbanana: 1", 2, 1, "banana", "is not a known key",
     "known here: version, kafka, state, streams, step, memory_limit, dead_letter, rejections, outbox, "
     "sinks, "
     "http or replicate"},
    {"top_key_twice", "state:", "version: 1\nstate:", 3, 1, "version", "is set twice", "first on line 1"},
    {"merge_key", "version: 1", "version: 1\n<<: {}", 2, 1, "<<", "is not a known key",
     "write the values out"},
    {"nested_key_misspelt", "sequence:", "sequnce:", 8, 46, "streams[0].envelope.sequnce",
     "is not a known key", "did you mean \"sequence\"?"},
    {"nested_key_twice", "window: 24h", "window: 24h, window: 25h", 10, 26, "streams[0].dedup.window",
     "is set twice", "first on line 10"},
    {"no_space_behind_the_colon", "{path: /var/lib/ratchet}", "{path:/var/lib/ratchet}", 3, 9,
     "state.path:/var/lib/ratchet", "is not a known key", "YAML needs a space after the colon of \"path:\""},
    {"key_in_upper_case", "order:", "Order:", 9, 5, "streams[0].Order", "is not a known key",
     "did you mean \"order\"?"},
    {"key_that_is_a_list", "version: 1", "version: 1\n? [a]\n: b", 2, 3, "", "a key must be a word", ""},
};

constexpr refusal k_required[] = {
    {"state_missing", "state: {path: /var/lib/ratchet}\n", "", 1, 1, "state", "is missing", "state: {path:"},
    {"state_path_missing", "path: /var/lib/ratchet", "sync: interval", 3, 8, "state.path", "is missing",
     "/var/lib/ratchet"},
    {"state_path_empty", "/var/lib/ratchet", "''", 3, 15, "state.path", "is empty", "/var/lib/ratchet"},
    {"state_path_of_a_shell", "/var/lib/ratchet", "~/ratchet", 3, 15, "state.path",
     "begins with ~, which only a shell replaces", "/home/me/ratchet"},
    {"state_path_with_a_zero_byte", "/var/lib/ratchet", "\"/a\\0b\"", 3, 15, "state.path",
     "holds a zero byte, which no path does", "/var/lib/ratchet"},
    {"state_path_null", "{path: /var/lib/ratchet}", "{path: }", 3, 9, "state.path", "has no value",
     "it must be text"},
    {"kafka_missing", "kafka: {brokers: [localhost:9092], group: g}\n", "", 1, 1, "kafka", "is missing",
     "streams with topics need kafka"},
    {"brokers_missing", "brokers: [localhost:9092], ", "", 2, 8, "kafka.brokers", "is missing",
     "brokers: [localhost:9092]"},
    {"brokers_empty", "[localhost:9092]", "[]", 2, 18, "kafka.brokers", "names no broker",
     "brokers: [localhost:9092]"},
    {"group_missing", ", group: g", "", 2, 8, "kafka.group", "is missing", "consumer group"},
    {"stream_name_missing", "- name: payments\n    topics", "- topics", 5, 5, "streams[0].name", "is missing",
     "name the stream by it"},
    {"start_missing", "    start: earliest\n", "", 5, 5, "streams[0].start", "is missing",
     "earliest or latest"},
    {"envelope_missing", "    envelope: {event_id: /id, aggregate: /a, sequence: /s}\n", "", 5, 5,
     "streams[0].envelope", "is missing", "aggregate"},
    {"aggregate_missing", "aggregate: /a, ", "", 8, 15, "streams[0].envelope.aggregate", "is missing",
     "aggregate: /payment/id or key"},
    {"reducer_kind_missing", "{kind: replace}", "{from: /a}", 11, 14, "streams[0].reducer.kind", "is missing",
     "replace, merge_patch, flaky or own"},
};

constexpr refusal k_values[] = {
    {"broker_with_a_space", "localhost:9092", "\"localhost 9092\"", 2, 19, "kafka.brokers[0]",
     "is not a broker's address", "as in localhost:9092"},
    {"broker_of_another_protocol", "localhost:9092", "\"http://localhost:9092\"", 2, 19, "kafka.brokers[0]",
     "is not a broker's address", "as in localhost:9092"},
    {"broker_port_out_of_range", "localhost:9092", "localhost:90920", 2, 19, "kafka.brokers[0]",
     "is not a broker's address", "as in localhost:9092"},
    {"brokers_as_text", "[localhost:9092]", "localhost:9092", 2, 18, "kafka.brokers", "is text",
     "it must be a list of broker addresses"},
    {"group_empty", "group: g", "group: ''", 2, 43, "kafka.group", "has 0 characters", "1 to 249"},
    {"property_of_ours", "group: g", "group: g, properties: {enable.auto.commit: true}", 2, 79,
     "kafka.properties.enable.auto.commit", "cannot be set here", "Ratchet commits by itself"},
    {"property_that_is_a_map", "group: g", "group: g, properties: {client.id: {c: 1}}", 2, 70,
     "kafka.properties.client.id", "is a map that does not name exactly one source of its value",
     "{file: PATH}"},
    {"property_twice", "group: g", "group: g, properties: {client.id: 1, client.id: 2}", 2, 73,
     "kafka.properties.client.id", "is set twice", "first on line 2"},
    {"property_misspelt", "group: g", "group: g, properties: {sesion.timeout.ms: 1}", 2, 59,
     "kafka.properties.sesion.timeout.ms", "is not a property of librdkafka",
     "did you mean \"session.timeout.ms\"?"},
    {"property_cut_short", "group: g", "group: g, properties: {enable: 1}", 2, 59, "kafka.properties.enable",
     "is not a property of librdkafka", "there is enable."},
    {"property_that_no_library_knows", "group: g", "group: g, properties: {zzzzzzzz: 1}", 2, 59,
     "kafka.properties.zzzzzzzz", "is not a property of librdkafka", "CONFIGURATION.md"},
    {"property_out_of_range", "group: g", "group: g, properties: {session.timeout.ms: 99999999}", 2, 79,
     "kafka.properties.session.timeout.ms",
     "Configuration property \"session.timeout.ms\" value 99999999 is outside allowed range 1..3600000",
     "CONFIGURATION.md"},
    {"property_with_a_unit", "group: g", "group: g, properties: {session.timeout.ms: 45s}", 2, 79,
     "kafka.properties.session.timeout.ms", "\"45s\" is not a whole number", "CONFIGURATION.md"},
    {"property_of_another_word", "group: g", "group: g, properties: {security.protocol: tls}", 2, 78,
     "kafka.properties.security.protocol",
     "Invalid value \"tls\" for configuration property \"security.protocol\"", "CONFIGURATION.md"},
    {"file_of_a_property_that_is_not_there", "group: g",
     "group: g, properties: {ssl.ca.location: /nowhere/ca.pem}", 2, 76, "kafka.properties.ssl.ca.location",
     "cannot read /nowhere/ca.pem: No such file or directory", "this user can read"},
    {"connect_timeout_too_short", "group: g", "group: g, connect_timeout: 10ms", 2, 63,
     "kafka.connect_timeout", "10ms is out of range", "1s to 1h"},
    {"kafka_as_a_list", "{brokers: [localhost:9092], group: g}", "[x]", 2, 8, "kafka", "is a list",
     "it must be a map of keys and values"},
    {"commit_interval_without_a_unit", "path: /var/lib/ratchet", "path: /a, commit_interval: 100", 3, 36,
     "state.commit_interval", "\"100\" is not a duration", "as in 100ms or 24h"},
    {"commit_interval_too_long", "path: /var/lib/ratchet", "path: /a, commit_interval: 61s", 3, 36,
     "state.commit_interval", "61s is out of range", "1ms to 1m"},
    {"commit_interval_zero", "path: /var/lib/ratchet", "path: /a, commit_interval: 0ms", 3, 36,
     "state.commit_interval", "0ms is out of range", "1ms to 1m"},
    {"sync_unknown", "path: /var/lib/ratchet", "path: /a, sync: always", 3, 25, "state.sync",
     "\"always\" is not allowed here", "it is interval or every-step"},
    {"sync_misspelt", "path: /var/lib/ratchet", "path: /a, sync: every_step", 3, 25, "state.sync",
     "\"every_step\" is not allowed here", "did you mean \"every-step\"?"},
    {"stream_name_with_a_space", "name: payments", "name: my payments", 5, 11, "streams[0].name",
     "is not a stream's name", "a-z A-Z 0-9"},
    {"topic_with_a_slash", "[payment-status]", "[a/b]", 6, 14, "streams[0].topics[0]",
     "is not a topic's name", "a-z A-Z 0-9"},
    {"topic_as_a_pattern", "[payment-status]", "[^pay.*]", 6, 14, "streams[0].topics[0]",
     "is not a topic's name", "a-z A-Z 0-9"},
    {"topics_as_text", "[payment-status]", "payment-status", 6, 13, "streams[0].topics", "is text",
     "it must be a list of topics"},
    {"start_unknown", "start: earliest", "start: beginning", 7, 12, "streams[0].start",
     "\"beginning\" is not allowed here", "it is earliest or latest"},
    {"start_misspelt", "start: earliest", "start: earlist", 7, 12, "streams[0].start",
     "\"earlist\" is not allowed here", "did you mean \"earliest\"?"},
    {"pointer_without_a_slash", "aggregate: /a", "aggregate: a", 8, 42, "streams[0].envelope.aggregate",
     "is not a source of a field", "/a/pointer, key or header:NAME"},
    {"pointer_with_a_lone_tilde", "aggregate: /a", "aggregate: /a~", 8, 42, "streams[0].envelope.aggregate",
     "is not a source of a field", "~0"},
    {"header_without_a_name", "aggregate: /a", "aggregate: \"header:\"", 8, 42,
     "streams[0].envelope.aggregate", "is not a source of a field", "header:NAME"},
    {"sequence_of_96_bits", "sequence: /s", "sequence: {from: /s, bits: 96}", 8, 73,
     "streams[0].envelope.sequence.bits", "96 is not allowed here", "64 or 128"},
    {"sequence_of_base_12", "sequence: /s", "sequence: {from: /s, base: 12}", 8, 73,
     "streams[0].envelope.sequence.base", "12 is not allowed here", "10 or 16"},
    {"time_map_without_from", "sequence: /s", "sequence: /s, time: {unit: s}", 8, 66,
     "streams[0].envelope.time.from", "is missing", "{from: /created, unit: s}"},
    {"unknown_time_unit", "sequence: /s", "sequence: /s, time: {from: /t, unit: min}", 8, 83,
     "streams[0].envelope.time.unit", "\"min\" is not allowed here", "us"},
    {"sequence_map_without_from", "sequence: /s", "sequence: {bits: 128}", 8, 56,
     "streams[0].envelope.sequence.from", "is missing", "{from: /seq, as: time}"},
    {"window_zero", "window: 24h", "window: 0h", 10, 21, "streams[0].dedup.window", "is 0", "dedup: off"},
    {"window_with_a_sign", "window: 24h", "window: -1h", 10, 21, "streams[0].dedup.window",
     "\"-1h\" is not a duration", "as in"},
    {"window_above_a_century", "window: 24h", "window: 36526d", 10, 21, "streams[0].dedup.window",
     "\"36526d\" is not a duration", "as in"},
    {"skew_as_a_list", "window: 24h", "max_skew: [1h]", 10, 23, "streams[0].dedup.max_skew", "is a list",
     "it must be a duration"},
    {"dedup_false", "dedup: {window: 24h}", "dedup: false", 10, 12, "streams[0].dedup", "is text",
     "it must be off, or a map"},
    {"dedup_empty", "dedup: {window: 24h}", "dedup:", 10, 5, "streams[0].dedup", "has no value",
     "it must be off, or a map"},
    {"ids_none", "window: 24h", "ids: none", 10, 18, "streams[0].dedup.ids", "none is written otherwise",
     "use dedup: off"},
    {"reducer_unknown", "kind: replace", "kind: repalce", 11, 21, "streams[0].reducer.kind",
     "\"repalce\" is not allowed here", "did you mean \"replace\"?"},
    {"reducer_custom", "kind: replace", "kind: custom", 11, 21, "streams[0].reducer.kind",
     "\"custom\" is not allowed here", "it is replace, merge_patch, flaky or own"},
    {"reducer_own_is_empty", "kind: replace", "kind: own, name: \"\"", 11, 32, "streams[0].reducer.name",
     "is empty", "reducer_traits"},
    {"reducer_own_is_ratchets", "kind: replace", "kind: own, name: merge_patch", 11, 32,
     "streams[0].reducer.name", "is a built-in reducer of Ratchet", "set kind: merge_patch"},
    {"reducer_own_version", "kind: replace", "kind: own, name: a, version: 2.0", 11, 44,
     "streams[0].reducer.version", "\"2.0\" is not a plain whole number", "digits without quotes"},
    {"reducer_from_a_header", "kind: replace", "kind: replace, from: header:x", 11, 36,
     "streams[0].reducer.from", "is not a JSON Pointer", "begins with /"},
    {"order_misspelt", "order: latest", "order: strickt", 9, 12, "streams[0].order",
     "\"strickt\" is not allowed here", "did you mean \"strict\"?"},
    {"first_two", "order: latest", "order: strict\n    first: 2", 10, 12, "streams[0].first",
     "\"2\" is not allowed here", "it is 0, 1 or any"},
    {"epoch_change_misspelt", "order: latest", "order: strict\n    epoch_change: acept", 10, 19,
     "streams[0].epoch_change", "\"acept\" is not allowed here", "did you mean \"accept\"?"},
    {"gap_as_a_word", "order: latest", "order: strict\n    gap: skip", 10, 10, "streams[0].gap", "is text",
     "it must be a map"},
    {"gap_policy_unknown", "order: latest", "order: strict\n    gap: {policy: ignore}", 10, 19,
     "streams[0].gap.policy", "\"ignore\" is not allowed here", "it is wait, skip or stop"},
    {"gap_timeout_zero", "order: latest", "order: strict\n    gap: {policy: skip, timeout: 0s}", 10, 34,
     "streams[0].gap.timeout", "is 0", "some time"},
    {"gap_timeout_without_a_unit", "order: latest", "order: strict\n    gap: {policy: stop, timeout: 5}", 10,
     34, "streams[0].gap.timeout", "\"5\" is not a duration", "as in 100ms or 24h"},
    {"waiting_misspelt", "order: latest", "waiting: {event: 1}", 9, 15, "streams[0].waiting.event",
     "is not a known key", "did you mean \"events\"?"},
    {"waiting_per_aggregate_zero", "order: latest", "waiting: {per_aggregate: 0}", 9, 30,
     "streams[0].waiting.per_aggregate", "0 is out of range", "1 at least"},
    {"waiting_events_zero", "order: latest", "waiting: {events: 0}", 9, 23, "streams[0].waiting.events",
     "0 is out of range", "1 at least"},
    {"waiting_bytes_zero", "order: latest", "waiting: {bytes: 0B}", 9, 22, "streams[0].waiting.bytes", "is 0",
     "4GiB"},
    {"waiting_bytes_in_decimal_units", "order: latest", "waiting: {bytes: 4GB}", 9, 22,
     "streams[0].waiting.bytes", "\"4GB\" is not a size", "GiB"},
    {"rejected_misspelt", "order: latest", "rejected: {record: 1}", 9, 16, "streams[0].rejected.record",
     "is not a known key", "did you mean \"records\"?"},
    {"rejected_records_zero", "order: latest", "rejected: {records: 0}", 9, 25, "streams[0].rejected.records",
     "0 is out of range", "from 1 to 100000"},
    {"rejected_records_too_many", "order: latest", "rejected: {records: 100001}", 9, 25,
     "streams[0].rejected.records", "100001 is out of range", "from 1 to 100000"},
    {"rejected_age_zero", "order: latest", "rejected: {age: 0s}", 9, 21, "streams[0].rejected.age", "is 0",
     "age: off"},
    {"rejected_age_without_a_unit", "order: latest", "rejected: {age: 7}", 9, 21, "streams[0].rejected.age",
     "\"7\" is not a duration", "as in 100ms or 24h"},
    {"retry_attempts_zero", "order: latest", "retry: {attempts: 0}", 9, 23, "streams[0].retry.attempts",
     "0 is out of range", "1 at least"},
    {"retry_backoff_of_one_duration", "order: latest", "retry: {backoff: 1s}", 9, 22,
     "streams[0].retry.backoff", "is not a range of durations", "write 1s..1s"},
    {"retry_backoff_of_no_durations", "order: latest", "retry: {backoff: fast}", 9, 22,
     "streams[0].retry.backoff", "is not a range of durations", "200ms..5m"},
    {"retry_backoff_half_a_range", "order: latest", "retry: {backoff: 1s..}", 9, 22,
     "streams[0].retry.backoff", "is not a range of durations", "200ms..5m"},
    {"retry_backoff_of_three", "order: latest", "retry: {backoff: 1s..2s..3s}", 9, 22,
     "streams[0].retry.backoff", "is not a range of durations", "200ms..5m"},
    {"retry_backoff_from_zero", "order: latest", "retry: {backoff: 0s..5m}", 9, 22,
     "streams[0].retry.backoff", "begins at 0", "1ms"},
    {"retry_backoff_the_wrong_way_round", "order: latest", "retry: {backoff: 5m..200ms}", 9, 22,
     "streams[0].retry.backoff", "ends below its beginning", "comes first"},
    {"retry_backoff_as_a_list", "order: latest", "retry: {backoff: [200ms, 5m]}", 9, 22,
     "streams[0].retry.backoff", "is a list", "it must be text"},
    {"reducer_timeout_zero", "kind: replace", "kind: replace, timeout: 0s", 11, 39,
     "streams[0].reducer.timeout", "is 0", "timeout: off"},
    {"reducer_timeout_in_words", "kind: replace", "kind: replace, timeout: never", 11, 39,
     "streams[0].reducer.timeout", "\"never\" is not a duration", "100ms"},
    {"fail_without_how", "kind: replace", "kind: flaky, fail: {contains: x}", 11, 34,
     "streams[0].reducer.fail.how", "is missing", "retry, give_up, stop or throw"},
    {"fail_how_unknown", "kind: replace", "kind: flaky, fail: [{how: retry}, {how: thorw}]", 11, 55,
     "streams[0].reducer.fail[1].how", "\"thorw\" is not allowed here", "did you mean \"throw\"?"},
    {"fail_times_zero", "kind: replace", "kind: flaky, fail: {how: retry, times: 0}", 11, 54,
     "streams[0].reducer.fail.times", "0 is out of range", "from 1 to 4294967295"},
    {"fail_of_an_empty_text", "kind: replace", "kind: flaky, fail: {contains: '', how: retry}", 11, 45,
     "streams[0].reducer.fail.contains", "is empty", "every event"},
    {"poison_zero", "order: latest", "poison: 0", 9, 13, "streams[0].poison", "0 is not a limit",
     "poison: off"},
    {"poison_in_words", "order: latest", "poison: many", 9, 13, "streams[0].poison",
     "\"many\" is not a plain whole number", "from 1 to"},
    {"step_zero", "order: latest", "step: {records: 0}", 9, 21, "streams[0].step.records",
     "0 is out of range", "1 at least"},
    {"step_without_records", "order: latest", "step: {}", 9, 11, "streams[0].step.records", "is missing",
     "step: {records: 20000}"},
    {"memory_below_64_mib", "version: 1", "version: 1\nmemory_limit: 63MiB", 2, 15, "memory_limit",
     "63MiB is out of range", "64MiB"},
    {"memory_in_decimal_units", "version: 1", "version: 1\nmemory_limit: 1GB", 2, 15, "memory_limit",
     "\"1GB\" is not a size", "512MiB or 1GiB"},
    {"memory_past_64_bits", "version: 1", "version: 1\nmemory_limit: 99999999999999999999B", 2, 15,
     "memory_limit", "\"99999999999999999999B\" is not a size", "1GiB"},
};

constexpr refusal k_not_built[] = {
    {"handling", "order: latest", "handling: x", 9, 15, "streams[0].handling", "\"x\" is not allowed here",
     "direct or deferred"},
    {"handling_of_latest", "order: latest", "handling: deferred", 9, 15, "streams[0].handling",
     "deferred does not go with order: latest", "arrival or strict"},
    {"retention", "order: latest", "retention: 24h", 9, 16, "streams[0].retention",
     "24h is shorter than event ids are remembered", "here 1445m"},
    {"retention_without_a_unit", "order: latest", "retention: 30", 9, 16, "streams[0].retention",
     "\"30\" is not a duration", "as in 100ms"},
    {"dead_letter_to_a_topic_that_is_read", "version: 1", "version: 1\ndead_letter: {topic: payment-status}",
     2, 22, "dead_letter.topic", "payment-status is a topic that stream payments reads", "would come back"},
    {"rejections_to_a_topic_that_is_read", "start: earliest",
     "start: earliest\n    rejections: {topic: payment-status}", 8, 25, "streams[0].rejections.topic",
     "payment-status is a topic that stream payments reads", "would come back"},
    {"dead_letter_without_a_topic", "version: 1", "version: 1\ndead_letter: {}", 2, 14, "dead_letter.topic",
     "is missing", "as in dead_letter: {topic:"},
    {"dead_letter_to_no_topics_name", "version: 1", "version: 1\ndead_letter: {topic: a b}", 2, 22,
     "dead_letter.topic", "is not a topic's name", "1 to 249"},
    {"outbox_of_next_to_nothing", "version: 1", "version: 1\noutbox: {bytes: 1KiB}", 2, 17, "outbox.bytes",
     "1KiB is out of range", "1MiB at least"},
    {"http_without_an_address", "version: 1", "version: 1\nhttp: {}", 2, 7, "http.listen", "is missing",
     "listen: 127.0.0.1:9187"},
    {"http_on_a_port_alone", "version: 1", "version: 1\nhttp: {listen: 9187}", 2, 16, "http.listen",
     "is not HOST:PORT with a numeric address", "127.0.0.1:9187"},
    {"http_on_no_host", "version: 1", "version: 1\nhttp: {listen: \":9187\"}", 2, 16, "http.listen",
     "is not HOST:PORT with a numeric address", "127.0.0.1:9187"},
    {"http_on_a_name", "version: 1", "version: 1\nhttp: {listen: metrics.example:9187}", 2, 16, "http.listen",
     "is not HOST:PORT with a numeric address", "127.0.0.1:9187"},
    {"http_on_a_port_too_high", "version: 1", "version: 1\nhttp: {listen: 127.0.0.1:65536}", 2, 16,
     "http.listen", "is not HOST:PORT with a numeric address", "127.0.0.1:9187"},
    {"http_on_no_port", "version: 1", "version: 1\nhttp: {listen: 127.0.0.1}", 2, 16, "http.listen",
     "is not HOST:PORT with a numeric address", "127.0.0.1:9187"},
    {"http_on_ipv6_without_brackets", "version: 1", "version: 1\nhttp: {listen: \"::1:9187\"}", 2, 16,
     "http.listen", "is not HOST:PORT with a numeric address", "127.0.0.1:9187"},
    {"http_on_ipv4_in_brackets", "version: 1", "version: 1\nhttp: {listen: \"[127.0.0.1]:1\"}", 2, 16,
     "http.listen", "is not HOST:PORT with a numeric address", "127.0.0.1:9187"},
    {"shard", "version: 1", "version: 1\nshard: {index: 0, of: 4}", 2, 1, "shard",
     "shard is not built yet in this version", "leave it out"},
};

constexpr refusal k_rules[] = {
    {"monotonic_with_a_sequence", "window: 24h", "ids: monotonic", 10, 18, "streams[0].dedup.ids",
     "monotonic goes with order: arrival alone", "dedup: off"},
    {"monotonic_with_a_window", "window: 24h", "ids: monotonic, window: 24h", 10, 37,
     "streams[0].dedup.window", "does not go with ids: monotonic", "leave it out"},
    {"latest_without_a_sequence", ", sequence: /s", "", 8, 15, "streams[0].envelope.sequence", "is missing",
     "order: arrival"},
    {"latest_without_an_id", "event_id: /id, ", "", 8, 15, "streams[0].envelope.event_id", "is missing",
     "dedup: off"},
    {"latest_with_merge_patch", "kind: replace", "kind: merge_patch", 11, 21, "streams[0].reducer.kind",
     "merge_patch does not go with order: latest", "order: strict or arrival"},
    {"strict_without_a_sequence", ", sequence: /s}\n    order: latest", "}\n    order: strict", 8, 15,
     "streams[0].envelope.sequence", "is missing", "order: arrival"},
    {"strict_without_an_id", "event_id: /id, aggregate: /a, sequence: /s}\n    order: latest",
     "aggregate: /a, sequence: /s}\n    order: strict", 8, 15, "streams[0].envelope.event_id", "is missing",
     "dedup: off"},
    {"strict_with_128_bits_and_no_word_on_epochs", "sequence: /s}\n    order: latest",
     "sequence: {from: /s, bits: 128}}\n    order: strict", 5, 5, "streams[0].epoch_change", "is missing",
     "the upper half of a 128-bit sequence is its epoch"},
    {"latest_with_first", "order: latest", "first: 1", 9, 12, "streams[0].first",
     "does nothing with order: latest", "order: strict"},
    {"arrival_with_epoch_change", "order: latest", "order: arrival\n    epoch_change: park", 10, 19,
     "streams[0].epoch_change", "does nothing with order: arrival", "order: strict"},
    {"latest_with_gap", "order: latest", "gap: {policy: wait}", 9, 10, "streams[0].gap",
     "does nothing with order: latest", "order: strict"},
    {"gap_timeout_that_is_waited_for_without_end", "order: latest",
     "order: strict\n    gap: {policy: wait, timeout: 1h}", 10, 34, "streams[0].gap.timeout",
     "does nothing with policy: wait", "skip or stop"},
    {"gap_timeout_without_a_policy", "order: latest", "order: strict\n    gap: {timeout: 1h}", 10, 20,
     "streams[0].gap.timeout", "does nothing with policy: wait", "skip or stop"},
    {"first_any_that_is_never_adopted", "order: latest", "order: strict\n    first: any", 10, 12,
     "streams[0].first", "any needs gap: {policy: skip}", "gap.timeout"},
    {"first_any_that_stops", "order: latest", "order: strict\n    first: any\n    gap: {policy: stop}", 10,
     12, "streams[0].first", "any needs gap: {policy: skip}", "gap.timeout"},
    {"epoch_change_of_no_epoch", "order: latest", "order: strict\n    epoch_change: accept", 10, 19,
     "streams[0].epoch_change", "accept does nothing without an epoch", "envelope.epoch"},
    {"epoch_change_to_any_number", "sequence: /s}\n    order: latest",
     "sequence: /s, epoch: /e}\n    order: strict\n    first: any\n    gap: {policy: skip}\n    "
     "epoch_change: "
     "accept",
     12, 19, "streams[0].epoch_change", "accept does nothing with first: any", "first number"},
    {"limit_above_the_limit_of_all", "order: latest", "waiting: {per_aggregate: 11, events: 10}", 9, 30,
     "streams[0].waiting.per_aggregate", "is never reached", "waiting.events"},
    {"flaky_without_rules", "kind: replace", "kind: flaky", 11, 14, "streams[0].reducer.fail", "is missing",
     "how: retry"},
    {"flaky_with_no_rule", "kind: replace", "kind: flaky, fail: []", 11, 34, "streams[0].reducer.fail",
     "names no rule", "how: retry"},
    {"fail_of_what_is_not_flaky", "kind: replace", "kind: replace, fail: {how: retry}", 11, 36,
     "streams[0].reducer.fail", "belongs to kind: flaky", "kind: flaky"},
    {"own_without_a_name", "kind: replace", "kind: own", 11, 14, "streams[0].reducer.name", "is missing",
     "reducer_traits"},
    {"name_of_what_is_not_own", "kind: replace", "kind: replace, name: a", 11, 36, "streams[0].reducer.name",
     "belongs to kind: own", "kind: own"},
    {"version_of_what_is_not_own", "kind: replace", "kind: replace, version: 2", 11, 39,
     "streams[0].reducer.version", "belongs to kind: own", "kind: own"},
    {"fail_by_a_type_that_events_have_not", "kind: replace", "kind: flaky, fail: {type: a, how: retry}", 8,
     15, "streams[0].envelope.type", "is missing", "reducer.fail"},
    {"arrival_without_an_id", "{event_id: /id, aggregate: /a, sequence: /s}\n    order: latest",
     "{aggregate: /a}\n    order: arrival", 8, 15, "streams[0].envelope.event_id", "is missing", "id only"},
    {"arrival_without_dedup", ", sequence: /s}\n    order: latest\n    dedup: {window: 24h}",
     "}\n    order: arrival\n    dedup: off", 10, 12, "streams[0].dedup", "cannot be off with order: arrival",
     "event id only"},
    {"epoch_with_128_bits", "sequence: /s", "epoch: /e, sequence: {from: /s, bits: 128}", 8, 53,
     "streams[0].envelope.epoch", "does not go with a sequence of 128 bits", "upper half"},
    {"topic_twice_in_a_stream", "[payment-status]", "[t, t]", 6, 17, "streams[0].topics[1]",
     "t is taken by streams[0].topics[0]", "a topic feeds one stream"},
    {"topic_in_two_streams", "reducer: {kind: replace}\n",
     "reducer: {kind: replace}\n  - {name: b, topics: [payment-status], start: latest, dedup: off,\n"
     "     envelope: {aggregate: key, sequence: /s}}\n",
     12, 24, "streams[1].topics[0]", "payment-status is taken by streams[0].topics[0]",
     "a topic feeds one stream"},
    {"stream_name_twice", "reducer: {kind: replace}\n",
     "reducer: {kind: replace}\n  - {name: payments, dedup: off, envelope: {aggregate: key, sequence: /s}}\n",
     12, 12, "streams[1].name", "payments is taken by streams[0].name", "a name of its own"},
    {"two_sizes_of_a_step", "reducer: {kind: replace}\n", "step: {records: 20}\nstep: {records: 10}\n", 11,
     21, "streams[0].step.records", "20 differs from step.records: 10", "at the top"},
};

std::string name_of_case(const ::testing::TestParamInfo<refusal>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(keys, config_refusal, ::testing::ValuesIn(k_keys), name_of_case);
INSTANTIATE_TEST_SUITE_P(required, config_refusal, ::testing::ValuesIn(k_required), name_of_case);
INSTANTIATE_TEST_SUITE_P(values, config_refusal, ::testing::ValuesIn(k_values), name_of_case);
INSTANTIATE_TEST_SUITE_P(not_built, config_refusal, ::testing::ValuesIn(k_not_built), name_of_case);
INSTANTIATE_TEST_SUITE_P(rules, config_refusal, ::testing::ValuesIn(k_rules), name_of_case);

}  // namespace

}  // namespace ratchet
