// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The page of the config is right: each type, range and default of docs/reference/configuration.md is that of
// the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "ratchet/config.hpp"
#include "test_paths.hpp"
#include "unit/config/dump.hpp"

namespace ratchet {

namespace {

using config_support::dump_of;
using ::testing::HasSubstr;

/// A line of a table of the page.
struct row {
  std::string section;
  std::string key;
  std::string type;
  std::string standard;  ///< the default, with its back-quotes
};

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::string without_quotes(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), '`'), text.end());
  return text;
}

std::vector<row> rows_of_page() {
  std::ifstream page{std::filesystem::path{RATCHET_SOURCE_DIR} / "docs/reference/configuration.md"};
  std::vector<row> rows;
  std::string section;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with('#')) section = trimmed(line.substr(line.find_first_not_of('#')));
    if (!line.starts_with("| `")) continue;
    std::istringstream cells{line.substr(1)};
    row r{section, {}, {}, {}};
    for (std::string* cell : {&r.key, &r.type, &r.standard}) std::getline(cells, *cell, '|');
    r.key = without_quotes(trimmed(r.key));
    r.type = trimmed(r.type);
    r.standard = trimmed(r.standard);
    rows.push_back(std::move(r));
  }
  return rows;
}

/// A config that the keys of a row fit into; a key a line, so that one can be taken out.
struct base {
  std::string path;  ///< of the section, with the dot at its end
  std::vector<std::string> set{};
  std::string text = R"(version: 1
kafka:
  brokers: [localhost:9092]
  group: g
state:
  path: s
streams:
  - topics: [t]
    name: n
    start: earliest
    envelope:
      aggregate: /a
      event_id: /id
      sequence: /seq
sinks:
  - name: receipts
    http:
      url: http://localhost/
)";
};

base base_of(const row& r) {
  const std::map<std::string, std::string> paths{
      {"Top level", ""},
      {"kafka", "kafka."},
      {"state", "state."},
      {"streams", "streams[0]."},
      {"envelope", "streams[0].envelope."},
      {"dedup", "streams[0].dedup."},
      {"Strict order", "streams[0]."},
      {"Waiting and rejected events", "streams[0]."},
      {"reducer", "streams[0].reducer."},
      {"Messages and tables", "streams[0]."},
      {"Dead letters and rejections", ""},
      {"outbox", "outbox."},
      {"replicate", "replicate."},
      {"sinks", "sinks[0]."},
  };
  base b{paths.contains(r.section) ? paths.at(r.section) : "?" + r.section + "."};
  const std::string envelope = "streams[0].envelope.";
  if (r.section == "replicate") b.text += "replicate:\n  topic: l\n  instance: i\n";
  if (r.section == "Strict order") b.set = {"streams[0].order=strict"};
  if (r.key == "gap.timeout" || r.key == "first") b.set.emplace_back("streams[0].gap.policy=skip");
  if (r.key == "too_old" || r.key == "handling" || r.key == "ids") b.set = {"streams[0].order=arrival"};
  if (r.key == "kind") b.set = {"streams[0].order=arrival"};
  if (r.section == "reducer" && r.key != "kind") b.set = {"streams[0].reducer.kind=replace"};
  if (r.section == "reducer" && r.key == "version")
    b.set = {"streams[0].reducer.kind=own", "streams[0].reducer.name=r"};
  if (r.key.starts_with("sequence.")) b.set = {envelope + "sequence={from: /seq}"};
  if (r.key == "sequence.bits" || r.key == "sequence.base") {
    b.set = {envelope + "sequence={from: /seq, as: integer}", "streams[0].order=strict",
             "streams[0].epoch_change=park"};
  }
  if (r.key == "epoch_change") b.set.push_back(envelope + "epoch=/epoch");
  if (r.section == "envelope" && r.key == "key") b.set = {envelope + "aggregate=key"};
  if (r.key == "position" || r.key == "unavailable") {
    const std::size_t at = b.text.find("      aggregate");
    b.text.erase(at, b.text.find("sinks:") - at).insert(at, "      format: debezium-cdc\n");
  }
  return b;
}

reported<config> parse(const base& b, const std::vector<std::string>& more = {}) {
  config_overrides overrides{b.set, {}};
  overrides.set.insert(overrides.set.end(), more.begin(), more.end());
  return parse_config(b.text, "base.yaml", overrides);
}

/// What is wrong at the key where it has this value; empty: nothing.
std::string refusal(const row& r, const std::string& value) {
  const base b = base_of(r);
  const auto parsed = parse(b, {b.path + r.key + "=" + value});
  if (parsed) return {};
  for (const diagnostic& d : parsed.error().diagnostics) {
    if (d.path == b.path + r.key) return d.message + "; " + d.hint;
  }
  return {};
}

/// Values of the type, among which at least one differs from the default.
std::vector<std::string> samples(const row& r) {
  std::vector<std::string> found;
  std::istringstream words{r.type};
  for (std::string word; words >> word;) {
    if (word.starts_with('`')) found.push_back(without_quotes(word.substr(0, word.rfind('`'))));
  }
  const auto is = [&](const char* type) { return r.type.starts_with(type); };
  if (is("duration")) found.insert(found.begin(), r.key == "retention" ? "30d" : "2s");
  if (is("size")) found.insert(found.begin(), "128MiB");
  if (is("number")) found.insert(found.begin(), "7");
  if (is("range of durations")) found.insert(found.begin(), "1s..2s");
  if (is("text")) found.insert(found.begin(), "other");
  if (is("map or `off`")) found.insert(found.begin(), "{topic: other}");
  if (r.key == "properties") found.insert(found.begin(), "{fetch.wait.max.ms: 7}");
  return found;
}

bool is_literal(const row& r) {
  return r.standard.starts_with('`') && r.standard.find('`', 1) == r.standard.size() - 1;
}

TEST(configuration_page, has_the_defaults_of_the_program) {
  int compared = 0;
  for (const row& r : rows_of_page()) {
    SCOPED_TRACE(r.section + ": " + r.key);
    if (!is_literal(r)) continue;
    ++compared;
    const base b = base_of(r);
    const auto without = parse(b);
    ASSERT_TRUE(without) << to_text(without.error());
    const auto with = parse(b, {b.path + r.key + "=" + without_quotes(r.standard)});
    ASSERT_TRUE(with) << to_text(with.error());
    EXPECT_EQ(dump_of(*with), dump_of(*without)) << "the default is another one";
    const std::vector<std::string> values = samples(r);
    EXPECT_TRUE(std::any_of(values.begin(), values.end(), [&](const std::string& value) {
      const auto other = parse(b, {b.path + r.key + "=" + value});
      return other && dump_of(*other) != dump_of(*without);
    })) << "no sample changes the config: dump.hpp, or the base for this key, lacks something";
  }
  EXPECT_GE(compared, 45);
}

TEST(configuration_page, says_required_where_the_program_does) {
  int compared = 0;
  for (const row& r : rows_of_page()) {
    SCOPED_TRACE(r.section + ": " + r.key);
    base b = base_of(r);
    const std::string line = r.key.substr(r.key.rfind('.') + 1) + ": ";
    const std::size_t at = b.text.find(" " + line);
    if (r.standard != "required" || at == std::string::npos) continue;
    ++compared;
    const std::size_t begin = b.text.rfind('\n', at) + 1;
    b.text.erase(begin, b.text.find('\n', begin) + 1 - begin);
    const auto parsed = parse(b);
    ASSERT_FALSE(parsed);
    const auto& found = parsed.error().diagnostics;
    EXPECT_TRUE(std::any_of(found.begin(), found.end(), [&](const diagnostic& d) {
      return d.path.starts_with(b.path.substr(0, b.path.size() - 1));
    })) << to_text(parsed.error());
  }
  EXPECT_GE(compared, 4);
}

/// `A to B` of a type such as `number, 1 to 256`; empty: it has no range.
std::string range_of(const row& r) {
  const std::size_t comma = r.type.find(", ");
  const bool is_counted =
      r.type.starts_with("number") || r.type.starts_with("size") || r.type.starts_with("duration");
  return is_counted && comma != std::string::npos ? r.type.substr(comma + 2) : "";
}

TEST(configuration_page, has_the_ranges_of_the_program) {
  for (const row& r : rows_of_page()) {
    SCOPED_TRACE(r.section + ": " + r.key + ": " + r.type);
    const std::string range = range_of(r);
    if (range.empty()) continue;
    const std::string low = range.substr(0, range.find(' '));
    EXPECT_EQ(refusal(r, low), "");
    const std::size_t to = range.find(" to ");
    if (to == std::string::npos) {
      EXPECT_NE(refusal(r, "1KiB"), "");
      continue;
    }
    const std::string high = range.substr(to + 4);
    EXPECT_EQ(refusal(r, high), "");
    const char* huge = r.type.starts_with("duration") ? "1000d"
                       : r.type.starts_with("size")   ? "9000TiB"
                                                      : "99999999999999";
    EXPECT_THAT(refusal(r, huge), HasSubstr(high));
    const char* nothing = r.type.starts_with("duration") ? "0s" : r.type.starts_with("size") ? "0B" : "0";
    EXPECT_NE(refusal(r, nothing), "");
  }
}

TEST(configuration_page, has_the_words_of_the_program) {
  int compared = 0;
  for (const row& r : rows_of_page()) {
    SCOPED_TRACE(r.section + ": " + r.key + ": " + r.type);
    if (!r.type.starts_with('`') || r.type.find(' ') == std::string::npos) continue;
    ++compared;
    for (const std::string& word : samples(r)) EXPECT_EQ(refusal(r, word), "");
    const char* other = r.key == "sequence.bits" ? "99" : r.key == "sequence.base" ? "12" : "nonsense";
    EXPECT_THAT(refusal(r, other), HasSubstr(without_quotes(r.type)));
  }
  EXPECT_GE(compared, 18);
}

TEST(configuration_page, has_the_types_of_the_program) {
  for (const row& r : rows_of_page()) {
    SCOPED_TRACE(r.section + ": " + r.key + ": " + r.type);
    const std::map<std::string, std::pair<const char*, std::vector<const char*>>> probes{
        {"duration", {"2s", {"128MiB", "soon", "7", "[]"}}},
        {"size", {"128MiB", {"2s", "much", "-1", "[]"}}},
        {"number", {"7", {"2s", "128MiB", "many", "-1", "[]"}}},
        {"list", {"[other]", {"other"}}},
    };
    const auto probe = probes.find(r.type.substr(0, r.type.find_first_of(" ,")));
    if (probe != probes.end() && r.key != "streams" && r.key != "sinks" && r.key != "brokers") {
      EXPECT_EQ(refusal(r, r.key == "retention" ? "30d" : probe->second.first), "");
      for (const char* value : probe->second.second) {
        EXPECT_NE(refusal(r, value), "") << value;
      }
    }
    const bool may_be_off = r.type.ends_with("`off`");
    if (may_be_off || probe != probes.end()) {
      EXPECT_EQ(refusal(r, "off").empty(), may_be_off);
    }
  }
}

}  // namespace

}  // namespace ratchet
