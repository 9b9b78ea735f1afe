// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The real command's HTTP pages and log where no broker is needed.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/http_client.hpp"
#include "support/temporary_directory.hpp"
#include "telemetry/http_server.hpp"
#include "test_paths.hpp"
#include "workload/workload_process.hpp"

namespace ratchet {
namespace {

using namespace std::chrono_literals;
using testing::http_get;

constexpr auto k_patience = 60s;

/// A config whose broker is nobody, and what the command says of it.
class health_command : public ::testing::Test {
 protected:
  health_command() {
    std::ofstream{dir / "ratchet.yaml"}
        << "version: 1\nkafka: {brokers: ['127.0.0.1:1'], group: g}\nstate: {path: '"
        << (dir / "state").string()
        << "'}\nstreams:\n  - name: payments\n    topics: [t]\n    start: earliest\n"
           "    envelope: {aggregate: /a, sequence: /s, event_id: /i}\n";
  }
  [[nodiscard]] workload_process start(const std::string& listen, const std::string& command = "run",
                                       const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{
        RATCHET_BINARY, command, "-c", (dir / "ratchet.yaml").string(), "--set", "http.listen=" + listen};
    words.insert(words.end(), more.begin(), more.end());
    auto started = workload_process::start(words, {"NO_COLOR=1"}, dir / "log");
    if (!started) throw std::runtime_error{started.error().message};
    return std::move(started.value());
  }
  [[nodiscard]] std::string log() const {
    std::ifstream in{dir / "log", std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  [[nodiscard]] static bool eventually(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + k_patience;
    while (!done()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(20ms);
    }
    return true;
  }
  /// The port that it picked; 0 where it says none.
  [[nodiscard]] std::uint16_t port() const {
    const std::string all = log();
    const std::string before = "on http://127.0.0.1:";
    const std::size_t at = all.find(before);
    return at == std::string::npos ? std::uint16_t{0}
                                   : static_cast<std::uint16_t>(std::atoi(all.c_str() + at + before.size()));
  }

  support::temporary_directory files;
  const std::filesystem::path& dir{files.path()};
};

TEST_F(health_command, lives_and_is_not_ready_while_no_broker_answers) {
  auto process = start("127.0.0.1:0");
  ASSERT_TRUE(eventually([this] { return port() != 0; })) << log();
  EXPECT_EQ(http_get(port(), "/livez").status, 200);
  ASSERT_TRUE(eventually([this] { return http_get(port(), "/readyz").body == "not ready: connecting\n"; }))
      << http_get(port(), "/readyz").body;
  EXPECT_EQ(http_get(port(), "/readyz").status, 503);
  const auto metrics = http_get(port(), "/metrics");
  EXPECT_EQ(metrics.status, 200);
  EXPECT_NE(metrics.body.find("\nratchet_ready 0\n"), std::string::npos);
  EXPECT_NE(metrics.body.find("ratchet_build_info{version=\""), std::string::npos);
  EXPECT_EQ(log().find("without authentication"), std::string::npos) << "only this machine can reach it";
  ASSERT_TRUE(process.signal(SIGTERM));
  EXPECT_EQ(process.wait(k_patience), 0) << log();
  const std::string said = log();
  EXPECT_NE(said.find(", config " + (dir / "ratchet.yaml").string() + ", state " + (dir / "state").string() +
                      ", store "),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("the run has ended; store "), std::string::npos) << said;
}

TEST_F(health_command, refuses_a_port_that_is_taken_and_says_what_to_type) {
  const auto other = http_server::start("127.0.0.1", 0, [](std::string_view) { return http_answer{}; });
  ASSERT_TRUE(other);
  const std::string taken = other.value()->address();
  auto process = start(taken);
  EXPECT_EQ(process.wait(k_patience), 74) << log();
  const std::string said = log();
  EXPECT_NE(said.find("ratchet: cannot listen on " + taken + " for HTTP"), std::string::npos) << said;
  EXPECT_NE(said.find("--set http.listen=127.0.0.1:0"), std::string::npos);
}

TEST_F(health_command, ends_its_log_of_json_lines_with_another) {
  const auto other = http_server::start("127.0.0.1", 0, [](std::string_view) { return http_answer{}; });
  ASSERT_TRUE(other);
  auto process = start(other.value()->address(), "run", {"--log-format", "json"});
  EXPECT_EQ(process.wait(k_patience), 74);
  const std::string said = log();
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_TRUE(said.starts_with("{\"time\":\"")) << said;
  EXPECT_NE(said.find("\"level\":\"error\",\"code\":\"run_failed\",\"message\":\"cannot listen on "),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("-> another program listens there"), std::string::npos) << said;
}

TEST_F(health_command, warns_once_of_an_address_that_others_can_reach) {
  auto process = start("0.0.0.0:0");
  ASSERT_TRUE(eventually([this] { return log().find("on http://0.0.0.0:") != std::string::npos; })) << log();
  ASSERT_TRUE(process.signal(SIGTERM));
  EXPECT_EQ(process.wait(k_patience), 0);
  const std::string said = log();
  EXPECT_NE(said.find("without authentication"), std::string::npos) << said;
  EXPECT_EQ(said.find("without authentication"), said.rfind("without authentication"));
}

TEST_F(health_command, is_told_of_by_validate) {
  auto process = start("0.0.0.0:9187", "validate");
  EXPECT_EQ(process.wait(k_patience), 0);
  EXPECT_NE(log().find("http on 0.0.0.0:9187: /livez, /readyz, /metrics\n  mind: http.listen: "),
            std::string::npos)
      << log();
}

}  // namespace
}  // namespace ratchet
