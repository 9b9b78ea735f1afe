// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// `ratchet waiting replay | skip | discard` by the real command: on a stopped directory, and through the
// socket of an instance that runs in this process.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "app/engine.hpp"
#include "pipeline/pipeline.hpp"
#include "process/decider.hpp"
#include "process/log.hpp"
#include "ratchet/config.hpp"
#include "support/temporary_directory.hpp"
#include "unit/cli/command.hpp"

namespace ratchet {
namespace {

namespace fs = std::filesystem;
using cli_testing::ended;

/// p1: 1 was applied, 2 is missing, 3 and 4 wait. p2: 1 is dead, 2 waits behind it.
class waiting_decisions : public ::testing::Test {
 protected:
  waiting_decisions() {
    write_config("bad");
    std::ofstream{directory_ / "events"} << event("p1", 1, "x") << event("p1", 3, "x") << event("p1", 4, "x")
                                         << event("p2", 1, "bad") << event("p2", 2, "x");
    const ended applied = ratchet({"apply", "-c", config_file(), (directory_ / "events").string()});
    EXPECT_EQ(applied.status, 0) << applied.err;
  }

  /// The reducer gives up on events of this type.
  void write_config(const std::string& failing) const {
    std::ofstream{config_file()} << R"(version: 1
kafka: {brokers: ["localhost:1"], group: g}
state: {path: )" << (directory_ / "state").string()
                                 << R"(}
streams:
  - name: pay
    topics: []
    envelope: {format: json, event_id: /id, aggregate: /a, sequence: /n, type: /type, time: /t}
    order: strict
    dedup: {ids: uuidv7, window: 1h}
    reducer: {kind: flaky, fail: {type: )"
                                 << failing << R"(, how: give_up}}
)";
  }
  static std::string event(const std::string& aggregate, int number, const std::string& type) {
    static int id = 0;
    const std::string digits = std::to_string(++id);
    return R"({"id":"019a0000-0000-7000-8000-)" + std::string(12 - digits.size(), '0') + digits +
           R"(","a":")" + aggregate + R"(","n":)" + std::to_string(number) + R"(,"type":")" + type +
           R"(","t":"2026-11-22T00:00:00Z"})" + "\n";
  }
  [[nodiscard]] std::string config_file() const { return (directory_ / "c.yaml").string(); }
  [[nodiscard]] ended ratchet(std::vector<std::string> arguments) const {
    return cli_testing::run_ratchet(directory_, std::move(arguments));
  }
  [[nodiscard]] ended decide(const std::string& verb, std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"waiting", verb, "-c", config_file(), "pay"});
    return ratchet(std::move(arguments));
  }
  [[nodiscard]] std::string list() const {
    return ratchet({"waiting", "list", "-c", config_file(), "pay"}).out;
  }
  [[nodiscard]] std::string get(const std::string& aggregate) const {
    return ratchet({"get", "-c", config_file(), "pay", aggregate}).out;
  }
  static void expect_in(const std::string& part, const std::string& text) {
    EXPECT_NE(text.find(part), std::string::npos) << "not said: " << part << "\nin: " << text;
  }
  /// Every file of the state directory, and its bytes.
  [[nodiscard]] std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> all;
    for (const auto& file : fs::recursive_directory_iterator{directory_ / "state"}) {
      if (!file.is_regular_file()) continue;
      std::ifstream in{file.path(), std::ios::binary};
      all[file.path().filename().string()] = {std::istreambuf_iterator<char>{in}, {}};
    }
    return all;
  }
  void expect_clean() const {
    const ended verified = ratchet({"verify", "--state", (directory_ / "state").string()});
    EXPECT_EQ(verified.status, 0) << verified.out << verified.err;
  }

  support::temporary_directory files_;
  const std::filesystem::path& directory_{files_.path()};
};

TEST_F(waiting_decisions, change_nothing_without_yes) {
  const std::string before = list();
  const auto bytes = files();
  const ended told = decide("replay", {"--state-is", "dead"});
  EXPECT_EQ(files(), bytes) << "it opens nothing for writing";
  EXPECT_EQ(told.status, 0) << told.err;
  EXPECT_EQ(told.out, "p2  1  replay: would be tried\n1 event; nothing was changed: add --yes to do it\n");
  EXPECT_EQ(list(), before);
}

/// As behind `systemctl restart`: an instance that is only just starting or stopping holds the directory, and
/// cannot be asked yet.
TEST_F(waiting_decisions, wait_for_a_directory_that_is_busy) {
  const int fd = ::open((directory_ / "state").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::flock(fd, LOCK_EX | LOCK_NB), 0);
  std::thread other{[fd] {
    std::this_thread::sleep_for(std::chrono::milliseconds{2500});
    ::close(fd);
  }};
  const ended done = decide("skip", {"--aggregate", "p1", "--sequence", "2", "--yes"});
  other.join();
  EXPECT_EQ(done.status, 0) << done.err;
  expect_in("waiting for the process that is starting or stopping in ", done.err);
  EXPECT_EQ(done.out, "p1  2  skip: done\n1 of 1 number done\n");
}

/// A service that is refused is not started again, as nothing else mends that.
TEST_F(waiting_decisions, do_not_get_in_the_way_of_a_start) {
  const int fd = ::open((directory_ / "state").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::flock(fd, LOCK_EX | LOCK_NB), 0);
  std::thread other{[fd] {
    std::this_thread::sleep_for(std::chrono::milliseconds{500});
    ::close(fd);
  }};
  const ended started = ratchet({"run", "-c", config_file(), "--until-end"});
  other.join();
  EXPECT_EQ(started.status, 0) << started.err;
}

TEST_F(waiting_decisions, replay_what_died_once_the_cause_is_mended) {
  const ended failed = decide("replay", {"--state-is", "dead", "--yes"});
  EXPECT_EQ(failed.status, 1) << "it failed again";
  EXPECT_TRUE(failed.out.starts_with("p2  1  replay: tried, and dead again: ")) << failed.out;
  EXPECT_TRUE(failed.out.ends_with("\n0 of 1 event applied\n")) << failed.out;
  EXPECT_NE(failed.err.find("1 event was not applied"), std::string::npos) << failed.err;
  EXPECT_NE(list().find("p2/1  dead"), std::string::npos);
  write_config("nothing");
  const ended done = decide("replay", {"--state-is", "dead", "--yes"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(done.out, "p2  1  replay: applied\n1 of 1 event applied\n") << done.err;
  EXPECT_EQ(list().find("p2"), std::string::npos) << "and what waited behind it went, too";
  EXPECT_NE(get("p2").find(R"("n":2)"), std::string::npos);
  expect_clean();
}

TEST_F(waiting_decisions, replay_with_a_corrected_payload) {
  write_config("nothing");
  std::ofstream{directory_ / "fixed"} << "{\"fixed\": true}\n";
  const std::string file = (directory_ / "fixed").string();
  EXPECT_EQ(decide("replay", {"--with", file, "--yes"}).status, 64) << "one event has to be named";
  ASSERT_EQ(decide("discard", {"--aggregate", "p2", "--sequence", "2", "--yes"}).status, 0);
  const ended replayed = decide("replay", {"--aggregate", "p2", "--sequence", "1", "--with", file, "--why",
                                           "the sender left a field out", "--yes"});
  ASSERT_EQ(replayed.status, 0) << replayed.err;
  EXPECT_EQ(get("p2"), "{\"fixed\": true}");
  const ended told = ratchet({"status", "-c", config_file(), "--audit"});
  expect_in("waiting_replayed  pay  aggregate `p2`: event 1, dead (", told.out);
  expect_in("), is tried again with another payload (15 bytes, hash ", told.out);
  expect_in("); decided by " + own_user_name() + ": the sender left a field out\n", told.out);
  EXPECT_NE(told.out.find("waiting_discarded"), std::string::npos);
  expect_clean();
}

TEST_F(waiting_decisions, replay_tells_of_each_what_came_of_it) {
  std::ofstream{directory_ / "more"} << event("p3", 1, "bad") << event("p4", 1, "worse");
  ASSERT_EQ(ratchet({"apply", "-c", config_file(), (directory_ / "more").string()}).status, 0);
  write_config("worse");
  std::ofstream{directory_ / "worse"} << event("p4", 2, "worse");
  ASSERT_EQ(ratchet({"apply", "-c", config_file(), (directory_ / "worse").string()}).status, 0);
  const ended all = decide("replay", {"--state-is", "dead", "--yes", "--output", "json"});
  EXPECT_EQ(all.status, 1) << "one of them is dead again";
  const auto line = [](const char* aggregate, int number, const std::string& rest) {
    return R"({"stream":"pay","aggregate":")" + std::string{aggregate} + R"(","sequence":)" +
           std::to_string(number) + R"(,"verb":"replay","answer":)" + rest;
  };
  EXPECT_NE(all.out.find(line("p2", 1, R"("applied","error":null})")), std::string::npos) << all.out;
  EXPECT_NE(all.out.find(line("p3", 1, R"("applied","error":null})")), std::string::npos) << all.out;
  EXPECT_NE(all.out.find(line("p4", 2, R"("dead","error":")")), std::string::npos) << all.out;
  expect_clean();
}

TEST_F(waiting_decisions, skip_a_number_that_never_came) {
  const ended done = decide("skip", {"--aggregate", "p1", "--sequence", "2", "--yes", "--output", "json"});
  EXPECT_EQ(done.out, R"({"stream":"pay","aggregate":"p1","sequence":2,"verb":"skip","answer":"done"})"
                      "\n")
      << done.err;
  EXPECT_NE(get("p1").find(R"("n":4)"), std::string::npos);
  expect_clean();
}

/// A dry run must not promise what the real one refuses.
TEST_F(waiting_decisions, skip_no_number_that_nobody_waits_for) {
  for (const auto& [aggregate, number] : std::vector<std::pair<std::string, std::string>>{
           {"unknown", "5"},  // nothing was ever seen of it
           {"p1", "1"},       // it was applied
           {"p1", "9"},       // it is behind all that wait
       }) {
    for (const bool act : {false, true}) {
      std::vector<std::string> words{"--aggregate", aggregate, "--sequence", number};
      if (act) words.emplace_back("--yes");
      const ended told = decide("skip", words);
      EXPECT_EQ(told.status, 1) << aggregate << number << told.out;
      expect_in("no waiting event fits", told.err);
      EXPECT_EQ(told.out, "");
    }
  }
}

/// The config has another stream in place of the one that was fed by `apply`, and a rebuild is asked for.
TEST_F(waiting_decisions, and_all_else_outlive_a_rebuild_that_no_topic_could_follow) {
  std::ifstream in{config_file()};
  std::string text{std::istreambuf_iterator<char>{in}, {}};
  const std::size_t name = text.find("name: pay");
  ASSERT_NE(name, std::string::npos);
  text.replace(name, 9, "name: paid");
  const std::string changed = (directory_ / "changed.yaml").string();
  std::ofstream{changed} << text;
  const ended refused =
      ratchet({"run", "-c", changed, "--resume", "rebuild", "--why", "a new name", "--until-end"});
  EXPECT_EQ(refused.status, 78) << refused.err;
  expect_in("a rebuild would lose the state of `pay`", refused.err);
  expect_in("p1/3  parked", list());
}

TEST_F(waiting_decisions, say_without_yes_what_would_be_left_alone) {
  const ended told = decide("replay", {"--aggregate", "p1"});
  expect_in("p1  3  replay: would be left alone: it is parked, and waits for others\n", told.out);
  expect_in("p1  2  skip: the missing numbers up to it would be skipped\n1 number; nothing was changed",
            decide("skip", {"--aggregate", "p1", "--sequence", "2"}).out);
}

TEST_F(waiting_decisions, say_why_one_was_left_alone) {
  const ended parked = decide("replay", {"--aggregate", "p1", "--yes"});
  EXPECT_EQ(parked.status, 1);
  EXPECT_NE(parked.out.find("p1  3  replay: left alone: it is parked, and waits for others\n"),
            std::string::npos);
  EXPECT_EQ(decide("skip", {"--aggregate", "p1", "--sequence", "4", "--yes"}).status, 1)
      << "3 waits before it";
  EXPECT_EQ(decide("discard", {"--aggregate", "p9", "--yes"}).status, 1);
  const ended unknown = ratchet({"waiting", "skip", "-c", config_file(), "payments", "--all", "--yes"});
  EXPECT_EQ(unknown.status, 64);
  EXPECT_NE(unknown.err.find("there are: pay"), std::string::npos) << unknown.err;
}

TEST_F(waiting_decisions, take_all_events_away_only_where_that_is_said) {
  const std::string before = ratchet({"waiting", "list", "-c", config_file(), "pay"}).out;
  ASSERT_NE(before, "");
  for (const char* verb : {"skip", "discard"}) {
    const ended refused = decide(verb, {"--yes"});
    EXPECT_EQ(refused.status, 64);
    EXPECT_NE(refused.err.find("or add --all"), std::string::npos) << refused.err;
    EXPECT_EQ(decide(verb, {"--all", "--aggregate", "p1", "--yes"}).status, 64);
    EXPECT_EQ(decide(verb, {}).status, 0) << "it is only listed";
  }
  EXPECT_NE(decide("skip", {}).out.find("skip: would be skipped"), std::string::npos);
  expect_in("add --all --yes to do it\n", decide("skip", {}).out);
  expect_in("changed: add --yes to do it\n", decide("replay", {}).out);
  EXPECT_EQ(ratchet({"waiting", "list", "-c", config_file(), "pay"}).out, before);
  EXPECT_EQ(decide("discard", {"--all", "--yes"}).status, 0);
  EXPECT_EQ(ratchet({"waiting", "list", "-c", config_file(), "pay"}).out, "");
  expect_clean();
}

TEST_F(waiting_decisions, are_not_taken_of_rejected_records_which_are_listed) {
  std::ofstream{directory_ / "more"} << event("p1", 1, "other") << "{\n";
  ASSERT_EQ(ratchet({"apply", "-c", config_file(), (directory_ / "more").string()}).status, 0);
  const auto rejected = [this](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"waiting", "list", "-c", config_file(), "--state-is", "rejected"});
    return ratchet(std::move(arguments));
  };
  const ended all = rejected({"pay"});
  EXPECT_NE(all.out.find("p1/1  rejected  conflict  since 20"), std::string::npos) << all.out << all.err;
  EXPECT_NE(all.out.find("-  rejected  malformed: invalid_json, byte 1"), std::string::npos) << all.out;
  const ended one = rejected({"pay", "--aggregate", "p1", "--output", "json"});
  EXPECT_TRUE(one.out.starts_with(R"({"stream":"pay","aggregate":"p1","sequence":1,"event_id":"019a)"))
      << one.out;
  const ended page = rejected({"--limit", "1"});
  const std::size_t place = page.out.find("--after /0@");
  ASSERT_NE(place, std::string::npos) << page.out;
  const std::string after = page.out.substr(place + 8, page.out.find('\n', place) - place - 8);
  EXPECT_NE(rejected({"pay", "--after", after}).out, "");
  EXPECT_EQ(rejected({"pay", "--after", "p1/1"}).status, 64) << "rejected ones go on by position";
  for (const char* verb : {"replay", "skip", "discard"}) {
    const ended refused = decide(verb, {"--state-is", "rejected", "--yes"});
    EXPECT_EQ(refused.status, 64);
    EXPECT_NE(refused.err.find("rejected records do not wait"), std::string::npos) << refused.err;
  }
  EXPECT_EQ(rejected({"pay"}).out, all.out);
  expect_clean();
}

TEST_F(waiting_decisions, are_carried_out_by_the_instance_that_runs) {
  write_config("nothing");
  auto settings = load_config(config_file());
  ASSERT_TRUE(settings);
  auto opened = engine::open(*settings, {}, {silent_log(), resume_option::none, nullptr, nullptr});
  ASSERT_TRUE(opened) << opened.error().message;
  engine& running = *opened.value();
  ASSERT_TRUE(running.serve());
  std::atomic<bool> stop{false};
  std::thread owner{[&] {
    pipeline way{running.tasks(), running.state(), running.clock()};
    while (!stop) {
      running.serve_others(way);
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
  }};
  const ended done = decide("replay", {"--state-is", "dead", "--why", "the ledger is up", "--yes"});
  EXPECT_EQ(done.out, "p2  1  replay: applied\n1 of 1 event applied\n") << done.err;
  const ended story = ratchet({"explain", "-c", config_file(), "pay", "--aggregate", "p2"});
  expect_in(", is tried again; decided by " + own_user_name() + ": the ledger is up\n", story.out);
  EXPECT_EQ(running.state().durable_step(), running.state().last_step()) << "answered behind the sync";
  EXPECT_EQ(running.tasks().front()->state.counters.applied, 3U);
  EXPECT_NE(get("p2").find(R"("n":2)"), std::string::npos);
  stop = true;
  owner.join();
}

}  // namespace
}  // namespace ratchet
