// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "control/server.hpp"
#include "core/tables.hpp"
#include "support/store_support.hpp"
#include "unit/cli/command.hpp"

namespace ratchet {
namespace {

using cli_testing::ended;
using store_support::must;
using ::testing::HasSubstr;

/// `get` and `scan` with --table, by the real command: on a directory, and asking this process.
class read_tables : public store_support::fixture {
 protected:
  read_tables() {
    const auto made = open_tables();
    fill(*made, {{"by-customer", "c-7/p-1", R"({"paid": 5})"},
                 {"by-customer", "c-7/p-2", "{\n\"paid\": 6}"},
                 {"by-customer", "c-70", "no JSON"},
                 {"numbers", number("10"), "10"},
                 {"numbers", number("9"), "9"},
                 {"raw", "\xFF", "[]"}});
  }
  static std::string number(const char* text) { return encode_table_key(key_encoding::u64, text).value(); }
  [[nodiscard]] std::unique_ptr<store> open_tables() const {
    store_options o = options();
    for (const auto& [table, key] :
         {std::pair{"by-customer", "text"}, std::pair{"numbers", "u64"}, std::pair{"raw", "bytes"}})
      o.streams[0].lines.emplace_back(std::string{"table."} + table, key);
    return must(open_store(o));
  }
  struct row {
    std::string table, key, value;
  };
  static void fill(store& s, const std::vector<row>& rows) {
    (void)write(s, s.id_of("payments"), {{"p1", seq(s.last_step() + 1), "x"}},
                [&](step_batch&, stream_change& change) {
                  for (const row& r : rows) change.tables.push_back({0, 0, r.table, r.key, r.value});
                });
    must(s.sync());
  }
  ended ratchet(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--state", path().string()});
    return cli_testing::run_ratchet(path().parent_path(), std::move(arguments), -1);
  }
};

struct asked {
  std::vector<std::string> words;
  int status;
  std::string out;
  std::string err;  ///< a part of it
};

TEST_F(read_tables, print_rows_and_ranges_the_same_from_a_running_instance_as_from_its_directory) {
  const std::string all = R"({"key":"c-7/p-1","value":{"paid": 5}})"
                          "\n"
                          R"({"key":"c-7/p-2","value":{ "paid": 6}})"
                          "\n"
                          R"({"key":"c-70","value_base64":"bm8gSlNPTg=="})"
                          "\n";
  const std::string first = all.substr(0, all.find('\n') + 1);
  const std::vector<asked> questions{
      {{"get", "--table", "by-customer", "c-7/p-2"}, 0, "{\n\"paid\": 6}", ""},
      {{"get", "--table", "by-customer", "c-7/p-2", "--output", "json"},
       0,
       "{\"table\":\"by-customer\",\"key\":\"c-7/p-2\",\"value\":{\n\"paid\": 6}}\n",
       ""},
      {{"get", "--table", "numbers", "9", "--output", "json"},
       0,
       "{\"table\":\"numbers\",\"key\":9,\"value\":9}\n",
       ""},
      {{"get", "--table", "raw", "\xFF"}, 0, "[]", ""},
      {{"get", "--table", "by-customer", "c-8"}, 1, "", "no row of \"c-8\" in the table \"by-customer\""},
      {{"get", "--table", "numbers", "nine"}, 64, "", "its keys are u64: a whole number below 2^64"},
      {{"get", "--table", "others", "c-8"},
       64,
       "",
       "there are: by-customer (of stream payments), numbers (of stream payments), raw (of stream payments)"},
      {{"scan", "--table", "by-customer"}, 0, all, ""},
      {{"scan", "--table", "by-customer", "--limit", "1"}, 0, first, ""},
      {{"scan", "--table", "by-customer", "--limit", "0"}, 64, "", "it must be a whole number, 1 at least"},
      {{"scan", "--table", "by-customer", "--prefix", "c-7/", "--limit", "1"}, 0, first, ""},
      {{"scan", "--table", "by-customer", "--prefix", "c-8"}, 0, "", ""},
      {{"scan", "--table", "by-customer", "--from", "c-70"}, 0, all.substr(all.rfind("{\"key")), ""},
      {{"scan", "--table", "numbers"}, 0, "{\"key\":9,\"value\":9}\n{\"key\":10,\"value\":10}\n", ""},
      {{"scan", "--table", "numbers", "--from", "10"}, 0, "{\"key\":10,\"value\":10}\n", ""},
      {{"scan", "--table", "numbers", "--prefix", "1"}, 64, "", "are numbers, which have no prefix"},
      {{"scan", "--table", "numbers", "--from", "x"}, 64, "", "\"x\" is not a key of the table \"numbers\""},
      {{"scan", "--table", "raw"}, 0, "{\"key_base64\":\"/w==\",\"value\":[]}\n", ""},
  };
  const auto ask_all = [&](const char* whom) {
    for (const asked& q : questions) {
      std::string words = whom;
      for (const std::string& word : q.words) words += " " + word;
      SCOPED_TRACE(words);
      const ended got = ratchet(q.words);
      EXPECT_EQ(got.status, q.status) << got.err;
      EXPECT_EQ(got.out, q.out);
      EXPECT_THAT(got.err, HasSubstr(q.err));
      EXPECT_EQ(got.err.empty(), q.err.empty()) << got.err;
    }
  };
  ask_all("the directory:");
  const auto running = open_tables();
  const instance_status status{timestamp{}};
  const auto server = must(control_server::start(path(), *running, {"payments"}, status));
  ask_all("the instance:");
}

TEST_F(read_tables, see_what_a_running_instance_wrote_since) {
  const auto running = open_tables();
  const instance_status status{timestamp{}};
  const auto server = must(control_server::start(path(), *running, {"payments"}, status));
  fill(*running, {{"numbers", number("11"), "new"}});
  EXPECT_EQ(ratchet({"get", "--table", "numbers", "11"}).out, "new");
}

TEST_F(read_tables, want_a_key_or_a_stream_and_not_both) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"get", "--table", "numbers"},
                                                {"get", "--table", "numbers", "payments", "9"},
                                                {"get", "payments"},
                                                {"get"},
                                                {"scan"},
                                                {"scan", "--table", "numbers", "payments"},
                                                {"scan", "--table", "numbers", "--deleted"},
                                                {"scan", "payments", "--from", "p"},
                                                {"scan", "--table", "numbers", "--limit", "many"}}) {
    const ended got = ratchet(words);
    EXPECT_EQ(got.status, 64) << words.back() << ": " << got.err;
    EXPECT_EQ(got.out, "");
  }
}

}  // namespace
}  // namespace ratchet
