// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The log in memory does to an owner's records what brokers and producers may do, and the owner copes.
#include "support/memory_slot_log.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/log_instance.hpp"

namespace ratchet::testing {
namespace {

using how = memory_log::how;

class a_memory_slot_log : public ::testing::Test {
 protected:
  struct member {
    memory_slot_log* log{nullptr};
    std::unique_ptr<log_instance> instance;
    log_instance* operator->() const { return instance.get(); }
  };
  member start(std::uint64_t name, const replicate::log_position& from = {}) {
    auto log = std::make_unique<memory_slot_log>(log_);
    member made;
    made.log = log.get();
    made.instance = std::make_unique<log_instance>(std::move(log), name, from, 32);
    return made;
  }
  static void turn(const member& of, int times = 8) {
    for (int i = 0; i < times; ++i) of->turn();
  }
  void lead(const member& of, std::uint32_t generation) {
    of->owner().assigned(generation);
    turn(of);
    ASSERT_EQ(of->phase(), "leading") << of->refused();
  }
  /// A reader of all that is there now.
  std::unique_ptr<log_instance> plain() {
    auto reader = std::make_unique<log_instance>(std::make_unique<memory_slot_log>(log_), 99);
    for (int i = 0; i < 8; ++i) reader->turn();
    EXPECT_EQ(reader->refused(), "no");
    return reader;
  }

  memory_log log_;
};

TEST_F(a_memory_slot_log, keeps_records_under_way_until_they_are_landed) {
  const member one = start(1);
  lead(one, 1);
  one.log->lands = false;
  ASSERT_TRUE(one->make("k", "1"));
  ASSERT_TRUE(one->make("k", "2"));
  turn(one);
  EXPECT_EQ(one->step(), 0U);
  EXPECT_EQ(log_.end(), 1);
  ASSERT_TRUE(log_.land(one.log->producer()));
  turn(one);
  EXPECT_EQ(one->step(), 1U);
  log_.land_all();
  turn(one);
  EXPECT_EQ(one->step(), 2U);
}

TEST_F(a_memory_slot_log, lands_what_a_dead_writer_had_under_way) {
  member one = start(1);
  lead(one, 1);
  one.log->lands = false;
  ASSERT_TRUE(one->make("k", "late"));
  one.instance.reset();
  const member two = start(2);
  lead(two, 2);
  ASSERT_TRUE(two->make("k", "valid"));
  turn(two);
  EXPECT_EQ(two->step(), 1U);
  log_.land_all();
  const auto reader = plain();
  EXPECT_EQ(reader->step(), 1U);
  EXPECT_EQ(reader->chain(), two->chain());
  EXPECT_EQ(reader->owner().reader().count_of(replicate::fate::zombie), 1U);
}

TEST_F(a_memory_slot_log, lands_a_record_before_the_successors_fence) {
  member one = start(1);
  lead(one, 1);
  one.log->lands = false;
  ASSERT_TRUE(one->make("k", "in time"));
  one.instance.reset();
  log_.land_all();
  const member two = start(2);
  lead(two, 2);
  EXPECT_EQ(two->step(), 1U) << "nobody was told, and it counts";
}

TEST_F(a_memory_slot_log, may_lose_a_record_so_that_its_owner_fences_again) {
  const member one = start(1);
  lead(one, 1);
  one.log->lands = false;
  for (const char* value : {"1", "2", "3"}) ASSERT_TRUE(one->make("k", value));
  ASSERT_TRUE(log_.land(one.log->producer()));
  ASSERT_TRUE(log_.land(one.log->producer(), how::lost));
  ASSERT_TRUE(log_.land(one.log->producer()));
  one.log->lands = true;
  turn(one);
  EXPECT_EQ(one->phase(), "leading");
  EXPECT_EQ(one->step(), 1U);
  EXPECT_EQ(one->dropped, 2U);
  EXPECT_EQ(one->failures.size(), 1U);
  ASSERT_TRUE(one->make("k", "2 again"));
  turn(one);
  EXPECT_EQ(one->step(), 2U);
  EXPECT_EQ(plain()->chain(), one->chain());
}

TEST_F(a_memory_slot_log, may_not_say_where_a_record_is_or_have_it_twice) {
  const member one = start(1);
  lead(one, 1);
  one.log->lands = false;
  for (const char* value : {"1", "2", "3"}) ASSERT_TRUE(one->make("k", value));
  ASSERT_TRUE(log_.land(one.log->producer(), how::unsaid));
  ASSERT_TRUE(log_.land(one.log->producer(), how::repeated));
  one.log->lands = true;
  log_.skip();
  turn(one);
  EXPECT_EQ(one->phase(), "leading");
  EXPECT_EQ(one->step(), 3U);
  EXPECT_EQ(one->dropped, 0U);
  EXPECT_EQ(plain()->chain(), one->chain());
}

TEST_F(a_memory_slot_log, has_records_of_others_in_between) {
  const member one = start(1);
  lead(one, 2);
  log_.append("somebody's");
  ASSERT_TRUE(one->make("k", "1"));
  log_.append(replicate::testing::author{{1, 0}, 9, {1, 1}}.fence());
  turn(one);
  EXPECT_EQ(one->phase(), "leading");
  EXPECT_EQ(one->step(), 1U);
}

TEST_F(a_memory_slot_log, is_read_on_where_the_offset_is_still_there_and_refused_where_it_is_not) {
  const member one = start(1);
  lead(one, 1);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(one->make("k", "v"));
  turn(one);
  ASSERT_EQ(one->step(), 5U);
  const replicate::log_position at = one->owner().reader().position();
  log_.delete_before(at.offset);
  const member comes_back = start(2, at);
  turn(comes_back);
  EXPECT_EQ(comes_back->refused(), "no");
  EXPECT_EQ(comes_back->step(), 5U);
  const member new_one = start(3);
  turn(new_one);
  EXPECT_EQ(new_one->refused(), "begins_later");
  log_.lose_from(at.offset);
  const member has_more = start(4, at);
  turn(has_more);
  EXPECT_EQ(has_more->refused(), "ends_earlier");
}

TEST_F(a_memory_slot_log, is_read_again_from_the_position_behind_a_topic_that_was_missing) {
  const member one = start(1);
  lead(one, 1);
  ASSERT_TRUE(one->make("k", "v"));
  turn(one);
  const member two = start(2);
  turn(two);
  ASSERT_EQ(two->step(), 1U);
  log_.set_missing(true);
  turn(two);
  EXPECT_EQ(two->phase(), "standby");
  log_.set_missing(false);
  for (int i = 0; i < 5; ++i) log_.append("another log's");
  turn(two);
  EXPECT_EQ(two->refused(), "other_record");
}

TEST_F(a_memory_slot_log, does_nothing_without_a_leader) {
  const member one = start(1);
  lead(one, 1);
  log_.set_led(false);
  ASSERT_TRUE(one->make("k", "v"));
  turn(one);
  EXPECT_EQ(one->step(), 0U);
  EXPECT_EQ(one->phase(), "leading");
  log_.set_led(true);
  turn(one);
  EXPECT_EQ(one->step(), 1U);
}

}  // namespace
}  // namespace ratchet::testing
