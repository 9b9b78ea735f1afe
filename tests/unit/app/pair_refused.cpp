// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What an instance does whose fence, or whose steps, the brokers refuse: it says why, waits longer each time,
// and lets another instance try.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <system_error>

#include "kafka/kafka_error.hpp"
#include "unit/app/pair_fixture.hpp"

namespace ratchet {
namespace {

using pair_support::expected;
using pair_support::fences;
using pair_support::pair;
using pair_support::pair_source;
using pair_support::patient_clock;
using pair_support::produce;
using pair_support::until_all_is_read;
using replicate::append_request;
using std::chrono::milliseconds;
using std::chrono::minutes;
using testing::memory_slot_log;

constexpr int k_no_right = 29;
constexpr int k_too_large = 10;

/// Time passes with each poll. What the brokers refuse, they refuse until they are told otherwise.
class pair_refused : public pair {
 protected:
  pair_refused() { first.clock = &clock; }
  void refuse_fences(int code) {
    c.log.refuses = [this, code](const append_request& r) {
      if (r.ticket.step != 0) return std::error_code{};
      ++attempts;
      return kafka_error(code);
    };
  }
  void refuse_steps_from(std::uint64_t least, int code) {
    c.log.refuses = [this, least, code](const append_request& r) {
      if (r.ticket.step < least) return std::error_code{};
      ++attempts;
      return kafka_error(code);
    };
  }
  patient_clock clock;
  int attempts{0};
  std::string last;  ///< why it was not ready
};

TEST_F(pair_refused, a_fence_is_named_and_not_repeated_at_once) {
  produce(c, 20);
  refuse_fences(k_no_right);
  int polls = 0;
  int ready = 0;
  std::string why;
  const auto failed = first.run([&](pair_source&, std::atomic<bool>& stop) {
    clock.waited += milliseconds{100};
    if (attempts > 0 && polls++ > 0) {
      const std::string now = first.why_not_ready();
      ready += now.empty() ? 1 : 0;
      if (!now.empty()) why = now;
    }
    if (clock.waited > minutes{5}) stop = true;
  });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_EQ(ready, 0) << "nobody owns the state";
  EXPECT_EQ(
      why,
      "this instance cannot own the state: this user may not write to the topic `payments.ratchet`: "
      "Broker: Topic authorization failed -> an ACL must allow Write (which includes Describe): "
      "kafka-acls.sh --bootstrap-server broker:9092 --add --allow-principal User:NAME --operation Write "
      "--topic payments.ratchet");
  EXPECT_GE(attempts, 8);
  EXPECT_LE(attempts, 20) << "5 minutes, with pauses up to one";
  EXPECT_EQ(fences(c), 0);
}

/// The owner proved its lead by its fence once more, and that is read again behind each attempt.
TEST_F(pair_refused, a_fence_is_named_although_the_log_ends_with_another_one) {
  let_first_read(20);
  std::string fence;
  for (std::int64_t at = c.log.first(); at < c.log.end(); ++at) {
    replicate::log_record one;
    ASSERT_EQ(decode_record(*c.log.at(at), one), replicate::record_fault::none);
    if (one.head.kind == replicate::record_kind::fence) fence = *c.log.at(at);
  }
  c.log.append(fence);
  refuse_fences(k_too_large);
  int ready = 0;
  std::string why;
  milliseconds free{0};
  const auto failed = first.run([&](pair_source&, std::atomic<bool>& stop) {
    clock.waited += milliseconds{100};
    if (c.owner == nullptr) free += milliseconds{100};
    if (attempts > 1) {
      why = first.why_not_ready();
      ready += why.empty() ? 1 : 0;
    }
    if (clock.waited > minutes{5}) stop = true;
  });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_EQ(ready, 0);
  EXPECT_TRUE(why.starts_with("this instance cannot own the state: the brokers refuse its fence")) << why;
  EXPECT_GT(free, minutes{3}) << "another instance may have it";
}

TEST_F(pair_refused, the_slot_is_left_to_another_instance_between_two_attempts) {
  produce(c, 20);
  refuse_fences(k_no_right);
  milliseconds free{0};
  const auto failed = first.run([&](pair_source&, std::atomic<bool>& stop) {
    clock.waited += milliseconds{100};
    if (c.owner == nullptr) free += milliseconds{100};
    if (clock.waited > minutes{5}) stop = true;
  });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_GT(free, minutes{4});
  EXPECT_GT(first.clients(), 4) << "it comes behind other members";
}

TEST_F(pair_refused, a_right_that_is_given_is_noticed_within_a_minute) {
  produce(c, 20);
  refuse_fences(k_no_right);
  const auto failed =
      first.run([&, until = until_all_is_read()](pair_source& s, std::atomic<bool>& stop) mutable {
        clock.waited += milliseconds{100};
        if (clock.waited > minutes{3}) c.log.refuses = {};
        last = first.why_not_ready();
        until(s, stop);
      });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_LT(clock.waited, minutes{4} + std::chrono::seconds{10});
  EXPECT_EQ(first.seen(), expected(c));
  EXPECT_EQ(last, "");
}

TEST_F(pair_refused, a_step_is_named_and_the_lead_does_not_flap) {
  produce(c, 20);
  refuse_steps_from(3, k_too_large);
  std::string why;
  int not_ready = 0;
  int polls = 0;
  const auto failed = first.run([&](pair_source&, std::atomic<bool>& stop) {
    clock.waited += milliseconds{100};
    if (attempts > 0 && polls++ > 1) {
      not_ready += first.why_not_ready().empty() ? 0 : 1;
      why = first.why_not_ready();
    }
    if (clock.waited > minutes{5}) stop = true;
  });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_GE(fences(c), 5);
  EXPECT_LE(fences(c), 20) << "one each minute, at last";
  EXPECT_NE(why.find("the brokers refuse step 3 in the topic `payments.ratchet`: "), std::string::npos)
      << why;
  EXPECT_NE(why.find("`max.message.bytes`"), std::string::npos) << why;
  EXPECT_EQ(not_ready, polls - 2);
}

TEST_F(pair_refused, a_step_that_is_taken_at_last_ends_the_trouble) {
  produce(c, 20);
  refuse_steps_from(3, k_too_large);
  const auto failed =
      first.run([&, until = until_all_is_read()](pair_source& s, std::atomic<bool>& stop) mutable {
        clock.waited += milliseconds{100};
        if (clock.waited > minutes{2}) c.log.refuses = {};
        last = first.why_not_ready();
        if (clock.waited > minutes{2}) until(s, stop);
      });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_EQ(first.seen(), expected(c));
  EXPECT_EQ(last, "");
}

TEST_F(pair_refused, brokers_that_say_nothing_to_a_fence_are_named) {
  produce(c, 20);
  std::string why;
  const auto failed = first.run(
      [&](pair_source&, std::atomic<bool>& stop) {
        clock.waited += milliseconds{100};
        if (const std::string now = first.why_not_ready(); !now.empty()) why = now;
        if (clock.waited > minutes{1}) stop = true;
      },
      [](memory_slot_log& log) { log.lands = false; });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_NE(why.find("the brokers do not answer to the fence of this instance"), std::string::npos) << why;
}

/// It reads slower than others write, or not at all: the log's bounds are told, and no record.
TEST_F(pair_refused, a_member_that_falls_far_behind_is_not_ready) {
  let_first_read(20);
  second.clock = &clock;
  c.owner = &c;  // another instance has the slot
  bool was_ready = false;
  std::string why;
  memory_slot_log* log = nullptr;
  const auto failed = second.run(
      [&](pair_source& s, std::atomic<bool>& stop) {
        clock.waited += milliseconds{100};
        if (!s.has_joined()) return;
        why = second.why_not_ready();
        if (why.empty() && log->most_entries > 0) {
          was_ready = true;
          log->most_entries = 0;
          c.log.append("of a stranger");
        }
        if (was_ready && clock.waited > minutes{1}) stop = true;
      },
      [&](memory_slot_log& made) { log = &made; });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_TRUE(was_ready);
  EXPECT_TRUE(why.starts_with("far behind in the replicated log: what is here may be ")) << why;
}

}  // namespace
}  // namespace ratchet
