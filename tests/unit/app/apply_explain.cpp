// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What is told of records and of events that waited, whatever the cut into steps.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/app/apply_world.hpp"

namespace ratchet {
namespace {

/// Text of "bad" fails for good, "later" at its first attempt.
struct failing_by_value {
  static constexpr reducer_traits traits{.name = "failing", .version = 1};
  outcome apply(const event& e, state& s, effects&) const {
    if (e.payload == R"("bad")") return give_up(make_error_code(errc::internal), "it is bad");
    if (e.payload == R"("later")" && e.attempt == 1) return retry(make_error_code(errc::internal), "later");
    s.assign(e.payload);
    return done();
  }
};

std::string event(const std::string& aggregate, int n, const std::string& value = "1", int minute = 0) {
  return R"({"p":")" + aggregate + R"(","n":)" + std::to_string(n) + R"(,"at":"2024-01-01T12:)" +
         (minute < 10 ? "0" : "") + std::to_string(minute) + R"(:00Z","v":)" + value + "}\n";
}

class apply_explain : public apply_command {
 protected:
  apply_explain() {
    own_.add("payments", failing_by_value{});
    stream().reducer.kind = reducer_config::kind_of::own;
    stream().dedup.window = std::chrono::minutes{1};
    stream().retry = {.attempts = 8, .backoff = std::chrono::hours{1}, .most = std::chrono::hours{1}};
  }
  stream_config& stream() { return settings_.streams[0]; }

  static std::string reason(wait_reason why, const std::string& error) {
    return std::string{" "} + name_of(why) + (error.empty() ? "" : ":" + error);
  }
  /// Of a directory of its own for each size of steps.
  std::string told(const std::string& input, std::size_t step_records) {
    std::string told;
    const auto place = [](const topic_partition& where, std::int64_t offset) {
      return (where.topic.empty() ? "" : where.topic + "@") + std::to_string(offset);
    };
    request_.explain = [&](const stream_definition&, const decoded_event& e, decision d,
                           const event_wait* waits) {
      told +=
          place(*e.from->where, e.from->offset) + " " + std::string{e.aggregate} + " " + name_of(d.verdict);
      if (d.verdict == verdict::rejected) told += std::string{" "} + name_of(d.reason);
      if (waits != nullptr) told += reason(waits->reason, waits->error);
      told += "\n";
    };
    request_.explain_fate = [&](const stream_definition&, std::string_view aggregate, const waiting_fate& f) {
      told += "  " + place(f.where, f.offset) + " " + std::string{aggregate} + "/" +
              std::to_string(f.sequence.number) + " " + name_of(f.end) +
              (f.error.empty() ? "" : reason(wait_reason::reducer, f.error)) + "\n";
    };
    reopen();
    settings_.state.path += "+";
    settings_.step_records = step_records;
    expect_applied({file("in", input)});
    return told;
  }
  void expect_told(const std::string& input, const std::string& want) {
    for (const std::size_t size : {1U, 2U, 3U, 5U, 1000U}) {
      EXPECT_EQ(told(input, size), want) << "steps of " << size;
    }
  }
};

TEST_F(apply_explain, tells_of_a_record_what_the_gate_said_and_of_a_waiting_event_what_came_of_it) {
  stream().order = order::strict;
  expect_told(
      event("a", 1) + event("a", 4) + event("b", 2) + event("a", 3) + event("a", 3, "7") + event("a", 2) +
          event("b", 1) + event("a", 5),
      "1 a applied\n2 a parked gap\n3 b parked gap\n4 a parked gap\n5 a rejected conflict\n6 a applied\n  4 "
      "a/3 released\n"
      "  2 a/4 released\n7 b applied\n  3 b/2 released\n8 a applied\n");
  EXPECT_EQ(counted().applied, 7U);
  EXPECT_EQ(counted().rejected_conflict, 1U) << "another payload under the number of one that waits";
  EXPECT_EQ(counted().waiting(), 0U);
}

TEST_F(apply_explain, tells_of_a_released_event_that_dies) {
  stream().order = order::strict;
  expect_told(event("a", 2, R"("bad")") + event("a", 3) + event("a", 1),
              "1 a parked gap\n2 a parked behind\n3 a applied\n  1 a/2 dead reducer:it is bad\n");
  EXPECT_EQ(counted().waiting_dead, 1U);
}

TEST_F(apply_explain, tells_what_each_event_waits_for) {
  stream().order = order::strict;
  stream().waiting.per_aggregate = 2;
  stream().envelope.epoch = "/e";
  const auto of_epoch = [](int epoch, const std::string& e) {
    return e.substr(0, e.size() - 2) + ",\"e\":" + std::to_string(epoch) + "}\n";
  };
  expect_told(of_epoch(0, event("a", 1)) + of_epoch(1, event("a", 1)) + of_epoch(1, event("a", 2)) +
                  of_epoch(1, event("a", 3)) + of_epoch(1, event("a", 4)),
              "1 a applied\n2 a parked epoch\n3 a parked behind\n4 a dead limit\n5 a dead limit\n");
}

TEST_F(apply_explain, says_of_a_deferred_event_that_it_waits_for_its_turn_alone) {
  stream().order = order::strict;
  stream().handling = handling::deferred;
  const std::string all = told(event("a", 1) + event("a", 2) + event("a", 4), 1);
  for (const char* line : {"1 a parked ready\n", "2 a parked ready\n", "3 a parked gap\n"})
    EXPECT_NE(all.find(line), std::string::npos) << line << " in\n" << all;
}

TEST_F(apply_explain, tells_of_a_failed_event_that_a_newer_one_makes_needless) {
  expect_told(event("a", 2, R"("bad")") + event("a", 1, R"("later")") + event("b", 1) + event("a", 3),
              "1 a dead reducer:it is bad\n2 a retrying reducer:later\n3 b applied\n4 a applied\n  2 a/1 "
              "superseded\n  1 a/2 superseded\n");
  EXPECT_EQ(counted().superseded, 2U);
}

TEST_F(apply_explain, tells_of_what_is_released_behind_a_gap_that_is_too_old) {
  stream().order = order::strict;
  stream().gap = {gap_policy::skip, std::chrono::minutes{5}};
  expect_told(event("a", 1) + event("a", 3) + event("b", 2) + event("z", 1, "1", 6) + event("a", 2, "1", 6),
              "1 a applied\n2 a parked gap\n3 b parked gap\n4 z applied\n  2 a/3 released\n  3 b/2 released\n"
              "5 a rejected late\n");
}

}  // namespace
}  // namespace ratchet
