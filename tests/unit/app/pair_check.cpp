// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Instances of a pair that could not own the state as they are: the disk is full, or the config has no place
// for what the log has brought since the start.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "support/fake_disk_space.hpp"
#include "unit/app/pair_fixture.hpp"

namespace ratchet {
namespace {

using pair_support::cluster;
using pair_support::expected;
using pair_support::fences;
using pair_support::make_many_bases;
using pair_support::pair;
using pair_support::pair_source;
using pair_support::patient_clock;
using pair_support::produce;
using pair_support::until_all_is_read;
using pair_support::until_polled;
using testing::fake_disk_space;

constexpr const char* k_sink = "receipts";

/// Nobody listens there.
void publish_to_sink(config& of) {
  sink_config& sink = of.sinks.emplace_back();
  sink.name = k_sink;
  sink.http.url = "http://127.0.0.1:9/x";
  sink.first_pause = sink.most_pause = std::chrono::minutes{1};
  of.streams.front().emit.emplace_back().topic = std::string{k_sink_prefix} + k_sink;
}

void expect_runs(const std::optional<problem>& failed) {
  ASSERT_FALSE(failed) << failed->message << " -> " << failed->hint;
}

/// Nothing is published any more, and what waits is thrown away.
void discard_messages(config& of) {
  sink_config away;
  away.name = k_sink;
  away.kind = sink_config::kind_of::discard;
  of.sinks = {away};
}

class pair_check : public pair {
 protected:
  std::string why() const { return second.why_not_ready(); }
  bool is_told(const std::string& text) const { return why().find(text) != std::string::npos; }
};

TEST_F(pair_check, messages_for_a_sink_that_the_config_lacks_keep_an_instance_out_of_the_group) {
  first.change = publish_to_sink;
  let_first_read(8);
  const int before = fences(c);
  const auto failed = second.run([&, left = 200](pair_source& s, std::atomic<bool>& stop) mutable {
    EXPECT_FALSE(s.has_joined());
    if (--left > 0) return;
    EXPECT_TRUE(is_told("8 messages for the sink `receipts` not sent yet")) << why();
    EXPECT_TRUE(is_told("discard: true")) << why();
    stop = true;
  });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_EQ(fences(c), before) << "it never owned the state";
  EXPECT_EQ(second.seen(), expected(c)) << "it follows on";
}

TEST_F(pair_check, a_start_does_not_ask_of_a_state_that_the_log_has_left_behind) {
  first.change = publish_to_sink;
  let_first_read(8);
  c.owner = &c;
  second.change = publish_to_sink;
  expect_runs(second.run(until_polled(50)));
  c.owner = nullptr;
  first.change = discard_messages;
  expect_runs(first.run(until_all_is_read()));
  second.change = nullptr;  // its own directory still has them
  produce(c, 4);
  const auto failed = second.run(until_all_is_read());
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_EQ(second.seen(), expected(c));
}

TEST_F(pair_check, a_lead_that_finds_such_messages_is_given_back) {
  let_first_read(4);
  first.change = publish_to_sink;
  c.owner = &c;
  patient_clock clock;  // it looks once
  second.clock = &clock;
  int polls = 0;
  int given_to = 0;
  bool has_given_back = false;
  const auto failed = second.run([&](pair_source& s, std::atomic<bool>& stop) {
    if (given_to > 0 && second.clients() > given_to) {  // it has left the client that was given the slot
      has_given_back = true;
      EXPECT_FALSE(s.has_joined());
      stop = is_told(k_sink);
      return;
    }
    if (!s.has_joined() || ++polls != 3) return;
    EXPECT_EQ(why(), "") << "it is a standby";
    c.owner = nullptr;
    produce(c, 4);
    expect_runs(first.run(until_all_is_read()));
    s.win();
    given_to = second.clients();
  });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_TRUE(has_given_back);
  EXPECT_EQ(c.owner, nullptr) << "another instance may go on";
  EXPECT_EQ(second.seen(), expected(c));
}

TEST_F(pair_check, a_standby_leaves_the_group_while_such_messages_wait_and_some_seconds_more) {
  let_first_read(4);
  first.change = publish_to_sink;
  c.owner = &c;
  patient_clock clock;
  second.clock = &clock;
  int step = 0;
  bool has_joined = false;
  const auto failed = second.run([&](pair_source& s, std::atomic<bool>& stop) {
    clock.waited += std::chrono::milliseconds{100};
    switch (step) {
      case 0:
        if (!s.has_joined()) return;
        c.owner = nullptr;
        produce(c, 4);
        expect_runs(first.run(until_all_is_read()));
        c.owner = &c;
        ++step;
        return;
      case 1:
        if (second.clients() == 1 || !is_told(k_sink)) return;
        first.change = discard_messages;
        c.owner = nullptr;
        expect_runs(first.run(until_all_is_read()));
        c.owner = &c;
        clock.waited += std::chrono::seconds{2};
        ++step;
        return;
      default:
        if (++step < 20) {
          EXPECT_FALSE(s.has_joined()) << "each join disturbs the owner";
          return;
        }
        clock.waited += std::chrono::seconds{1};
        has_joined = s.has_joined() && why().empty();
        if (has_joined) stop = true;
        if (step >= 200) stop = true;
    }
  });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_TRUE(has_joined);
}

/// Two streams, in the order of their numbers.
void with_two_streams(config& of) {
  of.streams.insert(of.streams.begin(), stream_named("other", "u"));
}

void without_payments(config& of) {
  with_two_streams(of);
  of.streams.pop_back();
}

TEST_F(pair_check, a_dropped_stream_that_holds_something_by_now_is_noticed) {
  first.change = second.change = with_two_streams;
  c.owner = &c;
  ASSERT_FALSE(second.run(until_polled(20))) << "nothing is in its directory";
  c.owner = nullptr;
  let_first_read(8);
  const int before = fences(c);
  second.change = without_payments;
  const auto failed = second.run([&, left = 200](pair_source& s, std::atomic<bool>& stop) mutable {
    EXPECT_FALSE(s.has_joined());
    if (--left > 0) return;
    EXPECT_TRUE(is_told("holds stream \"payments\" that the config does not have")) << why();
    stop = true;
  });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_EQ(fences(c), before);
}

TEST_F(pair_check, a_topic_that_moved_to_another_stream_is_noticed) {
  first.change = second.change = with_two_streams;
  c.owner = &c;
  expect_runs(second.run(until_polled(20)));
  c.owner = nullptr;
  let_first_read(8);
  second.change = [](config& of) {
    with_two_streams(of);
    std::swap(of.streams.front().topics, of.streams.back().topics);
  };
  const auto failed = second.run([&, left = 200](pair_source& s, std::atomic<bool>& stop) mutable {
    EXPECT_FALSE(s.has_joined());
    if (--left > 0) return;
    EXPECT_TRUE(is_told("gives a topic to another stream")) << why();
    stop = true;
  });
  ASSERT_FALSE(failed) << failed->message;
}

class pair_disk : public pair_check {
 protected:
  void SetUp() override {
    second.space = &disk;
    second.clock = &clock;
  }
  void fill() { disk.free = std::uint64_t{1} << 20U; }
  void empty() { disk.free = disk.size; }

  fake_disk_space disk;
  patient_clock clock;
};

TEST_F(pair_disk, a_standby_reads_the_log_no_further_while_its_disk_is_low) {
  let_first_read(20);
  produce(c, 4);
  fill();
  int polls = 0;
  const auto failed =
      second.run([&, until = until_all_is_read()](pair_source& s, std::atomic<bool>& stop) mutable {
        clock.waited += std::chrono::milliseconds{100};
        if (++polls < 100) {
          EXPECT_FALSE(s.has_joined());
          EXPECT_EQ(second.shown().slot.value_or(slot_status{}).step, 0U);
          EXPECT_TRUE(polls < 3 || is_told("disk space is low: ")) << why();
          return;
        }
        empty();
        until(s, stop);
      });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_EQ(second.seen(), expected(c)) << "it went on by itself";
}

TEST_F(pair_disk, a_standby_whose_disk_gets_low_leaves_the_group) {
  let_first_read(20);
  c.owner = &c;
  int polls = 0;
  int clients = 0;
  std::uint64_t step = 0;
  bool is_back = false;
  const auto failed = second.run(
      [&, until = until_all_is_read()](pair_source& s, std::atomic<bool>& stop) mutable {
        clock.waited += std::chrono::milliseconds{100};
        if (polls == 0) {
          if (!s.has_joined()) return;
          step = second.shown().slot->step;
          clients = second.clients();
          c.owner = nullptr;
          fill();
        }
        if (++polls < 20) return;
        if (polls == 20) {
          EXPECT_EQ(second.clients(), clients + 1) << "it left the group";
          EXPECT_TRUE(is_told("disk space is low: ")) << why();
          produce(c, 4);
          expect_runs(first.run(until_all_is_read()));
        }
        if (polls < 40) {
          EXPECT_FALSE(s.has_joined());
          EXPECT_EQ(second.shown().slot->step, step) << "it has read on";
          return;
        }
        if (polls == 40) empty();
        if (s.has_joined() && !std::exchange(is_back, true)) {
          EXPECT_EQ(second.shown().slot->step, first.step()) << "it joins when it has read all";
        }
        until(s, stop);
      },
      [](testing::memory_slot_log& log) { log.most_entries = 1; });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_TRUE(is_back);
  EXPECT_GT(second.step(), step);
  EXPECT_EQ(second.seen(), expected(c));
}

TEST_F(pair_disk, a_copy_of_the_state_is_read_no_further_while_the_disk_is_low) {
  first.change = make_many_bases;
  let_first_read(60);
  ASSERT_GT(c.log.first(), 0);
  int polls = 0;
  std::uint64_t read = 0;
  const auto failed =
      second.run([&, until = until_all_is_read()](pair_source& s, std::atomic<bool>& stop) mutable {
        clock.waited += std::chrono::milliseconds{100};
        const auto slot = second.shown().slot;
        if (polls == 0) {
          if (!slot || slot->restored.value_or(0) == 0) return;
          clock.waited += std::chrono::seconds{1};
          fill();
        }
        if (++polls == 3) read = second.shown().slot->restored.value_or(0);
        if (polls < 50) return;
        if (polls == 50) {
          EXPECT_EQ(second.shown().slot->restored.value_or(0), read) << "it has read on";
          EXPECT_TRUE(is_told("disk space is low: ")) << why();
          empty();
          clock.waited += std::chrono::seconds{1};
        }
        until(s, stop);
      });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_EQ(second.seen(), expected(c));
}

}  // namespace
}  // namespace ratchet
