// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The key `sinks` of the config, and sinks where topics are named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <vector>

#include "ratchet/config.hpp"
#include "streams/stream_definition.hpp"
#include "support/temporary_directory.hpp"

namespace ratchet::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

reported<config> parsed(const std::string& sinks, const std::string& stream = "",
                        const config_overrides& overrides = {}, config_use use = config_use::everything) {
  return parse_config(R"(version: 1
kafka: {brokers: [localhost:9092], group: g}
state: {path: /var/lib/ratchet}
)" + sinks + R"(streams:
  - name: payments
    topics: [in]
    start: earliest
    envelope: {event_id: /id, aggregate: /a, sequence: /s, type: /t}
)" + stream,
                      "f.yaml", overrides, use);
}

TEST(config_of_sinks, warns_of_one_that_nothing_is_sent_to_by_name) {
  const std::string sinks =
      "sinks: [{name: used, callback: true}, {name: emitted, callback: true}, {name: old, discard: true}, "
      "{name: spare, http: {url: 'http://h/'}}]\n";
  const auto c = parsed(sinks, "    outputs: [\"sink:used\"]\n    emit: {sink: emitted}\n");
  ASSERT_TRUE(c.has_value()) << to_text(c.error());
  std::vector<std::string> said;
  for (const diagnostic& w : c.value().warnings) {
    if (w.message.find("no stream publishes") == 0) said.push_back(w.path + ": " + w.message);
  }
  EXPECT_THAT(said, ElementsAre("sinks[3]: no stream publishes to spare"));
}

constexpr const char* k_certificate = R"(-----BEGIN CERTIFICATE-----
MIIBbzCCARWgAwIBAgIUBFijoNFqy62tEWYCtyzwGTBp0kUwCgYIKoZIzj0EAwIw
DDEKMAgGA1UEAwwBdDAgFw0yNjExMjcxNDQwNTBaGA8yMTI2MTEwMzE0NDA1MFow
DDEKMAgGA1UEAwwBdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABHrGdqUx6HTZ
5M8fN3faZ+PH2OvWbTHHV7KfD9IltgJG18ur63/bTuX80wLD4/oxIPOXRmJGDx6L
JZ03PS9pShWjUzBRMB0GA1UdDgQWBBQBAk8W4kqlD6VLWoeYfgviCiO9/TAfBgNV
HSMEGDAWgBQBAk8W4kqlD6VLWoeYfgviCiO9/TAPBgNVHRMBAf8EBTADAQH/MAoG
CCqGSM49BAMCA0gAMEUCIQCNWU3nY8EX7JkJui7I+8LP0OUE5hI77nB+rSGQfrbM
PAIgCHnVGS3DOfnLRnQTTwisDbmxTwzB+cTqtfBqwz1mfKY=
-----END CERTIFICATE-----
)";

TEST(config_of_sinks, wants_certificates_where_a_file_of_them_is_named) {
  const support::temporary_directory files;
  const auto refusal_of = [](const std::filesystem::path& ca, config_use use) {
    const auto c =
        parsed("sinks: [{name: a, http: {url: 'https://h/', ca: " + ca.string() + "}}]\n", "", {}, use);
    return c ? std::string{} : to_text(c.error());
  };
  const std::filesystem::path good = files.path() / "good.pem";
  const std::filesystem::path empty = files.path() / "empty.pem";
  std::ofstream{good} << k_certificate;
  std::ofstream{empty} << "nothing\n";
  EXPECT_EQ(refusal_of(good, config_use::everything), "");
  for (const std::filesystem::path& bad :
       {empty, files.path(), files.path() / "none", std::filesystem::path{"/dev/null"}}) {
    EXPECT_THAT(refusal_of(bad, config_use::everything),
                HasSubstr("cannot read the certificates in " + bad.string() + ": "));
    EXPECT_EQ(refusal_of(bad, config_use::state_only), "") << "nothing is sent";
  }
}

TEST(config_of_sinks, is_read_whole) {
  const support::temporary_directory files;
  const std::filesystem::path ca = files.path() / "ca.pem";
  std::ofstream{ca} << k_certificate;
  ASSERT_EQ(::setenv("RATCHET_TEST_TOKEN", "Bearer 7", 1), 0);
  const auto c = parsed(R"(sinks:
  - name: receipts
    http:
      url: https://pay.example/receipts
      method: PUT
      timeout: 3s
      concurrency: 16
      headers: {Authorization: {env: RATCHET_TEST_TOKEN}, X-Tenant: five}
      ca: )" + ca.string() + R"(
    retry: {first: 100ms, most: 1m}
  - {name: audit, callback: true}
  - {name: old, discard: true}
)",
                        R"(    outputs: [topic, "sink:receipts"]
    emit: [{sink: audit, types: [paid]}, {topic: other}]
)");
  ASSERT_TRUE(c.has_value()) << to_text(c.error());
  ASSERT_EQ(c.value().sinks.size(), 3U);
  const sink_config& receipts = c.value().sinks[0];
  EXPECT_EQ(receipts.name, "receipts");
  EXPECT_EQ(receipts.kind, sink_config::kind_of::http);
  EXPECT_EQ(receipts.http.url, "https://pay.example/receipts");
  EXPECT_EQ(receipts.http.method, "PUT");
  EXPECT_EQ(receipts.http.timeout, milliseconds{3000});
  EXPECT_EQ(receipts.http.concurrency, 16U);
  EXPECT_THAT(receipts.http.headers,
              ElementsAre(std::pair{"Authorization", "Bearer 7"}, std::pair{"X-Tenant", "five"}));
  EXPECT_EQ(receipts.http.ca, ca);
  EXPECT_EQ(receipts.first_pause, milliseconds{100});
  EXPECT_EQ(receipts.most_pause, milliseconds{60'000});
  EXPECT_EQ(c.value().sinks[1].kind, sink_config::kind_of::callback);
  EXPECT_EQ(c.value().sinks[2].kind, sink_config::kind_of::discard);
  const stream_config& s = c.value().streams[0];
  EXPECT_THAT(topics_published_to(s), ElementsAre("topic", "sink:receipts", "sink:audit", "other"));
  const auto streams = make_streams(c.value(), {});
  ASSERT_TRUE(streams.has_value()) << to_text(streams.error());
  EXPECT_THAT(output_topics(streams.value()), ElementsAre("other", "topic"))
      << "no broker is asked for a sink";
}

TEST(config_of_sinks, has_defaults) {
  const auto c = parsed("sinks: [{name: a, http: {url: \"http://h/\"}}]\n");
  ASSERT_TRUE(c.has_value()) << to_text(c.error());
  const sink_config& a = c.value().sinks[0];
  EXPECT_EQ(a.http.method, "POST");
  EXPECT_EQ(a.http.timeout, milliseconds{10'000});
  EXPECT_EQ(a.http.concurrency, 8U);
  EXPECT_EQ(a.first_pause, milliseconds{500});
  EXPECT_EQ(a.most_pause, milliseconds{30'000});
}

struct refusal {
  const char* name;
  const char* sinks;
  const char* stream;
  const char* path;
  const char* says;
};
void PrintTo(const refusal& r, std::ostream* out) {
  *out << r.name;
}

class config_of_sinks_is_refused : public ::testing::TestWithParam<refusal> {};

TEST_P(config_of_sinks_is_refused, with_place_and_reason) {
  const refusal& r = GetParam();
  const auto c = parsed(r.sinks, r.stream);
  ASSERT_FALSE(c.has_value());
  ASSERT_FALSE(c.error().diagnostics.empty()) << to_text(c.error());
  EXPECT_EQ(c.error().diagnostics[0].path, r.path);
  EXPECT_THAT(to_text(c.error()), HasSubstr(r.says));
  EXPECT_EQ(c.error().diagnostics.size(), 1U) << to_text(c.error());
}

/// Beyond them Boost.Beast throws, or few servers answer.
TEST(config_of_sinks, bounds_what_goes_into_a_request_line_or_a_header) {
  const auto refusal_of = [](const std::string& http) {
    const auto c = parsed("sinks: [{name: a, http: {" + http + "}}]\n", "");
    return c ? std::string{} : to_text(c.error());
  };
  const std::string fits(64'000, 'x');
  EXPECT_EQ(refusal_of("url: \"http://h\", headers: {X-A: " + fits + "}"), "");
  const std::string too_long = "is longer than a header, which has at most 64000 bytes";
  EXPECT_THAT(refusal_of("url: \"http://h\", headers: {X-A: " + fits + "x}"), HasSubstr(too_long));
  EXPECT_EQ(refusal_of("url: \"http://h/" + std::string(7'991, 'x') + "\""), "");
  EXPECT_THAT(refusal_of("url: \"http://h/" + std::string(7'992, 'x') + "\""),
              HasSubstr("is not an HTTP URL"));
}

constexpr const char* k_audit = "sinks: [{name: audit, callback: true}]\n";

const refusal k_refusals[] = {
    {"no_kind", "sinks: [{name: a}]\n", "", "sinks[0]", "has no kind"},
    {"two_kinds", "sinks: [{name: a, callback: true, discard: true}]\n", "", "sinks[0]",
     "has more than one kind"},
    {"false_flag", "sinks: [{name: a, callback: false}]\n", "", "sinks[0].callback", "must be `true`"},
    {"no_name", "sinks: [{callback: true}]\n", "", "sinks[0].name", "is missing"},
    {"bad_name", "sinks: [{name: \"a:b\", callback: true}]\n", "", "sinks[0].name", "is not a sink's name"},
    {"reserved_name", "sinks: [{name: topics, callback: true}]\n", "", "sinks[0].name",
     "calls Kafka's topics"},
    {"twice", "sinks: [{name: a, callback: true}, {name: a, discard: true}]\n", "", "sinks[1]",
     "has the name of another"},
    {"no_url", "sinks: [{name: a, http: {}}]\n", "", "sinks[0].http.url", "is missing"},
    {"bad_url", "sinks: [{name: a, http: {url: \"https://u:p@h/\"}}]\n", "", "sinks[0].http.url",
     "is not an HTTP URL"},
    {"method", "sinks: [{name: a, http: {url: \"http://h\", method: GET}}]\n", "", "sinks[0].http.method",
     "POST"},
    {"timeout", "sinks: [{name: a, http: {url: \"http://h\", timeout: 1h}}]\n", "", "sinks[0].http.timeout",
     "out of range"},
    {"concurrency", "sinks: [{name: a, http: {url: \"http://h\", concurrency: 0}}]\n", "",
     "sinks[0].http.concurrency", "0"},
    {"own_header", "sinks: [{name: a, http: {url: \"http://h\", headers: {Idempotency-Key: x}}}]\n", "",
     "sinks[0].http.headers.Idempotency-Key", "Ratchet sets itself"},
    {"event_header", "sinks: [{name: a, http: {url: \"http://h\", headers: {CE-id: x}}}]\n", "",
     "sinks[0].http.headers.CE-id", "Ratchet sets itself"},
    {"two_lines", "sinks: [{name: a, http: {url: \"http://h\", headers: {X-A: \"a\\r\\nHost: b\"}}}]\n", "",
     "sinks[0].http.headers.X-A", "control character"},
    {"retry", "sinks: [{name: a, callback: true, retry: {first: 1m}}]\n", "", "sinks[0].retry",
     "begins above its `most`"},
    {"unknown_output", k_audit, "    outputs: [\"sink:audti\"]\n", "streams[0].outputs[0]",
     "did you mean \"audit\"?"},
    {"empty_output", k_audit, "    outputs: [\"sink:\"]\n", "streams[0].outputs[0]", "names no sink"},
    {"unknown_emit", k_audit, "    emit: {sink: other}\n", "streams[0].emit.sink", "is not among `sinks`"},
    {"emit_to_both", k_audit, "    emit: {sink: audit, topic: t}\n", "streams[0].emit.topic",
     "cannot be combined with `sink`"},
    {"emit_to_nothing", k_audit, "    emit: {key: none}\n", "streams[0].emit.topic", "is missing"},
    {"topic_that_is_a_sink", k_audit, "    emit: {topic: \"sink:audit\"}\n", "streams[0].emit.topic",
     "is not a topic's name"},
    {"letters_to_a_sink", k_audit, "    dead_letter: {topic: \"sink:audit\"}\n",
     "streams[0].dead_letter.topic", "is not a topic's name"},
    {"discarded", "sinks: [{name: a, discard: true}]\n", "    emit: {sink: a}\n", "streams[0].emit.sink",
     "discards its messages"},
};
INSTANTIATE_TEST_SUITE_P(all, config_of_sinks_is_refused, ::testing::ValuesIn(k_refusals),
                         [](const auto& of) { return std::string{of.param.name}; });

TEST(secrets_of_sinks, are_shown_by_no_finding) {
  ASSERT_EQ(::setenv("RATCHET_TEST_TOKEN", "hunter2\nX: y", 1), 0);
  const auto c = parsed(
      "sinks: [{name: a, http: {url: \"http://h\", headers: {Authorization: {env: RATCHET_TEST_TOKEN}}}}]\n");
  ASSERT_FALSE(c.has_value());
  EXPECT_EQ(to_text(c.error()).find("hunter2"), std::string::npos);
  EXPECT_THAT(to_text(c.error()), HasSubstr("control character"));
}

TEST(secrets_of_sinks, are_known_by_the_names_that_such_headers_have) {
  const auto given = [](const std::string& name) {
    const std::string sink = "sinks=[{name: a, http: {url: \"http://h\", headers: {" + name + ": x}}}]";
    return parsed("", "", {.set = {sink}, .kafka_properties = {}});
  };
  for (const char* name : {"Authorization", "X-Signature", "X-Hub-Signature-256", "X-Session", "X-JWT",
                           "X-Hmac", "X-Api-Key", "X-Passphrase", "X-Credentials", "Private-Thing"}) {
    const auto c = given(name);
    ASSERT_FALSE(c.has_value()) << name;
    EXPECT_THAT(to_text(c.error()), HasSubstr("every user of this machine can read a command line")) << name;
  }
  EXPECT_TRUE(given("X-Tenant").has_value());
  EXPECT_TRUE(given("X-Api-Version").has_value());
}

TEST(secrets_of_sinks, are_refused_on_a_command_line_and_not_read_where_none_is_needed) {
  const char* sinks =
      "sinks: [{name: a, http: {url: \"http://h\", headers: {Authorization: {env: NOT_SET_HERE}}}}]\n";
  EXPECT_FALSE(parsed(sinks).has_value());
  EXPECT_TRUE(parsed(sinks, "", {}, config_use::state_only).has_value());
}

}  // namespace
}  // namespace ratchet::testing
