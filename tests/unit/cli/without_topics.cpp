// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The real command on configs in which no stream has topics: `apply` feeds them, and `run` sends what waits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "kafka/embedded_broker.hpp"
#include "support/recording_http_server.hpp"
#include "support/temporary_directory.hpp"
#include "unit/cli/command.hpp"
#include "workload/workload_process.hpp"

namespace ratchet::cli_testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using testing::recording_http_server;

constexpr auto k_patience = 60s;

class a_config_without_topics : public ::testing::Test {
 protected:
  a_config_without_topics() {
    std::ofstream{directory_ / "events"} << R"({"a":"p1","n":1,"t":"paid"})"
                                         << "\n"
                                         << R"({"a":"p2","n":1,"t":"paid"})"
                                         << "\n";
  }
  [[nodiscard]] std::string file() const { return (directory_ / "f.yaml").string(); }
  /// `top`: lines before the streams; `more`: lines of the one stream.
  void write_config(const std::string& top, const std::string& more) const {
    std::ofstream{file()} << "version: 1\nstate: {path: " << (directory_ / "state").string() << "}\n"
                          << top << "streams:\n  - name: payments\n    dedup: off\n"
                          << "    envelope: {aggregate: /a, sequence: /n, type: /t}\n"
                          << more;
  }
  [[nodiscard]] ended ratchet(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin() + 1, {"-c", file()});
    return run_ratchet(directory_, arguments);
  }
  [[nodiscard]] ended apply() const { return ratchet({"apply", (directory_ / "events").string()}); }
  [[nodiscard]] workload_process start() const {
    auto started = workload_process::start({RATCHET_BINARY, "run", "-c", file()}, {}, directory_ / "log");
    if (!started) throw std::runtime_error{started.error().message};
    return std::move(started.value());
  }
  [[nodiscard]] static bool eventually(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + k_patience;
    while (!done()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(20ms);
    }
    return true;
  }

  support::temporary_directory files_;
  const std::filesystem::path& directory_{files_.path()};
};

TEST_F(a_config_without_topics, sends_to_its_sink_what_apply_left) {
  const recording_http_server server{[](const auto&) { return recording_http_server::answer{}; }};
  write_config("sinks: [{name: receipts, http: {url: '" + server.url() + "'}}]\n",
               "    emit: {sink: receipts}\n");
  ASSERT_EQ(apply().status, 0);
  const ended sent = ratchet({"run", "--until-end"});
  EXPECT_EQ(sent.status, 0) << sent.err;
  EXPECT_EQ(server.requests().size(), 2U);
  EXPECT_THAT(ratchet({"status"}).out, Not(HasSubstr("not sent yet")));
  EXPECT_EQ(ratchet({"run", "--until-end"}).status, 0) << "also where nothing waits";
  EXPECT_EQ(server.requests().size(), 2U);
}

TEST_F(a_config_without_topics, is_served_until_somebody_stops_it) {
  const recording_http_server server{[](const auto&) { return recording_http_server::answer{}; }};
  write_config("sinks: [{name: receipts, http: {url: '" + server.url() + "'}}]\n",
               "    emit: {sink: receipts}\n");
  ASSERT_EQ(apply().status, 0);
  auto process = start();
  EXPECT_TRUE(eventually([&] { return server.requests().size() == 2U; })) << content_of(directory_ / "log");
  EXPECT_TRUE(eventually([&] { return ratchet({"status"}).out.starts_with("ready"); }));
  ASSERT_TRUE(process.signal(SIGTERM));
  EXPECT_EQ(process.wait(k_patience), 0) << content_of(directory_ / "log");
}

TEST_F(a_config_without_topics, says_so_where_nobody_takes_what_waits) {
  write_config("sinks: [{name: receipts, http: {url: 'http://127.0.0.1:9/'}}]\n",
               "    emit: {sink: receipts}\n");
  ASSERT_EQ(apply().status, 0);
  const ended sent = ratchet({"run", "--until-end"});
  EXPECT_EQ(sent.status, 1);
  EXPECT_THAT(sent.err, HasSubstr("2 messages are not sent yet"));
  EXPECT_THAT(sent.err, HasSubstr("ratchet status"));
}

TEST_F(a_config_without_topics, sends_to_kafka_also_where_brokers_are_named_later) {
  auto broker = embedded_broker::start();
  ASSERT_TRUE(broker);
  ASSERT_TRUE(broker.value()->create_topic("cashback", 1));
  write_config("", "");
  ASSERT_EQ(apply().status, 0);  // into a directory that has no group
  std::ofstream{directory_ / "events"} << R"({"a":"p1","n":2,"t":"paid"})"
                                       << "\n";
  write_config("kafka: {brokers: ['" + broker.value()->bootstrap() + "'], group: g}\n",
               "    emit: {topic: cashback}\n");
  ASSERT_EQ(apply().status, 0);
  EXPECT_THAT(ratchet({"status"}).out, HasSubstr("outbox: 1 message not sent yet"));
  const ended sent = ratchet({"run", "--until-end"});
  EXPECT_EQ(sent.status, 0) << sent.err;
  EXPECT_THAT(ratchet({"status"}).out, Not(HasSubstr("not sent yet")));
}

TEST_F(a_config_without_topics, that_publishes_to_kafka_names_the_brokers) {
  for (const char* more : {"    emit: {topic: cashback}\n", "    dead_letter: {topic: dlq}\n",
                           "    rejections: {topic: answers}\n", "    outputs: [cashback]\n"}) {
    write_config("", more);
    const ended checked = ratchet({"validate"});
    EXPECT_EQ(checked.status, 78) << more;
    EXPECT_THAT(checked.err, HasSubstr("kafka: is missing; published messages need kafka")) << more;
  }
  write_config("sinks: [{name: receipts, http: {url: 'http://127.0.0.1:9/'}}]\n",
               "    emit: {sink: receipts}\n");
  EXPECT_EQ(ratchet({"validate"}).status, 0);
}

}  // namespace
}  // namespace ratchet::cli_testing
