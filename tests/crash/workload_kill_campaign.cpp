// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "broker/kafka_fixture.hpp"
#include "kafka/admin.hpp"
#include "support/environment_number.hpp"
#include "test_paths.hpp"
#include "workload/workload_campaign.hpp"
#include "workload/workload_kafka.hpp"

/// The real binary, killed with SIGKILL at random moments while records flow; after every kill `ratchet
/// verify` must find nothing, and at the end the state must be the oracle's. tools/crash sets these:
///   RATCHET_CRASH_KILLS   how many kills must land (default: 20 on the embedded broker, 32 on a real one)
///   RATCHET_CRASH_SEED    of the streams and the moments (default 1); printed, so that a run can be repeated
///   RATCHET_TEST_BROKERS  a real cluster to use; without it one is started with tools/kafka
namespace ratchet {
namespace {

using testing::number_from;

namespace fs = std::filesystem;

/// The stream of a round has a fixed size: a new one, on a new topic and an empty state, after so many kills.
constexpr std::uint32_t k_kills_in_a_round = 16;
constexpr std::size_t k_step_records[] = {5'000, 300, 2'000};  // by seed: many cuts, and few

/// So long a killed member stays in its group. Less than 6 s only our own brokers accept.
const char* session_ms(const std::string& brokers) {
  if (brokers.empty()) return k_embedded_session_ms;
  return std::getenv("RATCHET_TEST_BROKERS") != nullptr ? "6000" : "2000";
}

class temporary_directory {
 public:
  temporary_directory() {
    auto path = (fs::temp_directory_path() / "ratchet-crash-XXXXXX").string();
    EXPECT_NE(::mkdtemp(path.data()), nullptr);
    path_ = path;
  }
  /// A failed test leaves its state and its logs to be looked at.
  ~temporary_directory() {
    std::error_code ignored;
    if (!::testing::Test::HasFailure()) fs::remove_all(path_, ignored);
  }
  temporary_directory(const temporary_directory&) = delete;
  temporary_directory& operator=(const temporary_directory&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

workload_dials dials_of_round(std::uint64_t seed, std::uint32_t kills) {
  workload_dials dials;
  dials.events = std::max(90'000U, 15'000 * kills);
  dials.aggregates = 5'000;
  dials.zipf = 0.6;
  dials.malformed = 0.002;
  dials.conflicts = 0.002;
  dials.seed = seed;
  dials.start = start_for_end_now(dials);
  return dials;
}

/// `landed` grows by the kills that landed while records flowed. Brokers empty: an embedded one.
void run_round(const std::string& brokers, std::uint64_t seed, std::uint32_t kills, std::uint64_t& landed,
               std::size_t step_records) {
  SCOPED_TRACE("RATCHET_CRASH_SEED=" + std::to_string(seed));
  const temporary_directory directory;
  auto stream = workload_stream::make(dials_of_round(seed, kills)).value();
  kafka_target target{brokers, directory.path().filename().string(), 8, {}};
  std::unique_ptr<embedded_broker> embedded;
  if (brokers.empty()) {
    target.partitions = embedded_partitions(stream.dials());
    auto started = start_embedded(target);
    ASSERT_TRUE(started) << to_text(started.error());
    embedded = std::move(started).value();
  } else if (const auto created = create_target(target); !created) {
    FAIL() << to_text(created.error());
  }
  auto sink = make_kafka_sink(target);
  ASSERT_TRUE(sink) << to_text(sink.error());
  workload_oracle oracle{stream};
  const auto filled = fill(*sink.value(), stream, oracle, [](std::uint64_t) { return true; });
  ASSERT_TRUE(filled) << to_text(filled.error());

  campaign_plan plan;
  plan.binary = RATCHET_BINARY;
  plan.directory = directory.path();
  plan.state = directory.path() / "state";
  plan.brokers = target.brokers;
  plan.topic = plan.group = target.topic;
  plan.properties = {{"session.timeout.ms", session_ms(brokers)}, {"heartbeat.interval.ms", "300"}};
  plan.kills = kills;
  plan.seed = seed;
  plan.step_records = step_records;
  if (brokers.empty()) plan.restart_delay = k_embedded_restart_delay;
  plan.verify = true;
  const auto outcome = run_campaign(plan, oracle);
  ASSERT_TRUE(outcome) << to_text(outcome.error()) << directory.path();
  EXPECT_EQ(outcome.value().fault, "") << directory.path();
  ASSERT_FALSE(outcome.value().kills.empty()) << "no kill landed while records flowed";
  landed += outcome.value().kills.size();
  std::uint64_t again = 0;
  for (const auto& kill : outcome.value().kills) {
    EXPECT_GT(kill.read_again, 0U);
    again += kill.read_again;
  }
  std::printf("seed %llu: %zu kills (%u more outside the flow), %llu records read again; %s\n",
              static_cast<unsigned long long>(seed), outcome.value().kills.size(), outcome.value().missed,
              static_cast<unsigned long long>(again), outcome.value().verdict.c_str());
  std::fflush(stdout);
  EXPECT_TRUE(brokers.empty() || delete_topic(brokers, target.topic));
}

/// Where a round's stream ended before all of its kills had landed, another round makes up for them.
void kill_in_rounds(const std::string& brokers, std::uint64_t kills) {
  auto seed = number_from("RATCHET_CRASH_SEED", 1);
  for (std::uint64_t landed = 0; landed < kills && !::testing::Test::HasFailure(); ++seed) {
    const auto now = static_cast<std::uint32_t>(std::min<std::uint64_t>(kills - landed, k_kills_in_a_round));
    run_round(brokers, seed, now, landed, k_step_records[seed % std::size(k_step_records)]);
  }
}

TEST(kill_campaign, leaves_the_right_state_on_the_embedded_broker) {
  kill_in_rounds("", number_from("RATCHET_CRASH_KILLS", 20));
}

TEST(kill_campaign, leaves_the_right_state_on_a_real_broker) {
  kill_in_rounds(ratchet::testing::shared_brokers(), number_from("RATCHET_CRASH_KILLS", 32));
}

}  // namespace
}  // namespace ratchet
