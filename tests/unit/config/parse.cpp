// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What a valid config means, and what a document may be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "config/text.hpp"
#include "ratchet/config.hpp"
#include "support/temporary_directory.hpp"
#include "unit/config/example.hpp"

namespace ratchet {

namespace {

using config_support::errors_of;
using config_support::k_example;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

config must_parse(const std::string& text) {
  const auto parsed = parse_config(text, "f.yaml");
  return parsed ? parsed.value() : throw std::runtime_error{to_text(parsed.error())};
}

TEST(config, reads_the_example_of_the_reference) {
  const auto parsed = parse_config(k_example, "f.yaml");
  ASSERT_TRUE(parsed.has_value()) << to_text(parsed.error());
  const config& c = parsed.value();
  EXPECT_EQ(c.file, "f.yaml");
  EXPECT_THAT(c.kafka.brokers, ElementsAre("localhost:9092"));
  EXPECT_EQ(c.kafka.group, "payments-read-model");
  EXPECT_THAT(c.kafka.properties, ElementsAre(Pair("session.timeout.ms", "45000")));
  EXPECT_EQ(c.state.path, "/var/lib/ratchet");
  EXPECT_EQ(c.state.commit_interval, std::chrono::milliseconds{100});
  EXPECT_EQ(c.state.sync, sync_mode::interval);
  EXPECT_EQ(c.memory_limit, 1073741824U);
  EXPECT_EQ(c.step_records, 5000U);
  ASSERT_EQ(c.streams.size(), 1U);
  const stream_config& s = c.streams[0];
  EXPECT_EQ(s.name, "payments");
  EXPECT_THAT(s.topics, ElementsAre("payment-status"));
  EXPECT_EQ(s.start, start_position::earliest);
  EXPECT_EQ(s.envelope.event_id, "/id");
  EXPECT_EQ(s.envelope.aggregate, "/payment/id");
  EXPECT_EQ(s.envelope.sequence, "/sequence");
  EXPECT_EQ(s.envelope.sequence_bits, 64);
  EXPECT_EQ(s.envelope.sequence_base, 10);
  EXPECT_EQ(s.envelope.type, "/type");
  EXPECT_EQ(s.envelope.time, "/occurred_at");
  EXPECT_EQ(s.order, order::latest);
  EXPECT_EQ(s.dedup.ids, id_kind::uuidv7);
  EXPECT_EQ(s.dedup.window, std::chrono::hours{24});
  EXPECT_EQ(s.dedup.max_skew, std::chrono::minutes{5});
  EXPECT_EQ(s.reducer.kind, reducer_config::kind_of::replace);
  EXPECT_EQ(s.reducer.from, "/payment");
  EXPECT_EQ(s.poison, 100U);
}

TEST(config, reads_every_choice_that_is_not_the_default) {
  const auto parsed = parse_config(R"(version: 1
kafka: {brokers: ["[::1]:9092", b.example, "SSL://c:9"], group: "0123"}
state: {path: s, commit_interval: 1m, sync: every-step}
step: {records: 7}
memory_limit: 64MiB
dead_letter: {topic: d}
outbox: {bytes: 2MiB}
streams:
  - name: a.b
    rejections: {topic: r}
    topics: [no, "1"]
    start: latest
    envelope: {event_id: header:id, aggregate: key, epoch: /e, sequence: /s}
    dedup: {window: 7d, max_skew: 0s}
    poison: off
    step: {records: 7}
  - name: c
    envelope: {aggregate: /a, sequence: {from: header:seq, bits: 128, base: 16}}
    dedup: off
  - name: d
    dead_letter: off
    topics: []
    order: arrival
    envelope: {aggregate: /a, event_id: /i}
    reducer: {kind: merge_patch, from: ""}
    poison: 1
)",
                                   "f.yaml");
  ASSERT_TRUE(parsed.has_value()) << to_text(parsed.error());
  const config& c = parsed.value();
  EXPECT_THAT(c.kafka.brokers, ElementsAre("[::1]:9092", "b.example", "SSL://c:9"));
  EXPECT_EQ(c.kafka.group, "0123");
  EXPECT_EQ(c.state.commit_interval, std::chrono::minutes{1});
  EXPECT_EQ(c.state.sync, sync_mode::every_step);
  EXPECT_EQ(c.step_records, 7U);
  EXPECT_EQ(c.memory_limit, 64U << 20);
  ASSERT_EQ(c.streams.size(), 3U);
  EXPECT_THAT(c.streams[0].topics, ElementsAre("no", "1")) << "no is a name, not false";
  EXPECT_EQ(c.streams[0].start, start_position::latest);
  EXPECT_EQ(c.streams[0].envelope.event_id, "header:id");
  EXPECT_EQ(c.streams[0].envelope.epoch, "/e");
  EXPECT_EQ(c.streams[0].dedup.window, std::chrono::hours{7 * 24});
  EXPECT_EQ(c.streams[0].dedup.max_skew, std::chrono::milliseconds{0});
  EXPECT_EQ(c.streams[0].poison, 0U);
  EXPECT_EQ(c.streams[1].envelope.sequence, "header:seq");
  EXPECT_EQ(c.streams[1].envelope.sequence_bits, 128);
  EXPECT_EQ(c.streams[1].envelope.sequence_base, 16);
  EXPECT_EQ(c.streams[1].dedup.ids, id_kind::none);
  EXPECT_EQ(c.streams[2].order, order::arrival);
  EXPECT_EQ(c.streams[2].reducer.kind, reducer_config::kind_of::merge_patch);
  EXPECT_EQ(c.streams[2].poison, 1U);
  EXPECT_EQ(c.outbox.bytes, 2U << 20);
  EXPECT_EQ(c.streams[0].dead_letter, "d");
  EXPECT_EQ(c.streams[0].rejections, "r");
  EXPECT_EQ(c.streams[1].dead_letter, "d") << "for every stream";
  EXPECT_EQ(c.streams[1].rejections, "");
  EXPECT_EQ(c.streams[2].dead_letter, "") << "but for those that want none";
}

TEST(config, reads_a_reducer_that_a_program_brings) {
  const config c = must_parse(R"(version: 1
state: {path: s}
streams:
  - name: a
    envelope: {aggregate: /a, event_id: /i, sequence: /s}
    reducer: {kind: own, name: payment_state, version: 2, from: /p, timeout: 5s}
  - name: b
    envelope: {aggregate: /a, event_id: /i, sequence: /s}
    reducer: {kind: own, name: payment_state}
)");
  const reducer_config& a = c.streams[0].reducer;
  EXPECT_EQ(a.kind, reducer_config::kind_of::own);
  EXPECT_EQ(a.name, "payment_state");
  EXPECT_EQ(a.version, 2U);
  EXPECT_EQ(a.from, "/p");
  EXPECT_EQ(a.timeout, std::chrono::seconds{5});
  EXPECT_EQ(c.streams[1].reducer.version, 1U);
  EXPECT_NE(describe(c.streams[0]).find("gives /p to the reducer payment_state, version 2, of a program"),
            std::string::npos)
      << describe(c.streams[0]);
}

TEST(config, reads_what_becomes_of_events_that_cannot_be_handled_yet) {
  const config c = must_parse(R"(version: 1
state: {path: s}
streams:
  - name: a
    order: strict
    first: any
    gap: {policy: skip, timeout: 90s}
    waiting: {per_aggregate: 7, events: 8, bytes: 9KiB}
    retry: {attempts: 3, backoff: 1s..2m}
    rejected: {records: 50, age: 12h}
    envelope: {aggregate: /a, event_id: /i, sequence: /s, type: /t}
    reducer: {kind: flaky, from: /p, timeout: 5s, fail: {type: paid, contains: EUR, how: give_up, times: 2}}
  - name: b
    order: strict
    first: 0
    epoch_change: accept
    gap: {policy: stop}
    retry: {attempts: 1, backoff: 1ms..1ms}
    rejected: {age: off}
    envelope: {aggregate: /a, event_id: /i, sequence: {from: /s, bits: 128}}
    reducer: {kind: flaky, timeout: off, fail: [{how: stop}, {contains: x, how: throw}, {how: retry}]}
  - name: c
    order: strict
    envelope: {aggregate: /a, event_id: /i, sequence: /s}
    reducer: {kind: merge_patch}
  - name: d
    waiting: {per_aggregate: 5, events: 5}
    envelope: {aggregate: /a, event_id: /i, sequence: /s}
  - name: e
    waiting: {events: 5}
    envelope: {aggregate: /a, event_id: /i, sequence: /s}
)");
  ASSERT_EQ(c.streams.size(), 5U);
  const stream_config& a = c.streams[0];
  EXPECT_EQ(a.order, order::strict);
  EXPECT_EQ(a.first, first_number::any);
  EXPECT_EQ(a.gap.policy, gap_policy::skip);
  EXPECT_EQ(a.gap.timeout, std::chrono::seconds{90});
  EXPECT_EQ(a.waiting.per_aggregate, 7U);
  EXPECT_EQ(a.waiting.events, 8U);
  EXPECT_EQ(a.waiting.bytes, 9216U);
  EXPECT_EQ(a.retry.attempts, 3U);
  EXPECT_EQ(a.retry.backoff, std::chrono::seconds{1});
  EXPECT_EQ(a.retry.most, std::chrono::minutes{2});
  EXPECT_EQ(a.rejected.records, 50U);
  EXPECT_EQ(a.rejected.age, std::chrono::hours{12});
  EXPECT_EQ(a.reducer.kind, reducer_config::kind_of::flaky);
  EXPECT_EQ(a.reducer.timeout, std::chrono::seconds{5});
  ASSERT_EQ(a.reducer.fail.size(), 1U);
  EXPECT_EQ(a.reducer.fail[0].type, "paid");
  EXPECT_EQ(a.reducer.fail[0].contains, "EUR");
  EXPECT_EQ(a.reducer.fail[0].how, failure_kind::give_up);
  EXPECT_EQ(a.reducer.fail[0].times, 2U);
  const stream_config& b = c.streams[1];
  EXPECT_EQ(b.first, first_number::zero);
  EXPECT_EQ(b.epoch_change, epoch_change::accept);
  EXPECT_EQ(b.gap.policy, gap_policy::stop);
  EXPECT_EQ(b.gap.timeout, std::chrono::hours{1});
  EXPECT_EQ(b.retry.attempts, 1U);
  EXPECT_EQ(b.rejected.records, 1000U);
  EXPECT_EQ(b.rejected.age, std::nullopt);
  EXPECT_EQ(b.retry.most, std::chrono::milliseconds{1});
  EXPECT_FALSE(b.reducer.timeout);
  ASSERT_EQ(b.reducer.fail.size(), 3U);
  EXPECT_EQ(b.reducer.fail[0].how, failure_kind::stop);
  EXPECT_EQ(b.reducer.fail[0].times, 0U) << "every attempt";
  EXPECT_EQ(b.reducer.fail[1].how, failure_kind::throws);
  EXPECT_EQ(b.reducer.fail[2].how, failure_kind::retry);
  EXPECT_EQ(c.streams[2].reducer.kind, reducer_config::kind_of::merge_patch);
  EXPECT_EQ(c.streams[3].waiting.per_aggregate, 5U) << "equal limits are both reached";
  EXPECT_EQ(c.streams[4].waiting.events, 5U) << "the default per aggregate is no mistake of the config's";
}

TEST(config, waits_and_tries_again_by_default_as_it_is_written_out) {
  const auto text = [](const char* keys) {
    return std::string{
               "version: 1\nstate: {path: s}\nstreams:\n- {name: a, order: strict, envelope: {aggregate: /a, "
               "event_id: /i, sequence: /s}"} +
           keys + "}\n";
  };
  const stream_config silent = must_parse(text("")).streams[0];
  const stream_config said =
      must_parse(text(", first: 1, epoch_change: park, gap: {policy: wait}, waiting: {per_aggregate: 10000, "
                      "events: 1000000, bytes: 4GiB}, retry: {attempts: 8, backoff: 200ms..5m}, rejected: "
                      "{records: 1000, age: 7d}"))
          .streams[0];
  EXPECT_EQ(silent.first, said.first);
  EXPECT_EQ(silent.epoch_change, said.epoch_change);
  EXPECT_EQ(silent.gap.policy, said.gap.policy);
  EXPECT_EQ(silent.waiting.per_aggregate, said.waiting.per_aggregate);
  EXPECT_EQ(silent.waiting.events, said.waiting.events);
  EXPECT_EQ(silent.waiting.bytes, said.waiting.bytes);
  EXPECT_EQ(silent.retry.attempts, said.retry.attempts);
  EXPECT_EQ(silent.retry.backoff, said.retry.backoff);
  EXPECT_EQ(silent.retry.most, said.retry.most);
  EXPECT_EQ(silent.rejected.records, said.rejected.records);
  EXPECT_EQ(silent.rejected.age, said.rejected.age);
}

TEST(config, reads_where_to_listen_for_http) {
  EXPECT_FALSE(must_parse(k_example).http) << "off where it is not named";
  struct {
    const char* text;
    const char* host;
    int port;
    const char* again;
    bool loopback;
  } const all[] = {
      {"127.0.0.1:9187", "127.0.0.1", 9187, "127.0.0.1:9187", true},
      {"localhost:0", "127.0.0.1", 0, "127.0.0.1:0", true},
      {"\"[::1]:9187\"", "::1", 9187, "[::1]:9187", true},
      {"0.0.0.0:80", "0.0.0.0", 80, "0.0.0.0:80", false},
      {"'[::]:65535'", "::", 65535, "[::]:65535", false},
  };
  for (const auto& want : all) {
    const config c = must_parse(std::string{k_example} + "http: {listen: " + want.text + "}\n");
    ASSERT_TRUE(c.http) << want.text;
    EXPECT_EQ(c.http->host, want.host);
    EXPECT_EQ(c.http->port, want.port);
    EXPECT_EQ(to_text(*c.http), want.again);
    ASSERT_EQ(c.warnings.empty(), want.loopback) << "whoever can reach it may ask: that is said";
    if (!want.loopback) {
      EXPECT_EQ(c.warnings.front().path, "http.listen");
    }
  }
}

TEST(config, takes_scalars_as_they_are_written) {
  std::string text = k_example;
  text.replace(text.find("session.timeout.ms: 45000"), 25,
               "client.id: 0123, client.rack: no, sasl.username: 1e3, "
               "sasl.kerberos.principal: 'x: y'");
  const auto parsed = parse_config(text, "f.yaml");
  ASSERT_TRUE(parsed.has_value()) << to_text(parsed.error());
  EXPECT_THAT(parsed.value().kafka.properties,
              ElementsAre(Pair("client.id", "0123"), Pair("client.rack", "no"),
                          Pair("sasl.kerberos.principal", "x: y"), Pair("sasl.username", "1e3")));
}

TEST(config, needs_no_kafka_section_where_no_stream_has_topics) {
  const auto parsed = parse_config(
      "version: 1\nstate: {path: s}\nstreams:\n- {name: a, dedup: off, envelope: {aggregate: /a, sequence: "
      "/s}}\n",
      "f.yaml");
  ASSERT_TRUE(parsed.has_value()) << to_text(parsed.error());
  EXPECT_TRUE(parsed.value().kafka.brokers.empty());
}

TEST(config, finds_every_error_at_once_in_the_order_of_the_file) {
  EXPECT_EQ(errors_of(R"(versoin: 1
kafka: {brokers: [], group: g}
state: {path: s, commit_interval: 5}
streams:
  - name: a
    topics: [t]
    envelope: {aggregate: nope}
    order: strickt
http: {}
)"),
            R"(ratchet: f.yaml has 7 errors
  f.yaml:1:1: versoin: is not a known key; did you mean "version"?
  f.yaml:2:18: kafka.brokers: names no broker; as in brokers: [localhost:9092]
  f.yaml:3:35: state.commit_interval: "5" is not a duration; a whole number and ms, s, m, h or d, as in 100ms or 24h
  f.yaml:5:5: streams[0].start: is missing; set where a partition without a stored offset begins: earliest or latest
  f.yaml:7:27: streams[0].envelope.aggregate: is not a source of a field; a field comes from /a/pointer, key or header:NAME
  f.yaml:8:12: streams[0].order: "strickt" is not allowed here; did you mean "strict"?
  f.yaml:9:7: http.listen: is missing; as in http: {listen: 127.0.0.1:9187}
)");
}

TEST(config, does_not_call_a_misspelt_key_missing_as_well) {
  const std::string errors = errors_of("version: 1\nstate: {pth: s}\nstreams: [{name: a, envelop: {}}]\n");
  EXPECT_THAT(errors, HasSubstr("did you mean \"path\"?"));
  EXPECT_THAT(errors, HasSubstr("did you mean \"envelope\"?"));
  EXPECT_THAT(errors, Not(HasSubstr("missing")));
}

TEST(config, does_not_judge_what_is_inside_a_value_of_the_wrong_type) {
  const std::string errors =
      errors_of("version: 1\nstate: {path: s}\nstreams: [{name: a, envelope: [x], dedup: 5}]\n");
  EXPECT_THAT(errors, HasSubstr("f.yaml has 2 errors"));
  EXPECT_THAT(errors, HasSubstr("streams[0].envelope: is a list"));
  EXPECT_THAT(errors, HasSubstr("streams[0].dedup: is text"));
}

TEST(config_document, is_refused_where_it_is_empty) {
  for (const char* text : {"", "# nothing\n", "---\n", "~"}) {
    EXPECT_THAT(errors_of(text), HasSubstr("there is no config in it; ratchet init prints one")) << text;
  }
}

TEST(config_document, is_refused_where_it_is_no_map) {
  EXPECT_THAT(errors_of("hello"), HasSubstr("f.yaml:1:1: is text; it must be a map"));
  EXPECT_THAT(errors_of("- a\n"), HasSubstr("f.yaml:1:1: is a list; it must be a map"));
}

TEST(config_document, names_the_place_of_a_syntax_error_and_no_more) {
  const std::string errors = errors_of("version: 1\nstate: {path: [}\nbanana: 1\n");
  EXPECT_THAT(errors, HasSubstr("f.yaml has an error"));
  EXPECT_THAT(errors, HasSubstr("f.yaml:2:16: not YAML: "));
}

TEST(config_document, indented_with_tabs_says_so) {
  EXPECT_THAT(errors_of("version: 1\nstate:\n\tpath: x\n"),
              HasSubstr("; line 3 is indented with a tab: YAML needs spaces"));
  EXPECT_THAT(errors_of("version: 1\nstate: {path: [}\n"), Not(HasSubstr("tab")));
}

TEST(config_document, that_is_no_text_is_told_by_its_first_such_byte) {
  EXPECT_THAT(errors_of(std::string{"version: 1\na\0b: 1\n", 18}),
              HasSubstr("f.yaml:2:2: not YAML: the byte 0x00 is not text; a config is text in UTF-8"));
  EXPECT_THAT(errors_of("\x7f"
                        "ELF\x02"),
              HasSubstr("f.yaml:1:1: not YAML: the byte 0x7F is not text"));
  EXPECT_THAT(errors_of("version: \xff\xfe"), HasSubstr("f.yaml:1:10: not YAML: the byte 0xFF is not text"));
  EXPECT_THAT(errors_of("version: 1\n\xc3\xa4: 1\n"), HasSubstr("\xc3\xa4: is not a known key"));
}

TEST(config_document, may_not_use_anchors_aliases_tags_or_a_second_document) {
  EXPECT_THAT(errors_of("version: &v 1\n"), HasSubstr("f.yaml:1:10: an anchor (&name) is not supported"));
  EXPECT_THAT(errors_of("version: &v 1\nstate: *v\n"), HasSubstr("f.yaml:2:8: an alias is not supported"));
  EXPECT_THAT(errors_of("version: !!str 1\n"), HasSubstr("f.yaml:1:10: a tag (tag:yaml.org,2002:str)"));
  EXPECT_THAT(errors_of("version: 1\n---\nversion: 1\n"),
              HasSubstr("f.yaml:2:1: a second YAML document begins here"));
}

TEST(config_document, may_be_nested_to_any_depth_without_harm) {
  EXPECT_THAT(errors_of("version: " + std::string(100'000, '[')), HasSubstr("not YAML"));
}

TEST(config_template, is_valid_and_holds_the_defaults) {
  const auto parsed = parse_config(std::string{config_template()}, "init");
  ASSERT_TRUE(parsed.has_value()) << to_text(parsed.error());
  EXPECT_EQ(parsed.value().streams.size(), 1U);
}

TEST(config_template, is_valid_too_with_its_comments_taken_in) {
  std::string text;
  std::istringstream lines{std::string{config_template()}};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t hash = line.find("# ");
    // A commented key, not a sentence: one word and a colon.
    if (hash != std::string::npos && line.find_first_not_of(' ') == hash) {
      const std::string rest = line.substr(hash + 2);
      const std::size_t colon = rest.find(": ");
      if (colon == std::string::npos || rest.find(' ') < colon || hash > 6) continue;
      line = line.substr(0, hash) + rest;
    }
    text += line + "\n";
  }
  for (const char* key :
       {"\nmemory_limit: 1GiB", "\nstep: {", "  poison: 100", "  dedup: {", "  epoch: /epoch",
        "  order: latest", "  waiting: {", "  retry: {", "  rejected: {", "  timeout: off",
        "  sync: interval", "  commit_interval: 100ms", "  format: json"}) {
    ASSERT_THAT(text, HasSubstr(key)) << "the comments were not taken in";
  }
  const auto with = parse_config(text, "init");
  ASSERT_TRUE(with.has_value()) << to_text(with.error()) << text;
  const auto without = parse_config(std::string{config_template()}, "init");
  ASSERT_TRUE(without.has_value());
  EXPECT_EQ(with.value().state.commit_interval, without.value().state.commit_interval);
  EXPECT_EQ(with.value().memory_limit, without.value().memory_limit);
  EXPECT_EQ(with.value().step_records, without.value().step_records);
  EXPECT_EQ(with.value().streams[0].poison, without.value().streams[0].poison);
  EXPECT_EQ(with.value().streams[0].dedup.window, without.value().streams[0].dedup.window);
  EXPECT_EQ(with.value().streams[0].dedup.max_skew, without.value().streams[0].dedup.max_skew);
  EXPECT_EQ(with.value().streams[0].order, without.value().streams[0].order);
  EXPECT_EQ(with.value().streams[0].waiting.per_aggregate, without.value().streams[0].waiting.per_aggregate);
  EXPECT_EQ(with.value().streams[0].waiting.events, without.value().streams[0].waiting.events);
  EXPECT_EQ(with.value().streams[0].waiting.bytes, without.value().streams[0].waiting.bytes);
  EXPECT_EQ(with.value().streams[0].rejected.records, without.value().streams[0].rejected.records);
  EXPECT_EQ(with.value().streams[0].rejected.age, without.value().streams[0].rejected.age);
  EXPECT_EQ(with.value().streams[0].retry.attempts, without.value().streams[0].retry.attempts);
  EXPECT_EQ(with.value().streams[0].retry.backoff, without.value().streams[0].retry.backoff);
  EXPECT_EQ(with.value().streams[0].retry.most, without.value().streams[0].retry.most);
  EXPECT_EQ(with.value().streams[0].reducer.timeout, without.value().streams[0].reducer.timeout);
}

class config_file : public ::testing::Test {
 protected:
  support::temporary_directory files_;
  const std::filesystem::path& directory_{files_.path()};
};

TEST_F(config_file, is_loaded_and_remembered_by_its_name) {
  const auto file = directory_ / "r.yaml";
  std::ofstream{file} << k_example;
  const auto loaded = load_config(file);
  ASSERT_TRUE(loaded.has_value()) << to_text(loaded.error());
  EXPECT_EQ(loaded.value().file, file);
}

TEST_F(config_file, that_cannot_be_read_is_an_io_error_that_names_it) {
  for (const auto& file : {directory_ / "nope.yaml", directory_}) {
    const auto loaded = load_config(file);
    ASSERT_FALSE(loaded.has_value());
    EXPECT_EQ(loaded.error().code, errc::io);
    EXPECT_THAT(to_text(loaded.error()), HasSubstr(file.string()));
  }
}

TEST_F(config_file, that_is_missing_is_told_how_to_be_made) {
  EXPECT_THAT(to_text(load_config(directory_ / "nope.yaml").error()), HasSubstr("ratchet init"));
}

TEST(config_errors, are_the_first_hundred_of_a_file_that_is_no_config) {
  std::string text = "version: 1\n";
  for (int i = 0; i < 300; ++i) text += "k" + std::to_string(i) + ": 1\n";
  const auto read = parse_config(text, "f.yaml");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().diagnostics.size(), 100U);
  EXPECT_THAT(read.error().message, HasSubstr("f.yaml has more errors than are listed: 100 of them are"));
  std::string anchors = "version: 1\nstreams: [";
  for (int i = 0; i < 300; ++i) anchors += "&a x, ";
  EXPECT_EQ(parse_config(anchors + "x]\n", "f.yaml").error().diagnostics.size(), 100U);
}

TEST(config_errors, name_a_map_or_a_list_that_nobody_wrote) {
  std::string text = "version: 1\n";
  for (int i = 0; i < 1000; ++i) text += "k" + std::to_string(i) + ": 1\n";
  EXPECT_THAT(errors_of(text), HasSubstr("has 1001 keys; it takes 1000 at most"));
  std::string list = "version: 1\nstate: {path: s}\nstreams: [";
  for (int i = 0; i < 10'001; ++i) list += "x, ";
  EXPECT_THAT(errors_of(list + "]\n"), HasSubstr("streams: has 10001 items; it takes 10000 at most"));
}

}  // namespace

}  // namespace ratchet
