// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Instances whose log is cut before a whole copy of the state: whoever comes later begins there.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "replicate/base_record.hpp"
#include "replicate/log_record.hpp"
#include "unit/app/pair_fixture.hpp"

namespace ratchet {
namespace {

using pair_support::cluster;
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

/// What somebody else may append to the topic of the bases: the parts of it that a test changes.
struct forged_end {
  replicate::base_head head{replicate::base_kind::end, {}, 77};
  replicate::base_end end;
  /// Of the log as it is: behind its last step.
  explicit forged_end(const cluster& of) {
    for (std::int64_t offset = of.log.first(); offset < of.log.end(); ++offset) {
      replicate::log_record each;
      if (!of.log.at(offset) || decode_record(*of.log.at(offset), each) != replicate::record_fault::none)
        continue;
      head.lineage = each.head.lineage;
      end.of.at.lineage = each.head.lineage;
      end.of.layout = each.head.layout;
      if (each.head.kind == replicate::record_kind::fence) {
        end.of.meaning = each.fence.meaning;
        end.of.at.fenced_step = each.fence.known_step;
      }
      if (each.head.kind != replicate::record_kind::step || !each.head.last) continue;
      end.of.at.epoch = each.head.epoch;
      end.of.at.writer = each.head.writer;
      end.of.at.step = each.chunk.step;
      end.of.at.chain = each.chunk.chain;
      end.of.at.offset = offset;
    }
    end.of.made = std::chrono::duration_cast<std::chrono::milliseconds>(
                      std::chrono::system_clock::now().time_since_epoch())
                      .count();
  }
  void append_begin_to(cluster& to) const {
    std::string bytes;
    append_base_begin(bytes, {replicate::base_kind::begin, head.lineage, head.base}, end.of);
    to.bases.append(bytes);
  }
  void append_end_to(cluster& to) const {
    std::string bytes;
    append_base_end(bytes, head, end);
    to.bases.append(bytes);
  }
};

class pair_with_forged_bases : public pair {
 protected:
  /// What an owner says of itself behind some turns. It says so a few times a second.
  [[nodiscard]] std::function<void(pair_source&, std::atomic<bool>&)> until_shown(status_snapshot& to) {
    return [this, &to, left = 60](pair_source&, std::atomic<bool>& stop) mutable {
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
      if (--left == 0) to = first.shown();
      stop = left <= 0;
    };
  }
  /// Calls it once, when the first base has begun.
  [[nodiscard]] std::unique_ptr<memory_slot_log> forge_behind_begin(
      std::function<void(const replicate::base_record&)> forge) {
    auto watcher = std::make_unique<memory_slot_log>(c.bases);
    watcher->on_progress([this, forge = std::move(forge)] {
      replicate::base_record last;
      if (has_forged || !decode_base_record(*c.bases.at(c.bases.end() - 1), last)) return;
      if (last.head.kind != replicate::base_kind::begin) return;
      has_forged = true;
      forge(last);
    });
    return watcher;
  }
  bool has_forged{false};
};

TEST_F(pair_with_forged_bases, nothing_is_cut_for_the_end_of_a_base_that_is_not_there) {
  let_first_read(20);
  forged_end{c}.append_end_to(c);
  status_snapshot shown;
  ASSERT_FALSE(first.run(until_shown(shown)));
  EXPECT_EQ(c.log.first(), 0);
  ASSERT_TRUE(shown.slot);
  EXPECT_FALSE(shown.slot->bases.newest);
  EXPECT_EQ(shown.slot->bases.failures, 1U);
  const auto failed = second.run(until_polled(40));
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_EQ(second.seen(), expected(c));
}

TEST_F(pair_with_forged_bases, nothing_is_cut_for_a_base_of_somebody_else_even_if_it_is_whole) {
  let_first_read(20);
  const forged_end whole{c};
  whole.append_begin_to(c);
  whole.append_end_to(c);
  ASSERT_FALSE(first.run(until_polled(40)));
  EXPECT_EQ(c.log.first(), 0);
}

TEST_F(pair_with_forged_bases, a_base_of_a_step_that_the_log_does_not_have_is_as_if_it_were_not_there) {
  const std::vector<std::function<void(forged_end&)>> changes{
      [](forged_end& f) { f.end.of.at.chain.low ^= 1; },
      [](forged_end& f) { f.end.of.at.offset = INT64_MAX; },
      [](forged_end& f) { f.end.of.at.offset -= 1; },
      [](forged_end& f) { f.end.of.at.step = UINT64_MAX; },
      [](forged_end& f) { f.end.of.at.bytes = UINT64_MAX; },
      [](forged_end& f) { f.end.of.at.writer += 1; },
  };
  let_first_read(20);
  first.change = make_many_bases;
  std::uint64_t ignored = 0;
  status_snapshot shown;
  for (const auto& change : changes) {
    c.bases.lose_from(0);
    forged_end whole{c};
    change(whole);
    whole.append_begin_to(c);
    whole.append_end_to(c);
    produce(c, 10);
    const std::int64_t before = c.log.first();
    ASSERT_FALSE(first.run(until_shown(shown)));
    ignored += shown.slot->bases.failures;
    EXPECT_GT(c.log.first(), before) << "the owner has written its own";
  }
  EXPECT_EQ(ignored, changes.size());
  const auto failed = second.run(until_polled(60));
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_EQ(second.seen(), expected(c));
}

TEST_F(pair_with_forged_bases, absurd_numbers_in_the_end_of_a_base_postpone_no_other_one) {
  const std::vector<std::function<void(forged_end&)>> changes{
      [](forged_end& f) { f.end.bytes = std::uint64_t{1} << 63U; },
      [](forged_end& f) { f.end.parts = UINT64_MAX; },
      [](forged_end& f) { f.end.of.made = INT64_MIN; },
      [](forged_end& f) { f.end.of.made = INT64_MAX; },
      [](forged_end& f) { f.end.of.at.bytes = UINT64_MAX; },
      [](forged_end& f) { f.end.of.at.offset = INT64_MAX; },
  };
  first.change = make_many_bases;
  let_first_read(20);
  for (const auto& change : changes) {
    forged_end wrong{c};
    change(wrong);
    wrong.append_end_to(c);
    produce(c, 20);
    const std::int64_t before = c.log.first();
    ASSERT_FALSE(first.run(until_polled(60)));
    EXPECT_GT(c.log.first(), before);
  }
}

TEST_F(pair_with_forged_bases, a_base_from_the_future_postpones_no_other_one_for_ever) {
  let_first_read(20);
  forged_end whole{c};
  whole.end.of.made = replicate::k_last_made;
  whole.append_begin_to(c);
  whole.append_end_to(c);
  produce(c, 10);
  pair_support::patient_clock clock;
  first.clock = &clock;
  ASSERT_FALSE(first.run([&, polls = 0](pair_source&, std::atomic<bool>& stop) mutable {
    if (++polls == 40) {
      EXPECT_EQ(c.log.first(), 0) << "it is new";
      clock.waited += std::chrono::hours{25};
    }
    stop = polls == 100;
  }));
  EXPECT_GT(c.log.first(), 0);
}

TEST_F(pair_with_forged_bases, the_end_of_a_base_in_the_middle_of_it_is_passed_over) {
  const auto watcher = forge_behind_begin([this](const replicate::base_record& begin) {
    forged_end early{c};
    early.head.base = begin.head.base;
    early.end.of = begin.begin;
    early.end.parts = 9;
    early.append_end_to(c);
  });
  first.change = make_many_bases;
  let_first_read(60);
  ASSERT_TRUE(has_forged);
  EXPECT_GT(c.log.first(), 0) << "the base is whole all the same";
  const auto failed = second.run(until_polled(60));
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_EQ(second.seen(), expected(c));
}

TEST_F(pair_with_forged_bases, nothing_is_cut_for_a_base_that_somebody_else_has_ended) {
  const auto watcher = forge_behind_begin([this](const replicate::base_record& begin) {
    forged_end early{c};  // without parts: whoever reads it finds it whole
    early.head.base = begin.head.base;
    early.end.of = begin.begin;
    early.append_end_to(c);
  });
  first.change = make_many_bases;
  let_first_read(60);
  ASSERT_TRUE(has_forged);
  EXPECT_EQ(c.log.first(), 0);
}

TEST_F(pair_with_forged_bases, nothing_is_cut_for_a_base_that_is_another_one_when_it_is_read_back) {
  const auto watcher = forge_behind_begin([this](const replicate::base_record& begin) {
    std::string part;  // its first part, before its writer's own
    replicate::append_base_part(part, {replicate::base_kind::part, begin.head.lineage, begin.head.base},
                                {0, ""});
    c.bases.append(part);
  });
  first.change = make_many_bases;
  let_first_read(60);
  ASSERT_TRUE(has_forged);
  EXPECT_EQ(c.log.first(), 0);
}

TEST_F(pair_with_forged_bases, no_state_is_erased_for_a_base_that_the_log_does_not_go_on_from) {
  second.change = make_many_bases;
  let_first_read(20);
  produce(c, 100);
  ASSERT_FALSE(second.run(until_all_is_read()));
  ASSERT_GT(c.log.first(), 0);
  // Before the true one, of a step that never was.
  cluster other;
  forged_end wrong{c};
  wrong.end.of.at.offset = INT64_MAX;
  wrong.append_begin_to(other);
  wrong.append_end_to(other);
  for (std::int64_t at = c.bases.first(); at < c.bases.end(); ++at) other.bases.append(*c.bases.at(at));
  c.bases.lose_from(c.bases.first());
  for (std::int64_t at = 0; at < other.bases.end(); ++at) c.bases.append(*other.bases.at(at));
  c.owner = &c;
  const auto failed = first.run(until_polled(80));
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
