// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What an input of `ratchet apply` is, where it holds no lines for it.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "unit/app/apply_world.hpp"

namespace ratchet {
namespace {

using namespace std::string_literals;

class first_look : public apply_command {
 protected:
  first_look() { settings_.step_records = 100; }
  /// What is said of the file; empty: it was applied.
  std::string told(const std::string& content, bool records = false) {
    const std::string path = file("in", content);
    const auto failed = apply({path}, records);
    if (!failed) return {};
    EXPECT_EQ(exit_code(failed->code), 64) << failed->message;
    EXPECT_EQ(counted().consumed, 0U) << "nothing is written";
    return failed->message + " -> " + failed->hint;
  }
  void expect_told(const std::string& content, const std::string& what, const std::string& filter,
                   bool records = false) {
    const std::string said = told(content, records);
    EXPECT_NE(said.find(what), std::string::npos) << said;
    EXPECT_NE(said.find(filter), std::string::npos) << said;
  }
  static std::string bare(int n) {
    std::string text = line("a", n);
    text.pop_back();
    return text;
  }
};

TEST_F(first_look, tells_of_compressed_files) {
  expect_told("\x1F\x8B\x08\0\n\n"s, "is gzip", "zcat ");
  expect_told("\x28\xB5\x2F\xFD\x04", "is Zstandard", "zstdcat ");
  expect_told("PK\x03\x04", "is a zip archive", "unzip -p ");
  expect_told("PAR1\x15\x04", "is Parquet", "turn it into lines of JSON first");
}

TEST_F(first_look, tells_of_other_encodings) {
  expect_told("\xFF\xFE{\0\"\0"s, "is UTF-16", "iconv -f utf-16 -t utf-8 ");
  expect_told("{\0\"\0p\0"s, "is UTF-16 (little-endian)", "iconv -f utf-16le ");
}

TEST_F(first_look, tells_of_json_that_is_not_one_value_a_line) {
  expect_told("[" + bare(1) + "," + bare(2) + "]\n", "is a JSON array", "jq -c '.[]' ");
  expect_told("[\n  " + bare(1) + ",\n  " + bare(2) + "\n]\n", "is a JSON array", "jq -c '.[]' ");
  expect_told("[" + bare(1) + "]\n[" + bare(2) + "]\n", "lines of JSON arrays", "jq -c '.[]' ");
  expect_told("{\n  \"p\": \"a\",\n  \"n\": 1\n}\n", "pretty-printed", "jq -c . ");
  expect_told(bare(1) + bare(2) + "\n", "several JSON values on a line", "jq -c . ");
  expect_told(R"("{\"p\":\"a\",\"n\":1}")", "JSON within JSON strings", "jq -c fromjson ");
  expect_told("{'p': 'a', 'n': 1}\n", "what Python prints of a dict", "lines of JSON");
}

TEST_F(first_look, tells_of_tables_and_of_what_other_tools_print) {
  expect_told("p,n\na,1\nb,2\n", "is a table (CSV)", "mlr --icsv --ojsonl cat ");
  expect_told("p\tn\na\t1\n", "is a table of tabs (TSV)", "mlr --itsv --ojsonl cat ");
  expect_told("k\t" + bare(1) + "\n", "as kafka-console-consumer prints", "kcat -C -J");
  expect_told("<events/>\n", "is XML", "lines of JSON");
  expect_told(kcat("t", 0, 1, "a", 1), "holds records as `kcat -C -J` or rpk prints them", "--records");
}

TEST_F(first_look, tells_of_files_that_are_no_records) {
  expect_told(line("a", 1), "holds events alone", "leave out --records", true);
  expect_told("x\n", "holds no lines as `kcat -C -J` prints them", "kcat -C -J -t TOPIC -e", true);
  expect_told("{\n\"topic\": \"t\"\n}\n", "pretty-printed", "jq -c . ", true);
}

TEST_F(first_look, lets_pass_what_can_be_read_or_what_nobody_can_tell) {
  EXPECT_EQ(told(line("a", 1) + "[1]\n{\n"), "") << "some of it is right: each line is judged by itself";
  EXPECT_EQ(counted().applied, 1U);
  reopen();
  expect_applied({file("words", "not json\n")});
  expect_applied({file("lacking", "{\"x\":1}\n")});
  expect_applied({file("tuples", "[\"a\",1]\n")});
  expect_applied({file("empty", "")});
}

TEST_F(first_look, reads_events_that_are_arrays_where_the_config_does) {
  settings_.streams[0].envelope.aggregate = "/0/p";
  settings_.streams[0].envelope.sequence = "/1";
  settings_.streams[0].envelope.time.clear();
  settings_.streams[0].reducer.from = "/1";
  expect_applied({file("in", "[{\"p\":\"a\"},1]\n")});
  EXPECT_EQ(read("a"), "1");
}

TEST_F(first_look, shows_the_first_bytes_where_the_poison_rule_stops_a_partition) {
  settings_.streams[0].poison = 3;
  const auto failed = apply({file("in", line("a", 1) + "first\x01\nx\nx\n")});
  ASSERT_TRUE(failed);
  EXPECT_NE(failed->message.find(R"(the first of them begins with "first\x01")"), std::string::npos)
      << failed->message;
  EXPECT_NE(failed->hint.find("most likely a binary format"), std::string::npos) << failed->hint;
}

}  // namespace
}  // namespace ratchet
