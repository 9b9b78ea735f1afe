// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Ids that nobody can type as they are: every command that takes an id takes the way in which it is shown.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/temporary_directory.hpp"
#include "test_paths.hpp"
#include "unit/cli/command.hpp"

namespace ratchet {
namespace {

using cli_testing::ended;

/// Dead events of aggregates with a NUL, a line feed, spaces, a dash and a literal escape.
class named_ids : public ::testing::Test {
 protected:
  named_ids() {
    write_config("bad");
    std::ofstream{dir_ / "in"} << R"({"a":"x\u0000y","n":1,"t":"bad"})" << '\n'
                               << R"({"a":"p\ny","n":1,"t":"bad"})" << '\n'
                               << R"({"a":"pA","n":1,"t":"bad"})" << '\n'
                               << R"({"a":"q/1  dead  z","n":1,"t":"bad"})" << '\n'
                               << R"({"a":"-d","n":1,"t":"bad"})" << '\n'
                               << R"({"a":"\\x1b","n":1,"t":"bad"})" << '\n'
                               << R"({"a":"\u001b","n":1,"t":"bad"})" << '\n';
    EXPECT_EQ(ratchet({"apply", "-c", config(), (dir_ / "in").string()}).status, 0);
  }
  void write_config(const char* how) const {
    std::ofstream{config()} << "version: 1\nstate: {path: " << (dir_ / "st").string()
                            << "}\nstreams:\n  - name: s\n"
                               "    envelope: {aggregate: /a, sequence: /n, type: /t}\n"
                               "    order: strict\n    dedup: off\n"
                               "    reducer: {kind: flaky, fail: {type: "
                            << how << ", how: give_up}}\n";
  }
  [[nodiscard]] std::string config() const { return (dir_ / "c.yaml").string(); }
  [[nodiscard]] ended ratchet(std::vector<std::string> arguments) const {
    return cli_testing::run_ratchet(dir_, std::move(arguments));
  }
  /// As a person types it who copies the words from an answer: through a shell.
  [[nodiscard]] std::string typed(const std::string& words) const {
    const std::string line = std::string{RATCHET_BINARY} + " " + words + " 2>&1";
    FILE* const pipe = ::popen(line.c_str(), "r");
    std::string out;
    for (int c = 0; (c = std::fgetc(pipe)) != EOF;) out += static_cast<char>(c);
    ::pclose(pipe);
    return out;
  }

  support::temporary_directory files_;
  const std::filesystem::path& dir_{files_.path()};
};

TEST_F(named_ids, pages_go_on_where_the_one_before_says) {
  std::string seen;
  std::string more;
  for (int pages = 0; pages < 9; ++pages) {
    const std::string page =
        typed("waiting list -c " + config() + " --limit 1 " + (more.empty() ? "s" : more));
    const std::size_t on = page.find("more wait: go on with ");
    seen += page.substr(0, page.find("  dead  reducer")) + "\n";
    if (on == std::string::npos) break;
    more = page.substr(on + 22);
    more.pop_back();
  }
  EXPECT_EQ(seen, "\\x1b/1\n-d/1\n\\\\x1b/1\np\\x0ay/1\npA/1\nq/1 \\x20dead \\x20z/1\nx\\x00y/1\n");
}

TEST_F(named_ids, are_taken_by_every_command_as_they_are_shown) {
  for (const char* id :
       {R"(x\x00y)", R"(p\x0ay)", R"(q/1 \x20dead \x20z)", R"(\\x1b)", R"(\x1b)", R"(\x2dd)"}) {
    const ended shown = ratchet({"waiting", "show", "-c", config(), "s", id, "1"});
    EXPECT_EQ(shown.status, 0) << id << shown.err;
    EXPECT_EQ(ratchet({"explain", "-c", config(), "s", "--aggregate", id}).status, 0) << id;
    const ended one = ratchet({"waiting", "list", "-c", config(), "s", "--aggregate", id});
    EXPECT_EQ(std::count(one.out.begin(), one.out.end(), '\n'), 1) << id << one.out;
  }
}

TEST_F(named_ids, with_a_nul_are_decided_about_one_by_one) {
  std::ofstream{dir_ / "with"} << "{\"mended\": true}\n";
  write_config("none");
  const ended done = ratchet({"waiting", "replay", "-c", config(), "s", "--aggregate", R"(x\x00y)",
                              "--sequence", "1", "--with", (dir_ / "with").string(), "--yes"});
  EXPECT_EQ(done.out, "x\\x00y  1  replay: applied\n1 of 1 event applied\n") << done.err;
  EXPECT_EQ(ratchet({"get", "-c", config(), "s", R"(x\x00y)"}).out, R"({"mended": true})");
  const ended scanned = ratchet({"scan", "-c", config(), "s", "--prefix", R"(x\x00)"});
  EXPECT_EQ(std::count(scanned.out.begin(), scanned.out.end(), '\n'), 1) << scanned.out;
  const ended story = ratchet({"explain", "-c", config(), "s", "--aggregate", R"(x\x00y)"});
  EXPECT_NE(story.out.find("waiting_replayed"), std::string::npos) << "its audit row" << story.out;
}

TEST_F(named_ids, in_suggested_commands_are_typed_as_they_stand) {
  const std::string none = typed("waiting show -c " + config() + " s '\\x2dd' 7");
  const std::size_t from = none.find("`ratchet explain ");
  ASSERT_NE(from, std::string::npos) << none;
  const std::string command = none.substr(from + 9, none.find('`', from + 1) - from - 9);
  EXPECT_NE(typed(command).find("stream s, aggregate -d\n"), std::string::npos) << command;
}

}  // namespace
}  // namespace ratchet
