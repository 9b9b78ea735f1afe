// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What the command says where the machine does not let it work, and how it ends. Those that need Kafka are in
// tests/broker.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "ratchet/config.hpp"
#include "support/temporary_directory.hpp"
#include "test_paths.hpp"

namespace ratchet {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct ended {
  int status{-1};
  std::string output;
};

/// Files that everybody may look into, and a command that may be run as somebody who may do nothing.
class bad_environment : public testing::Test {
 protected:
  void SetUp() override {
    chmod(directory_.c_str(), 0755);
    std::ofstream{directory_ / "r.yaml"}
        << "version: 1\nstate: {path: " << state()
        << "}\nstreams:\n- {name: payments, dedup: off, reducer: {kind: replace}, envelope: {aggregate: /a, "
           "sequence: /s}}\n";
    std::ofstream{directory_ / "e.ndjson"} << "{\"a\":\"p1\",\"s\":1}\n";
  }
  [[nodiscard]] std::string state() const { return (directory_ / "state").string(); }

  [[nodiscard]] ended shell(const std::string& command) const {
    ended done;
    FILE* pipe = popen(("cd '" + directory_.string() + "' && " + command + " 2>&1").c_str(), "r");
    if (pipe == nullptr) return done;
    std::array<char, 4096> buffer{};
    for (std::size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
      done.output.append(buffer.data(), n);
    }
    const int status = pclose(pipe);
    if (WIFEXITED(status)) done.status = WEXITSTATUS(status);
    return done;
  }
  [[nodiscard]] ended ratchet(const std::string& arguments) const {
    return shell(std::string{"'"} + RATCHET_BINARY + "' " + arguments);
  }
  [[nodiscard]] ended apply(const std::string& more = "") const {
    return ratchet("apply -c r.yaml " + more + " e.ndjson");
  }
  /// Root may do everything: then the command gives its rights away first.
  [[nodiscard]] static std::string without_rights() {
    return geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : "";
  }
  [[nodiscard]] ended ratchet_without_rights(const std::string& arguments) const {
    return shell(without_rights() + "'" + RATCHET_BINARY + "' " + arguments);
  }
  [[nodiscard]] bool can_drop_rights() const { return ratchet_without_rights("--version").status == 0; }

  support::temporary_directory files_;
  const std::filesystem::path& directory_{files_.path()};
};

TEST_F(bad_environment, a_directory_that_may_not_be_made_or_written_is_named_with_the_user_who_needs_it) {
  if (!can_drop_rights()) GTEST_SKIP() << "setpriv is missing, or nobody may not run the command";
  chmod(directory_.c_str(), 0555);
  const ended made = ratchet_without_rights("apply -c r.yaml e.ndjson");
  EXPECT_EQ(made.status, 74);
  const std::string user = geteuid() == 0 ? "65534" : std::to_string(geteuid());
  EXPECT_THAT(made.output,
              AllOf(HasSubstr("cannot make the state directory " + state() + ": Permission denied"),
                    HasSubstr("this process runs as user " + user),
                    HasSubstr("install -d -m 700 -o " + user + " " + state())));
  chmod(directory_.c_str(), 0755);
  ASSERT_EQ(apply().status, 0);
  chmod(state().c_str(), 0555);
  const ended written = ratchet_without_rights("apply -c r.yaml e.ndjson");
  EXPECT_EQ(written.status, 74);
  EXPECT_THAT(written.output, AllOf(HasSubstr("cannot write in the state directory " + state()),
                                    HasSubstr("chown -R " + user + " " + state())));
  EXPECT_EQ(ratchet_without_rights("get -c r.yaml payments p1").output, "{\"a\":\"p1\",\"s\":1}")
      << "reading needs no more than the right to read";
  chmod(state().c_str(), 0700);
  if (geteuid() == 0) {
    const ended closed = ratchet_without_rights("get -c r.yaml payments p1");
    EXPECT_EQ(closed.status, 74);
    EXPECT_THAT(closed.output, AllOf(HasSubstr("/control.sock: Permission denied"),
                                     HasSubstr("as the user that owns " + state())));
  }
}

TEST_F(bad_environment, a_config_that_may_not_be_read_says_so) {
  if (!can_drop_rights()) GTEST_SKIP() << "setpriv is missing, or nobody may not run the command";
  chmod((directory_ / "r.yaml").c_str(), 0000);
  const ended got = ratchet_without_rights("validate -c r.yaml");
  EXPECT_EQ(got.status, 74);
  EXPECT_THAT(got.output, HasSubstr("cannot read the config r.yaml: Permission denied"));
}

TEST_F(bad_environment, a_file_in_the_place_of_the_directory_says_so) {
  std::ofstream{state()} << "mine";
  for (const std::string& path : {state(), state() + "/below"}) {
    const ended got = apply("--set state.path=" + path);
    EXPECT_EQ(got.status, 74);
    EXPECT_THAT(got.output, AllOf(HasSubstr(path + ": Not a directory"), HasSubstr("a file is in the way")));
  }
  const ended read = ratchet("status -c r.yaml");
  EXPECT_EQ(read.status, 74);
  EXPECT_THAT(read.output, HasSubstr("a file is in the way"));
}

TEST_F(bad_environment, a_name_that_is_too_long_says_so) {
  const ended got = apply("--set state.path=" + state() + std::string(300, 'x'));
  EXPECT_EQ(got.status, 74);
  EXPECT_THAT(got.output, AllOf(HasSubstr("File name too long"), HasSubstr("name a shorter `state.path`")));
}

TEST_F(bad_environment, a_directory_in_use_names_the_process) {
  ASSERT_EQ(apply().status, 0);
  const int fd = open(state().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(flock(fd, LOCK_EX | LOCK_NB), 0);
  const ended got = apply();
  close(fd);
  EXPECT_EQ(got.status, 78);
  EXPECT_THAT(got.output, AllOf(HasSubstr("is in use by process " + std::to_string(getpid())),
                                HasSubstr("a second instance needs its own `state.path`, `kafka.group`")));
  EXPECT_EQ(apply().status, 0) << "and it is free again";
}

TEST_F(bad_environment, another_group_or_another_meaning_changes_nothing_and_says_what_may_change) {
  ASSERT_EQ(apply("--set 'kafka={brokers: [a], group: one}'").status, 0);
  const ended group = apply("--set 'kafka={brokers: [a], group: two}'");
  EXPECT_EQ(group.status, 78);
  EXPECT_THAT(group.output, AllOf(HasSubstr("belongs to the consumer group \"one\", the config has \"two\""),
                                  HasSubstr("change kafka.group back, or name another state.path")));
  const ended meaning = apply(
      "--set 'kafka={brokers: [a], group: one}' --set streams[0].reducer.from=/x --set "
      "streams[0].envelope.sequence=/n");
  EXPECT_EQ(meaning.status, 78);
  EXPECT_THAT(
      meaning.output,
      AllOf(HasSubstr("payments.envelope.sequence: the state was made with \"/s\", the config has \"/n\""),
            HasSubstr("payments.reducer.from: the state was made with \"\", the config has \"/x\""),
            HasSubstr("a `state.path` and a `kafka.group` of their own"), HasSubstr("--resume rebuild"),
            HasSubstr("`Change the config` in docs/operating/upgrading.md")));
  const ended same = apply(
      "--set 'kafka={brokers: [b], group: one, properties: {client.id: x}}' --set memory_limit=128MiB --set "
      "streams[0].poison=7 --set state.commit_interval=7ms --set state.sync=every-step --set step.records=9");
  EXPECT_EQ(same.status, 0) << same.output;
}

/// The settings that docs/operating/upgrading.md lists as free to change.
std::string settings_that_may_change() {
  std::ifstream page{std::filesystem::path{RATCHET_SOURCE_DIR} / "docs/operating/upgrading.md"};
  std::string text;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    inside = inside ? !line.empty() : line.starts_with("**These may change at any start:**");
    if (inside) text += line + "\n";
  }
  return text;
}

TEST_F(bad_environment, settings_that_the_docs_list_may_change_at_any_start) {
  const std::string strict = "--set 'kafka={brokers: [a], group: one}' --set streams[0].order=strict ";
  std::ofstream{directory_ / "e.ndjson"} << "{\"a\":\"p1\",\"s\":1}\n{\"a\":\"p1\",\"s\":3}\n";
  ASSERT_EQ(apply(strict).status, 0);
  const std::vector<std::string> changes{"streams[0].gap='{policy: skip, timeout: 5m}'",
                                         "streams[0].gap.policy=stop",
                                         "streams[0].waiting='{per_aggregate: 7, events: 70, bytes: 1MiB}'",
                                         "streams[0].retry='{attempts: 3, backoff: 1s..2s}'",
                                         "streams[0].reducer.timeout=3s",
                                         "streams[0].rejected='{records: 10, age: 1d}'",
                                         "streams[0].poison=7",
                                         "streams[0].handling=deferred",
                                         "dead_letter='{topic: letters}'",
                                         "streams[0].dead_letter='{topic: others}'",
                                         "rejections='{topic: answers}'",
                                         "outbox='{bytes: 10MiB}'"};
  for (const std::string& change : changes) {
    const ended got = apply(strict + "--set " + change);
    EXPECT_EQ(got.status, 0) << change << "\n" << got.output;
  }
  const ended refused = apply(strict + "--set streams[0].first=0");
  EXPECT_EQ(refused.status, 78);
  for (const std::string key :
       {"gap", "waiting", "retry", "reducer.timeout", "rejected", "poison", "dead_letter", "rejections",
        "outbox", "types", "ignore", "handling", "ties", "too_old", "envelope.unavailable"}) {
    EXPECT_THAT(settings_that_may_change(), HasSubstr("`" + key + "`"));
  }
}

TEST_F(bad_environment, closed_standard_streams_do_not_become_files_of_the_state) {
  for (int i = 0; i < 2; ++i) {
    const ended got =
        shell(std::string{"(exec '"} + RATCHET_BINARY + "' apply -c r.yaml e.ndjson <&- >&- 2>&-)");
    EXPECT_EQ(got.status, 74) << "its report cannot be written";
  }
  const ended looked = ratchet("verify --state " + state());
  EXPECT_EQ(looked.status, 0) << looked.output;
}

TEST_F(bad_environment, a_damaged_directory_stays_as_it_is_and_names_the_ways_out) {
  ASSERT_EQ(apply().status, 0);
  std::ofstream{state() + "/SYNCED", std::ios::binary | std::ios::trunc} << "garbage";
  const ended got = apply();
  EXPECT_EQ(got.status, 78);
  EXPECT_THAT(got.output, AllOf(HasSubstr("is damaged: the file SYNCED cannot be read; no file was changed"),
                                HasSubstr("--resume rebuild")));
  EXPECT_EQ(ratchet("verify --state " + state()).status, 1) << "a check that failed";
}

TEST_F(bad_environment, a_state_that_is_not_there_says_how_it_comes_to_be) {
  for (const std::string command : {"get -c r.yaml payments p1", "scan -c r.yaml payments",
                                    "status -c r.yaml", "verify --state ./state"}) {
    const ended got = ratchet(command);
    EXPECT_EQ(got.status, 78) << command;
    EXPECT_THAT(got.output, AllOf(HasSubstr("there is no state directory"), HasSubstr("run first")))
        << command;
  }
}

TEST_F(bad_environment, overrides_work_in_every_command_that_takes_a_config) {
  ASSERT_EQ(apply("--set state.path=other").status, 0);
  for (const std::string command : {"get", "scan", "status", "explain"}) {
    const std::string stream = command == "status" ? "" : " payments";
    const std::string rest = stream + (command == "get"       ? " p1"
                                       : command == "explain" ? " --aggregate p1"
                                                              : "");
    const ended got = ratchet(command + " -c r.yaml --set state.path=other" + rest);
    if (command == "explain" && got.output.find("no command") != std::string::npos) continue;
    EXPECT_EQ(got.status, 0) << command << ": " << got.output;
    EXPECT_THAT(got.output, HasSubstr("1")) << command;
    const ended wrong = ratchet(command + " -c r.yaml --set state.pth=other" + rest);
    EXPECT_EQ(wrong.status, 78) << command;
    EXPECT_THAT(wrong.output,
                HasSubstr("--set state.pth: state.pth: is not a known key; did you mean \"path\"?"));
    const ended property = ratchet(command + " -c r.yaml -X fetch.wait.max.ms" + rest);
    EXPECT_EQ(property.status, 78) << command;
  }
}

}  // namespace
}  // namespace ratchet
