// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "crash/fault_round.hpp"
#include "support/environment_number.hpp"

/// The real binary and a real broker of its own, killed, stopped and paused in turns, and the group
/// rebalanced, while records are produced. tools/crash sets these:
///   RATCHET_FAULTS       how many (default 100)
///   RATCHET_CRASH_SEED   of the faults and the records (default 1)
///   RATCHET_FAULT_ROUND  the first round (default 0): with the seed it repeats the faults of one round
///   RATCHET_FAULT_LOG    a file that gets a line for each fault, and by which a campaign goes on where it
///   was
///                        ended
namespace ratchet::testing {
namespace {

/// A new topic, group and state after so many: what a round compares stays small.
constexpr std::uint64_t k_faults_in_a_round = 34;

std::string machine() {
  utsname system{};
  ::uname(&system);
  return std::to_string(std::thread::hardware_concurrency()) + " cores, " + system.machine + ", " +
         system.sysname;
}

enum class round_end : std::uint8_t { right, wrong, void_of_meaning };

/// Where it found something a failure has been recorded, with the seed and the trace.
round_end run_round(local_broker& broker, std::uint64_t seed, std::uint64_t round, std::uint64_t faults,
                    std::uint64_t before, const fault_log& log) {
  const std::string name = "round " + std::to_string(round);
  fault_round one{broker, mix64(seed * 1'000'003 + round)};
  std::uint64_t number = before;
  std::string wrong;
  try {
    one.run(faults, [&](fault_kind kind) {
      log.write(name + " fault " + std::to_string(++number) + " " + name_of(kind));
    });
  } catch (const feed_gave_up& e) {
    log.write(name + " is void: the producer gave up: " + e.what());
    return round_end::void_of_meaning;
  } catch (const std::exception& e) {
    wrong = e.what();
  }
  const auto done = one.result();
  if (!wrong.empty()) {
    log.write(name + " FAILED: " + wrong);
    ADD_FAILURE() << "RATCHET_CRASH_SEED=" << seed << " RATCHET_FAULT_ROUND=" << round
                  << ", state and logs in " << one.directory() << "\n"
                  << wrong << "\n"
                  << one.trace();
    return round_end::wrong;
  }
  const std::string text = name + " is right: " + std::to_string(faults) + " faults, " +
                           std::to_string(done.starts) + " starts, " + std::to_string(done.records) +
                           " records, " + std::to_string(done.checks) + " checks of the state, " +
                           std::to_string(done.looks) + " looks at the offsets, " +
                           std::to_string(done.longest_wait.count()) + " s the longest wait";
  log.write(text);
  std::printf("seed %llu %s\n", static_cast<unsigned long long>(seed), text.c_str());
  std::fflush(stdout);
  EXPECT_GE(done.looks, faults) << "the committed offsets were hardly looked at";
  return round_end::right;
}

TEST(fault_campaign, leaves_the_right_state_whatever_befalls_the_binary_and_its_broker) {
  if (std::getenv("RATCHET_TEST_BROKERS") != nullptr) {
    GTEST_SKIP() << "RATCHET_TEST_BROKERS names a cluster that is not ours to kill";
  }
  const auto wanted = number_from("RATCHET_FAULTS", 100);
  const auto seed = number_from("RATCHET_CRASH_SEED", 1);
  const char* path = std::getenv("RATCHET_FAULT_LOG");
  const fault_log log{path == nullptr ? "" : path, seed};
  auto [round, done] = log.done();
  round += number_from("RATCHET_FAULT_ROUND", 0);
  log.write("begins at fault " + std::to_string(done + 1) + " of " + std::to_string(wanted) + " on " +
            machine());
  local_broker broker;
  std::uint64_t voids = 0;
  for (; done < wanted; ++round) {
    const auto faults = std::min(k_faults_in_a_round, wanted - done);
    const auto end = run_round(broker, seed, round, faults, done, log);
    if (end == round_end::wrong) return;
    if (end == round_end::right) done += faults;
    if (end == round_end::void_of_meaning) ++voids;
    ASSERT_LE(voids, 3 + round / 5) << "the producer gives up all the time";
  }
  log.write("ends: " + std::to_string(done) + " faults in " + std::to_string(round) + " rounds, all right");
}

}  // namespace
}  // namespace ratchet::testing
