// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// A disk that takes small writes and no large ones, by a limit of this process.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <string>

#include "kafka/embedded_broker.hpp"
#include "ratchet/ratchet.hpp"
#include "support/kafka_testing.hpp"
#include "support/temporary_directory.hpp"

namespace ratchet::testing {
namespace {

/// No file of this process grows above so many bytes while this lives.
class files_limited {
 public:
  explicit files_limited(rlim_t bytes) : signal_{std::signal(SIGXFSZ, SIG_IGN)} {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  ~files_limited() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }
  files_limited(const files_limited&) = delete;
  files_limited& operator=(const files_limited&) = delete;

 private:
  rlimit before_{};
  void (*signal_)(int);
};

TEST(a_run_whose_writes_fail_for_good, ends_though_the_small_steps_of_its_sessions_are_written) {
  const support::temporary_directory files;
  auto broker = embedded_broker::start();
  ASSERT_TRUE(broker);
  ASSERT_TRUE(broker.value()->create_topic("t", 1));
  auto producer = record_producer::make(broker.value()->bootstrap(), {});
  ASSERT_TRUE(producer);
  for (int n = 1; n <= 40; ++n) {
    const std::string value =
        R"({"a":"p)" + std::to_string(n) + R"(","n":1,"x":")" + std::string(10'000, 'x') + "\"}";
    ASSERT_TRUE(producer.value()->send("t", partition_id{0}, "k", value));
  }
  ASSERT_TRUE(producer.value()->flush(k_patience));
  const auto settings = parse_config(
      "version: 1\nkafka: {brokers: [\"" + broker.value()->bootstrap() +
          "\"], group: g, properties: {session.timeout.ms: 6000, heartbeat.interval.ms: 300}}\nstate: "
          "{path: " +
          (files.path() / "state").string() +
          "}\nstreams:\n  - {name: payments, topics: [t], start: earliest, dedup: off, envelope: "
          "{aggregate: /a, sequence: /n}, reducer: {kind: replace}}\n",
      "f.yaml");
  ASSERT_TRUE(settings) << to_text(settings.error());
  auto opened = app::open(*settings, reducers{});
  ASSERT_TRUE(opened) << to_text(opened.error());
  {
    const files_limited limit{128U << 10U};
    const auto ended = opened.value().run(until_end());
    ASSERT_FALSE(ended);
    EXPECT_NE(ended.error().message.find("File too large"), std::string::npos) << to_text(ended.error());
    EXPECT_EQ(exit_code(ended.error().code), 74);
  }
  // Nothing is lost once there is room.
  const auto ended = opened.value().run(until_end());
  ASSERT_TRUE(ended) << to_text(ended.error());
  EXPECT_TRUE(opened.value().read("payments", "p40"));
}

}  // namespace
}  // namespace ratchet::testing
