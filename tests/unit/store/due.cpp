// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rocksdb/perf_context.h>

#include <algorithm>
#include <random>

#include "store/open/verify.hpp"
#include "unit/store/waiting_support.hpp"

/// When aggregates have something to do.
namespace ratchet {
namespace {

using std::nullopt;
using store_support::at_second;
using store_support::must;
using store_support::waiting_at;
using store_support::waiting_fixture;

using names = std::vector<std::string>;

class what_is_due : public waiting_fixture {
 protected:
  /// Gives the aggregate's backlog these times; makes it where there is none.
  void times(store& s, const std::string& aggregate, std::optional<timestamp> wake,
             std::optional<timestamp> gap) {
    write(s, {{aggregate, {waiting_at(seq(5))}, {}, [&](backlog& b) {
                 b.wake = wake;
                 b.gap_since = gap;
               }}});
  }
  static due_aggregates due(store& s, timestamp now, std::optional<timestamp> gaps, std::size_t limit = 100) {
    return must(s.due(s.id_of("payments"), now, gaps, limit));
  }
};

TEST_F(what_is_due, is_nothing_where_nothing_waits) {
  auto s = open();
  const due_aggregates found = due(*s, at_second(9), at_second(9));
  EXPECT_TRUE(found.names.empty());
  EXPECT_FALSE(found.next_wake);
  EXPECT_FALSE(found.next_gap);
}

TEST_F(what_is_due, comes_by_time_first_wakes_then_gaps_and_says_what_is_next) {
  auto s = open();
  times(*s, "late", at_second(30), nullopt);
  times(*s, "second", at_second(20), nullopt);
  times(*s, "first", at_second(-5), nullopt);
  times(*s, "gap2", nullopt, at_second(8));
  times(*s, "gap1", nullopt, at_second(7));
  times(*s, "gap3", nullopt, at_second(9));
  for (int opens = 0; opens < 2; ++opens) {
    due_aggregates found = due(*s, at_second(20), at_second(8));
    EXPECT_EQ(found.names, (names{"first", "second", "gap1", "gap2"}));
    EXPECT_EQ(found.next_wake, at_second(30));
    EXPECT_EQ(found.next_gap, at_second(9));
    found = due(*s, at_second(19), nullopt);
    EXPECT_EQ(found.names, (names{"first"}));
    EXPECT_EQ(found.next_wake, at_second(20));
    EXPECT_EQ(found.next_gap, at_second(7));
    s.reset();
    s = open();
  }
}

TEST_F(what_is_due, is_named_once_and_is_never_what_is_next) {
  auto s = open();
  times(*s, "both", at_second(1), at_second(1));
  times(*s, "gap_now_wake_later", at_second(50), at_second(2));
  times(*s, "wake_now_gap_later", at_second(2), at_second(60));
  const due_aggregates found = due(*s, at_second(10), at_second(10));
  EXPECT_EQ(found.names, (names{"both", "wake_now_gap_later", "gap_now_wake_later"}));
  EXPECT_FALSE(found.next_wake);
  EXPECT_FALSE(found.next_gap);
}

TEST_F(what_is_due, stops_at_the_limit_and_says_that_there_is_more) {
  auto s = open();
  for (int i = 1; i <= 5; ++i) times(*s, "p" + std::to_string(i), at_second(i), at_second(i));
  due_aggregates found = due(*s, at_second(10), at_second(10), 2);
  EXPECT_EQ(found.names, (names{"p1", "p2"}));
  EXPECT_EQ(found.next_wake, at_second(3));
  EXPECT_EQ(found.next_gap, at_second(3));
  found = due(*s, at_second(10), at_second(10), 0);
  EXPECT_TRUE(found.names.empty());
  EXPECT_EQ(found.next_wake, at_second(1));
}

TEST_F(what_is_due, moves_with_its_backlog) {
  auto s = open();
  times(*s, "p1", at_second(1), at_second(1));
  EXPECT_EQ(due(*s, at_second(9), at_second(9)).names, (names{"p1"}));
  times(*s, "p1", at_second(5), nullopt);
  due_aggregates found = due(*s, at_second(4), at_second(9));
  EXPECT_TRUE(found.names.empty());
  EXPECT_EQ(found.next_wake, at_second(5));
  EXPECT_FALSE(found.next_gap);
  times(*s, "p1", at_second(2), at_second(3));
  found = due(*s, at_second(2), at_second(2));
  EXPECT_EQ(found.names, (names{"p1"})) << "earlier than anything that was there when it was last asked";
  EXPECT_FALSE(found.next_gap) << "it is named";
  write(*s, {{"p1", {}, {seq(5)}}});
  found = due(*s, at_second(9), at_second(9));
  EXPECT_TRUE(found.names.empty());
  EXPECT_FALSE(found.next_wake);
  s.reset();
  EXPECT_EQ(must(verify_store(path())), names{});
}

TEST_F(what_is_due, may_lie_before_1970_and_at_the_ends_of_time) {
  auto s = open();
  times(*s, "p1", timestamp::min(), timestamp::max());
  times(*s, "p2", timestamp{std::chrono::milliseconds{-1}}, nullopt);
  times(*s, "p3", timestamp{}, nullopt);
  times(*s, "p4", timestamp::max(), nullopt);
  EXPECT_EQ(due(*s, timestamp{}, nullopt).names, (names{"p1", "p2", "p3"}));
  EXPECT_EQ(due(*s, timestamp{}, nullopt, 1).next_wake, timestamp{std::chrono::milliseconds{-1}});
  EXPECT_EQ(due(*s, timestamp::max(), timestamp::max()).names, (names{"p1", "p2", "p3", "p4"}));
}

TEST_F(what_is_due, costs_the_same_however_many_were_due_before) {
  auto s = open();
  times(*s, "oldest", at_second(1), at_second(1));
  for (int i = 0; i < 500; ++i) {
    const std::string name = "p" + std::to_string(i);
    times(*s, name, at_second(10 + i), at_second(10 + i));
    write(*s, {{name, {}, {seq(5)}}});
  }
  write(*s, {{"oldest", {}, {seq(5)}}});
  times(*s, "newest", at_second(1000), at_second(1000));
  const auto walked_over = [&] {
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    rocksdb::get_perf_context()->Reset();
    EXPECT_EQ(due(*s, timestamp::min(), nullopt, 0).next_gap, at_second(1000));
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
    return rocksdb::get_perf_context()->internal_delete_skipped_count;
  };
  EXPECT_GT(walked_over(), 900U) << "once";
  EXPECT_LT(walked_over(), 10U);
}

TEST_F(what_is_due, is_of_one_stream) {
  store_options o = options();
  o.streams.push_back({"refunds", {{"order", "strict"}}});
  auto s = must(open_store(o));
  times(*s, "p1", at_second(1), at_second(1));
  const due_aggregates found = must(s->due(s->id_of("refunds"), at_second(9), at_second(9), 10));
  EXPECT_TRUE(found.names.empty());
  EXPECT_FALSE(found.next_wake);
  EXPECT_FALSE(found.next_gap);
  EXPECT_EQ(s->due(stream_id{77}, at_second(9), nullopt, 10).error(), make_error_code(errc::internal));
}

TEST_F(what_is_due, is_what_a_plain_list_says_after_any_changes) {
  std::mt19937_64 random{7};
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  using entry = std::pair<std::optional<timestamp>, std::optional<timestamp>>;
  std::map<std::string, entry> plain;
  auto s = open();
  for (int step = 0; step < 600; ++step) {
    const auto some_time = [&]() -> std::optional<timestamp> {
      if (below(3) == 0) return nullopt;
      return at_second(static_cast<std::int64_t>(below(40)));
    };
    const std::string name = "p" + std::to_string(below(12));
    plain[name] = {some_time(), some_time()};
    times(*s, name, plain[name].first, plain[name].second);
    if (below(50) == 0) {
      s.reset();
      s = open();
    }
    if (below(2) == 0) continue;
    const timestamp now = at_second(static_cast<std::int64_t>(below(40)));
    const std::optional<timestamp> gaps = some_time();
    const std::size_t limit = 1 + below(6);
    names want;
    const auto take = [&](auto time_of, std::optional<timestamp> until) {
      std::vector<std::pair<timestamp, std::string>> in_order;
      for (const auto& [n, e] : plain) {
        if (time_of(e)) in_order.emplace_back(*time_of(e), n);
      }
      std::sort(in_order.begin(), in_order.end());
      for (const auto& [time, n] : in_order) {
        const bool is_new = std::find(want.begin(), want.end(), n) == want.end();
        if (until && time <= *until && want.size() < limit && is_new) want.push_back(n);
      }
      return in_order;
    };
    const auto next = [&](const auto& in_order) -> std::optional<timestamp> {
      for (const auto& [time, n] : in_order) {
        if (std::find(want.begin(), want.end(), n) == want.end()) return time;
      }
      return nullopt;
    };
    const auto wakes = take([](const entry& e) { return e.first; }, now);
    const auto waits = take([](const entry& e) { return e.second; }, gaps);
    const due_aggregates found = due(*s, now, gaps, limit);
    ASSERT_EQ(found.names, want) << "step " << step;
    ASSERT_EQ(found.next_wake, next(wakes)) << "step " << step;
    ASSERT_EQ(found.next_gap, next(waits)) << "step " << step;
  }
}

}  // namespace
}  // namespace ratchet
