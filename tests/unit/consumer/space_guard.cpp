// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/space_guard.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/fake_disk_space.hpp"
#include "support/session_world.hpp"

namespace ratchet::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t k_mebibyte = std::uint64_t{1} << 20U;
constexpr std::uint64_t k_gibibyte = std::uint64_t{1} << 30U;

TEST(space_to_keep, is_half_of_the_memory_limit_but_at_most_a_tenth_of_the_disk) {
  EXPECT_EQ(space_to_keep({}, 1 * k_gibibyte, 1000 * k_gibibyte), 512 * k_mebibyte);
  EXPECT_EQ(space_to_keep({}, 1 * k_gibibyte, 1000 * k_mebibyte), 100 * k_mebibyte);
  EXPECT_EQ(space_to_keep(3 * k_gibibyte, 1 * k_gibibyte, 1000 * k_mebibyte), 3 * k_gibibyte);
  EXPECT_EQ(space_to_keep(0, 1 * k_gibibyte, 1000 * k_gibibyte), 0U) << "off";
}

class a_guarded_disk : public ::testing::Test {
 protected:
  a_guarded_disk() { settings_.state.min_free = 100 * k_mebibyte; }
  space_guard make() const { return {settings_, &disk_}; }

  config settings_;
  fake_disk_space disk_;
  space_guard::time_point now_{1h};
};

TEST_F(a_guarded_disk, is_low_below_the_reserve_and_no_longer_a_quarter_above_it) {
  space_guard guard = make();
  const struct {
    std::uint64_t free;
    bool low;
    bool changed;
  } steps[] = {{100, false, false}, {99, true, true},   {50, true, false},
               {124, true, false},  {125, false, true}, {101, false, false}};
  for (const auto& s : steps) {
    disk_.free = s.free * k_mebibyte;
    now_ += 1s;
    EXPECT_EQ(guard.look(now_), s.changed) << s.free;
    EXPECT_EQ(guard.low(), s.low) << s.free;
    EXPECT_EQ(guard.reserve(), 100 * k_mebibyte) << "what metrics show beside what is free";
  }
}

TEST_F(a_guarded_disk, is_asked_once_a_second_at_most) {
  space_guard guard = make();
  for (int i = 0; i < 100; ++i) (void)guard.look(now_ += 25ms);
  EXPECT_EQ(disk_.looks, 3);
}

TEST_F(a_guarded_disk, that_cannot_be_asked_changes_nothing) {
  space_guard guard = make();
  disk_.free = 0;
  EXPECT_TRUE(guard.look(now_));
  disk_.error = std::make_error_code(std::errc::io_error);
  EXPECT_FALSE(guard.look(now_ + 1s));
  EXPECT_TRUE(guard.low());
}

TEST_F(a_guarded_disk, is_never_low_where_nothing_is_to_be_kept) {
  settings_.state.min_free = 0;
  space_guard guard = make();
  disk_.free = 0;
  EXPECT_FALSE(guard.look(now_));
  EXPECT_FALSE(guard.low());
}

TEST_F(a_guarded_disk, says_what_is_free_and_what_to_do) {
  settings_.state.path = "/var/lib/ratchet";
  space_guard guard = make();
  disk_.free = 41 * k_mebibyte;
  disk_.size = 1 * k_gibibyte;
  (void)guard.look(now_);
  EXPECT_EQ(guard.text(),
            "disk space is low: 41MiB of 1024MiB are free on the file system of /var/lib/ratchet, and 100MiB "
            "are to be kept (state.min_free); it counts as low until 125MiB are free");
  EXPECT_EQ(exit_code(guard.refusal().code), 74);
  EXPECT_NE(guard.refusal().hint.find("make room"), std::string::npos);
}

class a_session_on_a_small_disk : public ::testing::Test {
 protected:
  a_session_on_a_small_disk() {
    w.source.tick = 300ms;
    for (int n = 1; n <= 20; ++n) w.source.produce(k_p0, event("a", n));
  }
  void fill_the_disk() { w.disk.free = 1; }
  void make_room() { w.disk.free = k_gibibyte * 1000; }

  session_world w;
};

TEST_F(a_session_on_a_small_disk, stops_reading_and_goes_on_by_itself_when_there_is_room) {
  std::size_t delivered_when_full = 0;
  w.source.script = {
      [&] { fill_the_disk(); },
      [] {},  // the guard looks
      [&] {
        const status_snapshot shown = w.status.snapshot();
        EXPECT_FALSE(shown.ready);
        EXPECT_NE(shown.ready_reason.find("disk space is low"), std::string::npos) << shown.ready_reason;
        EXPECT_TRUE(w.source.joined());
        delivered_when_full = w.source.delivered();
        for (int n = 21; n <= 30; ++n) w.source.produce(k_p0, event("a", n));
      },
      [] {},
      [&] {
        EXPECT_EQ(w.source.delivered(), delivered_when_full) << "nothing is read meanwhile";
        make_room();
      },
      [] {},
  };
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(delivered_when_full, 20U);
  EXPECT_EQ(w.counted().consumed, 30U);
  EXPECT_EQ(w.source.logs[k_p0].committed, 30);
  EXPECT_TRUE(w.live_at_stop.ready);
  EXPECT_EQ(w.logged("disk space is low"), 1U) << "one line, not one a turn: " << w.logged();
  EXPECT_EQ(w.logged("there is room again"), 1U);
}

TEST_F(a_session_on_a_small_disk, reads_nothing_of_a_new_assignment_either) {
  fill_the_disk();
  w.source.script = {[&] { make_room(); }, [] {}};
  w.source.on_poll = [&](int) {
    if (w.disk.free == 1) {
      EXPECT_EQ(w.source.delivered(), 0U);
    }
  };
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(w.counted().consumed, 20U);
}

TEST_F(a_session_on_a_small_disk, keeps_a_stopped_partition_stopped_when_it_goes_on) {
  for (int i = 0; i < 100; ++i) w.source.produce(at("t", 1), "not json");
  w.source.script = {[&] { fill_the_disk(); }, [] {}, [&] { make_room(); }, [] {}};
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(w.calls.find("resume t[1]"), journal::npos);
  EXPECT_NE(w.calls.find("resume t[0]"), journal::npos);
  EXPECT_FALSE(w.live_at_stop.ready);
  EXPECT_EQ(w.live_at_stop.ready_reason.find("disk"), std::string::npos) << w.live_at_stop.ready_reason;
}

TEST_F(a_session_on_a_small_disk, ends_a_run_that_somebody_waits_for_with_what_was_handled_durable) {
  w.source.most_per_poll = 1;
  w.source.on_poll = [&](int number) {
    if (number == 10) fill_the_disk();
  };
  const session_result ended = w.run_until_end();
  ASSERT_EQ(ended.end, session_end::refused);
  EXPECT_EQ(exit_code(ended.why->code), 74);
  EXPECT_NE(ended.why->message.find("disk space is low"), std::string::npos);
  EXPECT_GT(w.counted().consumed, 0U);
  EXPECT_LT(w.counted().consumed, 20U);
  EXPECT_EQ(w.source.logs[k_p0].committed, static_cast<std::int64_t>(w.counted().consumed));

  make_room();
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.counted().consumed, 20U);
}

}  // namespace
}  // namespace ratchet::testing
