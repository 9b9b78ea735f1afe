// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Two replicas of one log compare what they have, over real stores.
#include <gtest/gtest.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>

#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "consumer/digest_keeper.hpp"
#include "store/layout/layout.hpp"
#include "store/layout/slot_row.hpp"
#include "support/fake_source.hpp"
#include "support/memory_slot_log.hpp"
#include "unit/store/replica_fixture.hpp"

namespace ratchet {
namespace {

using store_support::must;
using testing::memory_log;
using testing::memory_slot_log;

constexpr std::uint64_t k_all = UINT64_MAX;

/// One instance. What it appends lands at once.
struct member {
  member(std::unique_ptr<store> opened, memory_log& log, memory_log& bases, const clock_port& clock,
         std::uint64_t name, std::uint64_t bytes)
      : state{std::move(opened)},
        way{log},
        base_way{bases},
        slot{{way, base_way, *replica_of(*state), clock, [name] { return name; }, {"log", partition_id{0}}},
             rules()},
        digests{{slot, *replica_of(*state), clock, [this] { return ++points; },
                 digest_config{std::chrono::seconds{60}, bytes}, std::uint64_t{1} << 40U,
                 std::make_shared<spdlog::logger>("test",
                                                  std::make_shared<spdlog::sinks::ostream_sink_mt>(lines)),
                 std::launch::deferred}} {
    points = name * 1'000'000;
  }
  replicate::owner_options rules() {
    replicate::owner_options of;
    of.reading.newest_layout = of.layout = layout::k_schema_version;
    of.new_lineage = {7, 7};
    of.instance = "somebody";
    of.noted = [this](const replicate::counted_note& note) {
      if (hears) digests.take(note);
    };
    return of;
  }
  void turn() {
    must(slot.turn());
    digests.turn();
  }
  void turn(int times) {
    for (int i = 0; i < times; ++i) turn();
  }

  std::unique_ptr<store> state;
  std::uint64_t points{0};
  bool hears{true};
  std::ostringstream lines;
  memory_slot_log way;
  memory_slot_log base_way;
  slot_replica slot;
  digest_keeper digests;
};

class digests : public store_support::replica_fixture {
 protected:
  std::unique_ptr<member> make(std::uint64_t name, std::uint64_t bytes) {
    return std::make_unique<member>(open("-" + std::to_string(name)), log_, bases_, clock_, name, bytes);
  }
  /// Two members; the first one leads, and has so many aggregates.
  void begin(std::uint64_t bytes, int aggregates = 40) {
    owner_ = make(1, bytes);
    owner_->slot.assigned(1);
    owner_->turn(5);
    ASSERT_TRUE(owner_->slot.leads());
    for (int i = 0; i < aggregates; ++i) step("a" + std::to_string(i));
    follower_ = make(2, bytes);
    follower_->turn(5);
    ASSERT_TRUE(follower_->slot.is_at_end());
  }
  void step(const std::string& aggregate) {
    put(*owner_->state, aggregate, ++number_);
    must(owner_->slot.publish(owner_->state->last_step()));
    owner_->turn();
  }
  /// One comparison: a point, what both find there, and what the owner tells.
  void compare() {
    clock_.advance(std::chrono::seconds{61});
    for (int i = 0; i < 4; ++i) {
      owner_->turn();
      follower_->turn();
    }
  }
  [[nodiscard]] const digest_findings& found() const { return follower_->digests.found(); }
  static void damage(store& s, family in) {
    database& db = database_of(s);
    rocksdb::ReadOptions all;
    all.total_order_seek = true;
    const std::unique_ptr<rocksdb::Iterator> at{db.db().NewIterator(all, db.handle(in))};
    at->SeekToLast();
    while (at->Valid() && layout::is_local_key(in == family::standard, at->key().ToStringView())) at->Prev();
    ASSERT_TRUE(at->Valid());
    std::string value = at->value().ToString();
    value.back() = static_cast<char>(value.back() ^ 1);
    ASSERT_TRUE(db.db().Put({}, db.handle(in), at->key(), value).ok());
  }
  std::int64_t count(replicate::record_kind kind) const {
    std::int64_t all = 0;
    for (std::int64_t at = 0; at < log_.end(); ++at) {
      replicate::log_record record;
      if (decode_record(*log_.at(at), record) == replicate::record_fault::none && record.head.kind == kind)
        ++all;
    }
    return all;
  }

  memory_log log_;
  memory_log bases_;
  testing::fake_clock clock_;
  std::unique_ptr<member> owner_;
  std::unique_ptr<member> follower_;
  std::uint64_t number_{0};
};

TEST_F(digests, of_replicas_of_one_log_are_the_same_piece_by_piece) {
  begin(500);
  for (int i = 0; i < 60; ++i) {
    if (i % 2 == 0) step("a" + std::to_string(i % 45));
    compare();
  }
  EXPECT_EQ(found().same, 60U);
  EXPECT_EQ(found().different, 0U);
  EXPECT_EQ(found().last_step, owner_->state->last_step());
  EXPECT_EQ(follower_->lines.str(), "");
  EXPECT_EQ(owner_->digests.found().same, 0U) << "the owner has nobody to compare with";
}

TEST_F(digests, find_a_row_that_differs_wherever_it_is) {
  for (const family in : {family::sequences, family::dedup, family::standard}) {
    SCOPED_TRACE(static_cast<int>(in));
    owner_.reset();
    follower_.reset();
    log_ = {};
    begin(1'000);
    damage(*follower_->state, in);
    int until_found = 0;
    while (found().different == 0 && until_found++ < 50) compare();
    EXPECT_EQ(found().different, 1U);
    EXPECT_EQ(found().first_difference, owner_->state->last_step());
    EXPECT_NE(follower_->lines.str().find("is not the owner's"), std::string::npos) << follower_->lines.str();
    std::filesystem::remove_all(path().string() + "-1");
    std::filesystem::remove_all(path().string() + "-2");
  }
}

TEST_F(digests, cover_all_of_the_state_where_a_base_is_written) {
  begin(1);
  compare();
  EXPECT_EQ(found().same, 1U);
  damage(*follower_->state, family::standard);
  compare();
  EXPECT_EQ(found().different, 0U) << "not a part of the second piece";
  owner_->digests.ask_for_all();
  compare();
  EXPECT_EQ(found().different, 1U);
  compare();
  EXPECT_EQ(found().different, 1U) << "and then they go on piece by piece";
}

TEST_F(digests, are_compared_also_where_the_owners_comes_first) {
  begin(k_all);
  clock_.advance(std::chrono::seconds{61});
  owner_->turn(6);
  ASSERT_EQ(count(replicate::record_kind::point), 2);
  ASSERT_GE(count(replicate::record_kind::digest), 1);
  follower_->turn(2);
  EXPECT_EQ(found().same, 1U);
}

TEST_F(digests, do_not_mind_a_point_that_is_there_twice) {
  begin(k_all);
  owner_->way.lands = false;
  clock_.advance(std::chrono::seconds{61});
  owner_->turn();
  ASSERT_TRUE(log_.land(owner_->way.producer(), memory_log::how::repeated));
  owner_->way.lands = true;
  follower_->way.most_entries = 1;
  for (int i = 0; i < 4; ++i) {
    step("b" + std::to_string(i));
    follower_->turn(6);  // it is done with the first one when it meets the second
  }
  EXPECT_EQ(found().same, 1U);
  EXPECT_EQ(found().different, 0U);
}

/// As a client does behind a new leader of the topic.
TEST_F(digests, do_not_mind_a_point_that_is_there_again_behind_further_steps) {
  begin(k_all);
  follower_->hears = false;
  const std::int64_t from = log_.end();
  compare();
  const std::int64_t to = log_.end();
  follower_->hears = true;
  step("a1");
  compare();
  ASSERT_EQ(found().same, 1U);
  for (std::int64_t at = from; at < to; ++at) log_.append(*log_.at(at));
  follower_->turn(4);
  EXPECT_EQ(found().different, 0U) << follower_->lines.str();
  // Where the owner's is there before this one is read.
  for (std::int64_t at = from; at < to; ++at) log_.append(*log_.at(at));
  must(follower_->slot.turn());
  follower_->turn(4);
  EXPECT_EQ(found().different, 0U) << follower_->lines.str();
  compare();
  compare();
  EXPECT_GT(found().same, 1U) << "and the next one is compared";
}

TEST_F(digests, are_not_made_of_points_that_were_missed) {
  owner_ = make(1, k_all);
  owner_->slot.assigned(1);
  for (int i = 0; i < 20; ++i) {
    clock_.advance(std::chrono::seconds{61});
    owner_->turn(5);
    step("a" + std::to_string(i));
  }
  ASSERT_GT(count(replicate::record_kind::digest), 10);
  follower_ = make(2, k_all);
  follower_->way.most_entries = 1;
  while (!follower_->slot.is_at_end()) follower_->turn();
  EXPECT_EQ(found().same, 0U);
}

TEST_F(digests, of_an_attempt_that_is_over_are_not_told) {
  begin(k_all);
  const auto told = count(replicate::record_kind::digest);
  clock_.advance(std::chrono::seconds{61});
  owner_->turn();             // makes the point
  must(owner_->slot.turn());  // meets it
  owner_->slot.unassigned();
  owner_->slot.assigned(2);
  must(owner_->slot.turn());
  must(owner_->slot.turn());
  ASSERT_TRUE(owner_->slot.leads());
  owner_->digests.turn();
  owner_->turn();
  EXPECT_EQ(count(replicate::record_kind::digest), told);
}

TEST_F(digests, go_on_where_the_owner_before_was) {
  begin(500);
  for (int i = 0; i < 3; ++i) compare();
  const auto last_point = [this] {
    std::pair<int, std::string> place;
    for (std::int64_t at = 0; at < log_.end(); ++at) {
      replicate::log_record record;
      if (decode_record(*log_.at(at), record) == replicate::record_fault::none &&
          record.head.kind == replicate::record_kind::point)
        place = {static_cast<int>(record.point.part), std::string{record.point.key}};
    }
    return place;
  };
  const auto before = last_point();
  ASSERT_EQ(found().same, 3U);
  ASSERT_FALSE(before.second.empty());
  owner_->slot.unassigned();
  follower_->slot.assigned(2);
  follower_->turn(5);
  ASSERT_TRUE(follower_->slot.leads());
  EXPECT_GT(last_point(), before);
}

}  // namespace
}  // namespace ratchet
