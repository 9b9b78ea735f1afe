// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Instances whose log is cut before a whole copy of the state: whoever comes later begins there.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "replicate/base_record.hpp"
#include "replicate/log_record.hpp"
#include "unit/app/pair_fixture.hpp"

namespace ratchet {
namespace {

using pair_support::expected;
using pair_support::instance;
using pair_support::make_many_bases;
using pair_support::pair;
using pair_support::pair_source;
using pair_support::produce;
using pair_support::until_all_is_read;
using pair_support::until_polled;
using pair_support::until_refused;
using testing::memory_slot_log;

TEST_F(pair, an_owner_cuts_the_log_before_a_base_and_others_begin_there) {
  first.change = make_many_bases;
  let_first_read(60);
  EXPECT_GT(c.log.first(), 0) << "it was cut";
  EXPECT_GT(c.bases.first(), 0) << "so were the bases before the newest";
  produce(c, 10);
  const auto failed = second.run(until_all_is_read());
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_EQ(second.seen(), expected(c));
}

TEST_F(pair, an_owner_that_may_be_late_cuts_nothing) {
  let_first_read(60);
  // It has nothing to append, so it hears of another fence only when it asks.
  first.change = make_many_bases;
  bool has_fenced = false;
  memory_slot_log* log = nullptr;
  memory_slot_log watcher{c.bases};
  watcher.on_progress([&] {
    replicate::base_record last;
    if (!decode_base_record(*c.bases.at(c.bases.end() - 1), last)) return;
    if (last.head.kind != replicate::base_kind::end || std::exchange(has_fenced, true)) return;
    // Its base is whole, and another instance fences.
    replicate::log_record fence;
    ASSERT_EQ(replicate::decode_record(*c.log.at(0), fence), replicate::record_fault::none);
    fence.head.epoch = {9, 0};
    fence.head.writer = 99;
    std::string bytes;
    append_fence(bytes, fence.head, fence.fence);
    c.log.append(bytes);
    log->lands = false;  // and the brokers answer this one late
  });
  const auto failed = first.run(
      [&, polls = 0](pair_source& s, std::atomic<bool>& stop) mutable {
        if (!has_fenced) return;
        if (++polls == 5) {
          s.lose();
          c.owner = &c;  // the other one has it
        }
        log->lands = polls >= 5;
        if (polls == 15) stop = true;
      },
      [&](memory_slot_log& made) { log = &made; });
  ASSERT_FALSE(failed) << failed->message;
  ASSERT_TRUE(has_fenced);
  EXPECT_EQ(c.log.first(), 0);
  EXPECT_EQ(c.bases.first(), 0);
}

TEST_F(pair, an_instance_that_is_killed_while_it_reads_a_base_begins_again) {
  first.change = make_many_bases;
  let_first_read(60);
  c.owner = &c;
  ASSERT_GT(c.log.first(), 0);
  for (int killed_at = 1; killed_at < 12 && !HasFailure(); ++killed_at) {
    SCOPED_TRACE(killed_at);
    instance third{c, "ratchet-1"};
    const auto killed = third.run([left = killed_at](pair_source& s, std::atomic<bool>& stop) mutable {
      if (--left > 0) return;
      s.kill();
      stop = true;
    });
    ASSERT_FALSE(killed) << killed->message;
    const auto failed = third.run(until_polled(40));
    ASSERT_FALSE(failed) << failed->message;
    EXPECT_EQ(third.seen(), expected(c));
    EXPECT_EQ(third.step(), first.step());
  }
}

TEST_F(pair, an_instance_that_was_away_for_long_begins_again_from_a_base) {
  second.change = make_many_bases;
  let_first_read(20);
  const std::uint64_t before = first.step();
  produce(c, 100);
  ASSERT_FALSE(second.run(until_all_is_read()));
  ASSERT_GT(c.log.first(), static_cast<std::int64_t>(before) + 2) << "the log does not lead on from there";
  c.owner = &c;
  const auto failed = first.run(until_polled(60));
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_EQ(first.seen(), expected(c));
  EXPECT_EQ(first.step(), second.step());
}

TEST_F(pair, a_log_that_was_cut_without_a_base_is_refused) {
  let_first_read(20);
  c.log.delete_before(3);
  const auto failed = second.run(until_refused());
  ASSERT_TRUE(failed);
  EXPECT_NE(failed->message.find("begins_later"), std::string::npos) << failed->message;
}

TEST_F(pair, an_old_state_stays_as_it_is_where_no_base_is_whole) {
  second.change = make_many_bases;
  let_first_read(20);
  const auto before = first.seen();
  produce(c, 100);
  ASSERT_FALSE(second.run(until_all_is_read()));
  c.bases.lose_from(c.bases.end() - 1);
  c.owner = &c;
  const auto failed = first.run(until_refused());
  ASSERT_TRUE(failed);
  EXPECT_NE(failed->message.find("begins_later"), std::string::npos) << failed->message;
  EXPECT_EQ(first.seen(), before);
}

}  // namespace
}  // namespace ratchet
