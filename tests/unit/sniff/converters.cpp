// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What `ratchet sniff` finds behind what Kafka Connect's converters put around the records of an outbox, and
// in payloads that stand within an envelope.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "decode/decoder.hpp"
#include "unit/sniff/sniffed.hpp"

namespace ratchet::sniff {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string in_quotes(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  return out + '"';
}

std::string beside_schema(const std::string& json) {
  return R"({"schema":{"type":"string","optional":false},"payload":)" + json + "}";
}

/// Events of twelve payments that say what has changed, with versions. Every tenth comes a round late.
std::vector<sniffed_record> payments_of_an_outbox(
    const std::function<std::string(const std::string&)>& value,
    const std::function<std::string(const std::string&)>& name) {
  std::vector<sniffed_record> records;
  std::vector<sniffed_record> late;
  for (int i = 0; i < 120; ++i) {
    const int payment = i % 12;
    sniffed_record r = record_of(name("p-" + std::to_string(payment)),
                                 value(i % 3 == 0 ? R"({"status":"PAID"})" : R"({"note":"as you like"})"));
    r.headers = {{"id", name(uuid_of(i))},
                 {"eventType", name("Changed")},
                 {"version", name(std::to_string(i / 12 + 1))}};
    if (i % 10 == 0 && i < 100) {
      late.push_back(std::move(r));
      continue;
    }
    records.push_back(std::move(r));
    if (i % 10 == 4 && late.size() > 1) {
      records.push_back(late.front());
      late.erase(late.begin());
    }
  }
  records.insert(records.end(), late.begin(), late.end());
  return numbered(std::move(records));
}

std::string unchanged(const std::string& text) {
  return text;
}

/// As they are without converters. The size and the form of values are those of the topic.
std::string findings_in(const std::string& text) {
  const std::size_t fields = text.find("# Fields");
  EXPECT_NE(fields, std::string::npos) << text;
  return fields == std::string::npos ? std::string{} : text.substr(fields);
}

TEST(sniffed_converters, hide_nothing_of_an_outbox) {
  const std::string plain = report(payments_of_an_outbox(unchanged, unchanged));
  EXPECT_EQ(stream_in(plain).reducer.kind, reducer_config::kind_of::merge_patch) << plain;
  EXPECT_THAT(plain, Not(HasSubstr("JsonConverter")));
  EXPECT_THAT(plain, HasSubstr("  sequence    header:version ("));
  const auto text_in_string = [](const std::string& json) { return in_quotes(json); };
  const auto text_beside_schema = [](const std::string& json) { return beside_schema(in_quotes(json)); };
  const struct {
    const char* what;
    std::function<std::string(const std::string&)> value;
    std::function<std::string(const std::string&)> name;
  } cases[] = {
      {"values in a string", text_in_string, unchanged},
      {"values in a string beside a schema", text_beside_schema, unchanged},
      {"expanded values beside a schema", beside_schema, unchanged},
      {"all in quotes", text_in_string, in_quotes},
      {"all beside a schema", text_beside_schema, text_beside_schema},
  };
  for (const auto& c : cases) {
    const std::string text = report(payments_of_an_outbox(c.value, c.name));
    EXPECT_EQ(findings_in(text), findings_in(plain)) << c.what;
    EXPECT_THAT(text, HasSubstr("behind Kafka Connect's JsonConverter: 120;")) << c.what;
    EXPECT_THAT(text, Not(HasSubstr("encoded twice"))) << c.what;
  }
}

TEST(sniffed_converters, leave_pointers_that_the_config_can_use) {
  const std::string text = report(payments_of_an_outbox(beside_schema, unchanged));
  EXPECT_THAT(text, HasSubstr("#   /status "));
  EXPECT_THAT(text, Not(HasSubstr("/payload")));
  EXPECT_THAT(text, Not(HasSubstr("/schema")));
}

TEST(sniffed_converters, may_wrap_a_part_of_the_records) {
  int i = 0;
  const std::string text = report(payments_of_an_outbox(
      [&i](const std::string& json) { return ++i % 3 == 0 ? in_quotes(json) : json; }, unchanged));
  EXPECT_THAT(text, HasSubstr("behind Kafka Connect's JsonConverter: 40;"));
  EXPECT_THAT(text, HasSubstr("/note stands in 80 records and not in all: merge_patch"));
}

TEST(sniffed_payloads, within_an_envelope_may_be_parts_of_a_state) {
  const auto events = [](const std::string& around, const char* payload) {
    std::vector<sniffed_record> records;
    for (int i = 0; i < 120; ++i) {
      records.push_back(record_of("k-" + std::to_string(i % 7),
                                  R"({"id":")" + uuid_of(i) + R"(",)" + around + '"' + payload + R"(":{)" +
                                      (i % 3 == 0 ? R"("status":"PAID")" : R"("note":"n")") + "}}"));
    }
    return report(numbered(std::move(records)));
  };
  const std::string cloud =
      events(R"("specversion":"1.0","source":"/bank","type":"changed","subject":"a",)", "data");
  EXPECT_EQ(stream_in(cloud).envelope.format, envelope_format::cloudevents) << cloud;
  EXPECT_EQ(stream_in(cloud).reducer.kind, reducer_config::kind_of::merge_patch) << cloud;
  EXPECT_THAT(cloud, HasSubstr("/data/note stands in 80 records and not in all"));
  const std::string own = events(R"("type":"changed",)", "payload");
  EXPECT_EQ(stream_in(own).reducer.kind, reducer_config::kind_of::merge_patch) << own;
  EXPECT_THAT(own, HasSubstr("/payload/note stands in 80 records and not in all"));
}

}  // namespace
}  // namespace ratchet::sniff
