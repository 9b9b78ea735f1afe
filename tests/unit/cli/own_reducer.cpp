// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// A stream whose reducer is a program's own (`kind: own`): what the real command does with its directory, and
// what the program is asked for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "app/apply_files.hpp"
#include "app/engine.hpp"
#include "ratchet/ratchet.hpp"
#include "support/temporary_directory.hpp"
#include "unit/cli/command.hpp"

namespace ratchet {
namespace {

namespace fs = std::filesystem;
using cli_testing::ended;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Counts the changes of a payment, which no reducer of Ratchet's would.
struct payment_state {
  static constexpr reducer_traits traits{.name = "payment_state", .version = 2};
  outcome apply(const ratchet::event&, state& s, effects&) const {
    const int before = s.exists() ? std::stoi(std::string{s.value()}) : 0;
    s.assign(std::to_string(before + 1));
    return done();
  }
};

struct raised : payment_state {
  static constexpr reducer_traits traits{.name = "payment_state", .version = 3};
};

class own_reducer : public ::testing::Test {
 protected:
  own_reducer() {
    write_config("kind: own, name: payment_state, version: 2");
    std::ofstream{directory_ / "events"} << R"({"a":"p1","n":1})"
                                         << "\n"
                                         << R"({"a":"p1","n":2})"
                                         << "\n"
                                         << R"({"a":"p1","n":4})"
                                         << "\n";
  }
  [[nodiscard]] std::string config_file() const { return (directory_ / "ratchet.yaml").string(); }
  [[nodiscard]] std::string state() const { return (directory_ / "state").string(); }
  void write_config(const std::string& reducer) const {
    std::ofstream{config_file()} << R"(version: 1
kafka: {brokers: ["localhost:1"], group: g, connect_timeout: 1s}
memory_limit: 64MiB
state: {path: )" << state() << R"(}
streams:
  - name: pay
    topics: [t]
    start: earliest
    envelope: {aggregate: /a, sequence: /n}
    order: strict
    dedup: off
    reducer: {)" << reducer << "}\n";
  }
  [[nodiscard]] ended ratchet(std::vector<std::string> arguments) const {
    return cli_testing::run_ratchet(directory_, std::move(arguments));
  }
  /// As the program that has the reducer.
  std::optional<problem> handle_events(const reducers& own) {
    const auto settings = load_config(config_file());
    if (!settings) return settings.error();
    auto opened = engine::open(*settings, own, {});
    if (!opened) return opened.error();
    apply_request request;
    request.files = {(directory_ / "events").string()};
    const std::atomic<bool> never{false};
    return apply_files(**opened, request, never);
  }
  void has_state() {
    const auto failed = handle_events(reducers{}.add("pay", payment_state{}));
    ASSERT_FALSE(failed) << to_text(*failed);
    ASSERT_EQ(ratchet({"get", "--state", state(), "pay", "p1"}).out, "2");
  }
  /// A refusal that changed nothing.
  void expect_refused(std::vector<std::string> arguments) {
    const std::string typed = arguments[0];
    const ended got = ratchet(std::move(arguments));
    EXPECT_EQ(got.status, 78) << typed;
    EXPECT_THAT(got.err, AllOf(HasSubstr("`payment_state`, version 2"), HasSubstr("app::open()"),
                               HasSubstr("run the program that has this reducer")))
        << typed;
    EXPECT_EQ(std::count_if(fs::directory_iterator{directory_}, {},
                            [](const fs::directory_entry& e) {
                              return e.path().filename().string().starts_with("state.old");
                            }),
              0);
    EXPECT_EQ(ratchet({"get", "--state", state(), "pay", "p1"}).out, "2");
  }

  support::temporary_directory files_;
  const std::filesystem::path& directory_{files_.path()};
};

TEST_F(own_reducer, leaves_a_directory_that_the_command_reads) {
  has_state();
  const std::vector<std::vector<std::string>> reading = {
      {"validate", "-c", config_file()},
      {"status", "-c", config_file()},
      {"status", "-c", config_file(), "--rejected"},
      {"status", "-c", config_file(), "--audit"},
      {"get", "-c", config_file(), "pay", "p1"},
      {"scan", "-c", config_file(), "pay"},
      {"explain", "-c", config_file(), "pay", "--aggregate", "p1"},
      {"waiting", "list", "-c", config_file(), "pay"},
      {"waiting", "show", "-c", config_file(), "pay", "p1", "4"},
      {"verify", "--state", state()},
      {"checkpoint", "-c", config_file(), (directory_ / "copy").string()},
  };
  for (const auto& arguments : reading) {
    const ended got = ratchet(arguments);
    EXPECT_EQ(got.status, 0) << ::testing::PrintToString(arguments) << got.err;
  }
  EXPECT_THAT(ratchet({"validate", "-c", config_file()}).out,
              AllOf(HasSubstr("to the reducer payment_state, version 2, of a program"),
                    HasSubstr("`ratchet run` and `apply` refuse")));
}

TEST_F(own_reducer, is_run_and_built_anew_by_no_other) {
  has_state();
  expect_refused({"run", "-c", config_file()});
  for (const char* option : {"store", "kafka", "rebuild", "takeover"})
    expect_refused({"run", "-c", config_file(), "--resume", option});
  expect_refused({"apply", "-c", config_file(), (directory_ / "events").string()});
  expect_refused({"waiting", "skip", "-c", config_file(), "pay", "--aggregate", "p1", "--yes"});
}

TEST_F(own_reducer, is_missed_by_a_rehearsal_as_by_the_decision) {
  has_state();
  for (const bool json : {false, true}) {
    const ended told = ratchet({"waiting", "skip", "-c", config_file(), "pay", "--aggregate", "p1",
                                "--output", json ? "json" : "text"});
    EXPECT_EQ(told.status, 0) << told.err;
    EXPECT_THAT(told.out, AllOf(HasSubstr(json ? "\"answer\":\"would\"" : "1 event; nothing was changed\n"),
                                Not(HasSubstr("add --yes"))));
    EXPECT_THAT(told.err, AllOf(HasSubstr("while no instance runs, --yes is refused: "),
                                HasSubstr("`payment_state`, version 2")));
  }
}

TEST_F(own_reducer, is_asked_of_the_program_by_name_and_version) {
  const auto missing = handle_events({});
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->code, errc::config_invalid);
  EXPECT_THAT(missing->message, HasSubstr("`payment_state`, version 2"));
  EXPECT_THAT(missing->hint, HasSubstr("reducers{}.add(\"pay\""));
  const auto other = handle_events(reducers{}.add("pay", raised{}));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->code, errc::config_invalid);
  EXPECT_THAT(other->message, AllOf(HasSubstr("`payment_state`, version 2"),
                                    HasSubstr("the program has `payment_state`, version 3")));
  EXPECT_FALSE(fs::exists(state())) << "nothing was made";
}

TEST_F(own_reducer, is_named_where_the_config_forgets_it) {
  has_state();
  write_config("kind: replace");
  const ended got = ratchet({"run", "-c", config_file()});
  EXPECT_EQ(got.status, 78);
  EXPECT_THAT(got.err,
              AllOf(HasSubstr("the state was made with \"payment_state\", the config has \"replace\""),
                    HasSubstr("reducer: {kind: own, name: payment_state, version: 2}"),
                    Not(HasSubstr("--resume rebuild"))));
  // The config that names it means the same as the one before it could.
  const auto failed = handle_events(reducers{}.add("pay", payment_state{}));
  EXPECT_FALSE(failed) << to_text(*failed);
}

TEST_F(own_reducer, that_was_raised_is_built_anew_by_its_program) {
  has_state();
  write_config("kind: own, name: payment_state, version: 3");
  const auto failed = handle_events(reducers{}.add("pay", raised{}));
  ASSERT_TRUE(failed);
  EXPECT_THAT(failed->hint, AllOf(HasSubstr("resume_option::rebuild"), Not(HasSubstr("ratchet run"))));
  ASSERT_EQ(failed->questions.size(), 1U);
  EXPECT_EQ(failed->questions[0].kind, question_kind::changed_meaning);
  EXPECT_EQ(failed->questions[0].stream, "pay");
}

}  // namespace
}  // namespace ratchet
