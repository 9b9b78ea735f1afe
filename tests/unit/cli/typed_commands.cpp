// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// How little has to be typed, and that what the command says to type can be.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/store_support.hpp"
#include "unit/cli/command.hpp"

namespace ratchet {
namespace {

using cli_testing::ended;
using store_support::must;

/// A closed directory with one aggregate, whose id would steer a terminal.
class typed_commands : public store_support::fixture {
 protected:
  typed_commands() {
    const auto made = open();
    write(*made, made->id_of("payments"),
          {{"p\x1b[2J\n1", seq(1), "{}", false}, {"p2", seq(1), "{}", false}});
    must(made->sync());
    std::ofstream{config()}
        << "version: 1\nkafka: {brokers: ['127.0.0.1:9'], group: group-1}\nstate: {path: '" +
               path().string() +
               "'}\nstreams:\n  - name: payments\n    topics: [payment-status]\n"
               "    start: earliest\n"
               "    envelope: {event_id: /id, aggregate: /a, sequence: /s}\n"
               "    order: latest\n    dedup: {ids: uuidv7, window: 24h}\n"
               "    reducer: {kind: replace}\n";
  }
  ~typed_commands() override { ::unsetenv("RATCHET_CONFIG"); }

  std::string config() const { return (path().parent_path() / "ratchet.yaml").string(); }
  ended ratchet(std::vector<std::string> arguments, int out_fd = -1) const {
    return cli_testing::run_ratchet(path().parent_path(), std::move(arguments), out_fd);
  }
  /// What `ratchet` prints where its output is a terminal.
  std::string at_terminal(std::vector<std::string> arguments) const {
    const int master = ::posix_openpt(O_RDWR | O_NOCTTY);
    EXPECT_TRUE(master >= 0 && ::grantpt(master) == 0 && ::unlockpt(master) == 0);
    const int terminal = ::open(::ptsname(master), O_RDWR | O_NOCTTY);
    EXPECT_EQ(ratchet(std::move(arguments), terminal).status, 0);
    ::close(terminal);  // so that reading ends behind what was printed, which comes in parts
    std::string printed;
    std::array<char, 4096> bytes{};
    for (ssize_t count = 0; (count = ::read(master, bytes.data(), bytes.size())) > 0;)
      printed.append(bytes.data(), static_cast<std::size_t>(count));
    ::close(master);
    return printed;
  }
};

TEST_F(typed_commands, take_the_config_that_the_environment_names) {
  EXPECT_EQ(ratchet({"get", "payments", "p2"}).status, 64);
  EXPECT_EQ(ratchet({"validate"}).status, 64);
  ::setenv("RATCHET_CONFIG", config().c_str(), 1);
  EXPECT_EQ(ratchet({"get", "payments", "p2"}).out, "{}");
  EXPECT_EQ(ratchet({"validate"}).status, 0);
}

TEST_F(typed_commands, take_what_is_typed_rather_than_what_the_environment_names) {
  ::setenv("RATCHET_CONFIG", "/nowhere/ratchet.yaml", 1);
  EXPECT_EQ(ratchet({"get", "--state", path().string(), "payments", "p2"}).out, "{}");
  EXPECT_EQ(ratchet({"get", "-c", config(), "payments", "p2"}).out, "{}");
  EXPECT_EQ(ratchet({"validate", "-c", config()}).status, 0);
  EXPECT_NE(ratchet({"validate"}).err.find("/nowhere/ratchet.yaml"), std::string::npos);
}

TEST_F(typed_commands, in_messages_name_the_config_or_the_directory) {
  const ended by_config = ratchet({"explain", "-c", config(), "payments", "--aggregate", "p3"});
  EXPECT_EQ(by_config.status, 1);
  EXPECT_NE(by_config.err.find("`ratchet scan -c " + config() + " payments` lists"), std::string::npos)
      << by_config.err;
  const ended by_state = ratchet({"explain", "--state", path().string(), "payments", "--aggregate", "p3"});
  EXPECT_NE(by_state.err.find("`ratchet scan --state " + path().string() + " payments` lists"),
            std::string::npos)
      << by_state.err;
}

TEST_F(typed_commands, in_messages_repeat_what_was_overridden_but_no_secret) {
  const ended got =
      ratchet({"explain", "-c", config(), "-X", "client.id=me too", "payments", "--aggregate", "p3"});
  EXPECT_NE(got.err.find("`ratchet scan -c " + config() + " -X 'client.id=me too' payments`"),
            std::string::npos)
      << got.err;
  const ended secret =
      ratchet({"explain", "-c", config(), "-X", "sasl.password=hush", "payments", "--aggregate", "p3"});
  EXPECT_EQ((secret.out + secret.err).find("hush"), std::string::npos) << secret.err;
}

TEST_F(typed_commands, refuse_to_change_a_config_that_is_not_read) {
  for (const char* option : {"--set", "-X"}) {
    const ended got = ratchet({"get", "--state", path().string(), option, "a=b", "payments", "p2"});
    EXPECT_EQ(got.status, 64);
    EXPECT_NE(got.err.find("changes a config, and --state replaces the config"), std::string::npos)
        << got.err;
  }
}

TEST_F(typed_commands, get_ends_its_line_at_a_terminal_alone) {
  EXPECT_EQ(ratchet({"get", "-c", config(), "payments", "p2"}).out, "{}");
  EXPECT_EQ(at_terminal({"get", "-c", config(), "payments", "p2"}), "{}\r\n");
  EXPECT_EQ(at_terminal({"get", "-c", config(), "payments", "p2", "--output", "json"}).find("\r\n\r\n"),
            std::string::npos);
}

TEST_F(typed_commands, show_foreign_text_and_let_it_steer_nothing) {
  const std::string harmful = "p\x1b[2J\n1";
  const ended known = ratchet({"explain", "-c", config(), "payments", "--aggregate", harmful});
  EXPECT_EQ(known.out.substr(0, known.out.find('\n')), R"(stream payments, aggregate p\x1b[2J\x0a1)");
  const ended unknown = ratchet({"get", "-c", config(), "payments", harmful + "2"});
  EXPECT_EQ(unknown.err.substr(0, unknown.err.find('\n')),
            R"(ratchet: no snapshot of "p\x1b[2J\x0a12" in stream "payments")");
  const ended usage = ratchet({"scan", "-c", config(), "payments", "\x1b[2J"});
  EXPECT_EQ(usage.status, 64);
  EXPECT_EQ(usage.err.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace ratchet
