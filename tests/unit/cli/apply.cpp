// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What `ratchet apply` says at its end, and on its way with --explain.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/temporary_directory.hpp"
#include "unit/cli/command.hpp"

namespace ratchet::cli_testing {
namespace {

using ::testing::HasSubstr;

class cli_apply : public ::testing::Test {
 protected:
  void write_config(const std::string& more) const {
    std::ofstream{directory_ / "f.yaml"} << "version: 1\nstate: {path: " << (directory_ / "state").string()
                                         << "}\nstreams:\n  - name: payments\n    dedup: off\n"
                                            "    envelope: {aggregate: /a, sequence: /n, time: /t}\n"
                                         << more;
  }
  [[nodiscard]] std::string file(const std::string& name, const std::string& content) const {
    std::ofstream{directory_ / name} << content;
    return (directory_ / name).string();
  }
  [[nodiscard]] ended apply(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"apply", "-c", (directory_ / "f.yaml").string()});
    return run_ratchet(directory_, arguments);
  }
  support::temporary_directory files_;
  const std::filesystem::path& directory_{files_.path()};
};

TEST_F(cli_apply, says_what_it_took_before_a_file_that_is_missing) {
  write_config("");
  const ended got = apply({file("in", R"({"a":"p","n":1})"), (directory_ / "none").string()});
  EXPECT_EQ(got.status, 74);
  EXPECT_THAT(got.err, HasSubstr("none"));
  EXPECT_THAT(got.out, HasSubstr("consumed                  1"));
}

TEST_F(cli_apply, explains_what_each_event_waits_for) {
  write_config(
      "    order: strict\n    retry: {attempts: 2}\n    reducer:\n      kind: flaky\n"
      "      fail: [{contains: bad, how: give_up}, {contains: later, how: retry}]\n");
  const std::string input = file("in", R"({"a":"p","n":2}
{"a":"p","n":3}
{"a":"q","n":1,"x":"bad"}
{"a":"r","n":1,"x":"later"}
)");
  const ended text = apply({"--explain", input});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("line:1\tp\t2\tparked\tgap\n"));
  EXPECT_THAT(text.out, HasSubstr("line:2\tp\t3\tparked\tbehind\n"));
  EXPECT_THAT(text.out, HasSubstr("line:3\tq\t1\tdead\treducer: "));
  EXPECT_THAT(text.out, HasSubstr("line:4\tr\t1\tretrying\treducer: "));
  std::filesystem::remove_all(directory_ / "state");
  const ended json = apply({"--explain", "--output", "json", input});
  EXPECT_THAT(json.out, HasSubstr(R"("verdict":"parked","reason":"gap"})"));
  EXPECT_THAT(json.out, HasSubstr(R"("verdict":"dead","reason":"reducer","error":")"));
}

TEST_F(cli_apply, names_no_line_where_a_gap_stops_the_stream) {
  write_config("    order: strict\n    gap: {policy: stop, timeout: 1m}\n    record_times: trusted\n");
  const ended got = apply({file("in", R"({"a":"p","n":2,"t":"2026-01-01T00:00:00Z"}
{"a":"q","n":1,"t":"2026-01-02T00:00:00Z"}
{"a":"q","n":2,"t":"2026-01-03T00:00:00Z"}
)")});
  EXPECT_EQ(got.status, 1) << got.err;
  EXPECT_THAT(got.err, HasSubstr("the lines: stopped: numbers of aggregate `p`"));
  EXPECT_THAT(got.err, Not(HasSubstr("line 0")));
}

}  // namespace
}  // namespace ratchet::cli_testing
