// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <map>

#include "store/layout/layout.hpp"
#include "store/open/verify.hpp"
#include "store/step/sync_thread.hpp"
#include "support/store_support.hpp"
#include "unit/store/faults.hpp"

namespace ratchet {
namespace {

using store_support::fixture;
using store_support::must;

timestamp at(std::int64_t ms) {
  return timestamp{std::chrono::milliseconds{1'700'000'000'000 + ms}};
}

constexpr event_id k_low{0, 7};
constexpr event_id k_high{0xFFFFFFFFFFFFFFFF, 7};

/// Whose ids are hashes. The stream's floor is what a test says.
class opaque_ids : public fixture {
 protected:
  [[nodiscard]] static store_options with_opaque(store_options o) {
    o.streams = {{"payments", {{"order", "arrival"}, {"dedup.ids", "opaque"}}}};
    return o;
  }
  [[nodiscard]] std::unique_ptr<store> open() const { return must(open_store(with_opaque(options()))); }

  static void file(store& s, const std::string& aggregate, event_id id, timestamp filed,
                   std::optional<timestamp> floor = {}) {
    write(s, s.id_of("payments"), {{aggregate, seq(1), "{}"}}, [&](step_batch&, stream_change& change) {
      change.opaque_ids = true;
      change.ids = {{0, id, filed}};
      if (floor) change.after.floor = floor;
      change.after.partitions.begin()->second.highest_time = at(1'000'000);
    });
  }
  static std::optional<timestamp> filed(store& s, const std::string& aggregate, event_id id) {
    step_plan plan;
    plan.opaque_ids = true;
    plan.add(aggregate);
    plan.ids = {{0, id, {}}};
    step_rows rows;
    must(s.lookup(s.id_of("payments"), plan, rows));
    return rows.id_stored.at(0) != 0 ? std::optional{rows.id_filed.at(0)} : std::nullopt;
  }
  static std::map<std::string, timestamp> filed_under(store& s, event_id id) {
    std::map<std::string, timestamp> out;
    for (const filed_id_of& one : must(must(s.view())->aggregates_with(s.id_of("payments"), id, 100)))
      out.emplace(one.aggregate, one.filed);
    return out;
  }
  static void compact(store& s) {
    database& db = database_of(s);
    ASSERT_TRUE(db.db().Flush({}, db.handle(family::dedup)).ok());
    rocksdb::CompactRangeOptions o;
    o.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    ASSERT_TRUE(db.db().CompactRange(o, db.handle(family::dedup), nullptr, nullptr).ok());
  }
  static std::string key_of(store& s, const std::string& aggregate, event_id id) {
    std::string key;
    layout::append_opaque_id_key(key, s.id_of("payments"), k_instance_slot, id, aggregate);
    return key;
  }
};

TEST_F(opaque_ids, are_found_by_id_and_aggregate_whatever_their_time) {
  auto s = open();
  file(*s, "p1", k_low, at(5));
  file(*s, "p2", k_high, at(1));
  file(*s, "p2", k_low, at(9));
  for (const bool again : {false, true}) {
    EXPECT_EQ(filed(*s, "p1", k_low), at(5));
    EXPECT_EQ(filed(*s, "p2", k_low), at(9));
    EXPECT_EQ(filed(*s, "p2", k_high), at(1));
    EXPECT_EQ(filed(*s, "p1", k_high), std::nullopt);
    EXPECT_EQ(filed(*s, "p3", k_low), std::nullopt);
    EXPECT_EQ(filed_under(*s, k_low), (std::map<std::string, timestamp>{{"p1", at(5)}, {"p2", at(9)}}));
    EXPECT_TRUE(filed_under(*s, {0, 8}).empty());
    if (again) break;
    must(s->sync());
    s.reset();
    s = open();
  }
}

TEST_F(opaque_ids, take_the_later_time_where_they_are_filed_again) {
  auto s = open();
  file(*s, "p1", k_low, at(5));
  file(*s, "p1", k_low, at(8));
  EXPECT_EQ(filed(*s, "p1", k_low), at(8));
  write(*s, s->id_of("payments"), {{"p1", seq(3), "{}"}}, [&](step_batch&, stream_change& change) {
    change.opaque_ids = true;
    change.ids = {{0, k_low, at(10)}, {0, k_low, at(20)}};
  });
  EXPECT_EQ(filed(*s, "p1", k_low), at(20)) << "in the order of filing";
}

TEST_F(opaque_ids, are_looked_up_many_at_once_in_any_order) {
  auto s = open();
  for (std::uint64_t i = 0; i < 50; ++i) file(*s, "p" + std::to_string(i % 3), {i * 7919 % 50, i}, at(1));
  compact(*s);
  step_plan plan;
  plan.opaque_ids = true;
  for (const std::string_view name : {"p2", "p0", "p1"}) plan.add(name);
  for (std::uint64_t i = 0; i < 60; ++i) {
    const auto index = static_cast<std::uint32_t>((i + 1) % 3);  // p0 is the second one
    plan.ids.push_back({index, {i * 7919 % 50, i}, {}});
  }
  step_rows rows;
  must(s->lookup(s->id_of("payments"), plan, rows));
  for (std::size_t i = 0; i < 60; ++i) EXPECT_EQ(rows.id_stored[i], i < 50 ? 1 : 0) << i;
}

TEST_F(opaque_ids, below_the_durable_floor_go_by_compaction) {
  auto s = open();
  file(*s, "p1", k_low, at(9));
  file(*s, "p1", k_high, at(10));
  file(*s, "p2", k_low, at(11), at(10));
  compact(*s);
  EXPECT_EQ(filed(*s, "p1", k_low), at(9)) << "a power cut could bring back a lower floor";
  must(s->sync());
  compact(*s);
  EXPECT_EQ(filed(*s, "p1", k_low), std::nullopt);
  EXPECT_EQ(filed(*s, "p1", k_high), at(10)) << "at the floor is inside";
  EXPECT_EQ(filed(*s, "p2", k_low), at(11));
  s.reset();
  EXPECT_TRUE(must(verify_store(path())).empty());
  EXPECT_EQ(filed(*open(), "p2", k_low), at(11));
}

TEST_F(opaque_ids, filed_again_above_the_floor_stay_with_the_later_time) {
  auto s = open();
  file(*s, "p1", k_low, at(1));
  compact(*s);
  file(*s, "p1", k_low, at(20), at(10));
  must(s->sync());
  compact(*s);
  EXPECT_EQ(filed(*s, "p1", k_low), at(20));
}

TEST_F(opaque_ids, of_an_aggregate_without_a_row_are_found_by_verify) {
  auto s = open();
  file(*s, "p1", k_low, at(1));
  database& db = database_of(*s);
  const auto put = [&](const std::string& key, const std::string& value) {
    ASSERT_TRUE(db.db().Put({}, db.handle(family::dedup), key, value).ok());
  };
  put(key_of(*s, "nobody", k_low), layout::encode_filed_time(at(1)));
  put(key_of(*s, "p1", k_high), "\x01short");
  must(s->sync());
  s.reset();
  const auto findings = must(verify_store(path()));
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_NE(findings[0].find("aggregate nobody has no row"), std::string::npos) << findings[0];
  EXPECT_NE(findings[1].find("cannot be decoded"), std::string::npos) << findings[1];
}

TEST_F(opaque_ids, keep_a_stream_from_starting_over) {
  auto s = open();
  write(*s, s->id_of("payments"), {{"p1", seq(1), "{}"}}, [&](step_batch&, stream_change& change) {
    change.opaque_ids = true;
    change.ids = {{0, k_low, at(1)}};
    change.after.counters = {};  // as it were: no counter tells of it
  });
  must(s->sync());
  s.reset();
  const auto refused = open_store(options());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::state_foreign);
  s = open();
  EXPECT_FALSE(filed_under(*s, k_low).empty());
}

TEST_F(opaque_ids, do_not_belong_to_a_stream_of_another_kind) {
  auto s = must(open_store(options()));
  file(*s, "p1", k_low, at(1));
  must(s->sync());
  s.reset();
  const auto findings = must(verify_store(path()));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].find("whose ids are of another kind"), std::string::npos) << findings[0];
}

}  // namespace
}  // namespace ratchet
