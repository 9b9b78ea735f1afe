// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/step/id_runs.hpp"

#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <algorithm>
#include <map>
#include <random>

#include "support/store_support.hpp"

namespace ratchet {
namespace {

using layout::filed_id;
using layout::id_span;
using store_support::fixture;
using store_support::must;

constexpr std::uint64_t k_base = 1'700'000'000'000;

event_id id_at(std::uint64_t milliseconds, std::uint64_t low = 1) {
  return {(k_base + milliseconds) << 16U | 0x7000U, low};
}

/// Writes steps of runs straight into a database, and reads its rows back.
class runs_of_ids : public fixture {
 protected:
  void SetUp() override {
    store_ = open();
    stream_ = store_->id_of("payments");
    plan_ = store_support::plan_of({"p0", "p1", "p2"});
  }

  void put(const std::vector<id_of_aggregate>& ids) {
    rocksdb::WriteBatch batch;
    row_sink to{db(), batch};
    writer_.put(to, stream_, ++step_, plan_, ids);
    ASSERT_TRUE(db().db().Write({}, &batch).ok());
  }

  std::vector<std::uint8_t> find(const std::vector<id_of_aggregate>& ids) {
    step_plan plan = plan_;
    plan.ids = ids;
    std::vector<std::uint32_t> asked(ids.size());
    for (std::uint32_t i = 0; i < asked.size(); ++i) asked[i] = i;
    std::vector<std::uint8_t> found(ids.size());
    must(find_in_runs(db(), stream_, plan, asked, found));
    return found;
  }

  /// How many runs there are of each width.
  std::map<unsigned, std::size_t> runs() {
    std::map<unsigned, std::size_t> out;
    must(db().for_each({}, family::dedup, layout::stream_prefix(stream_),
                       [&](auto key, auto value) -> result<bool> {
                         const auto parsed = must(layout::parse_id_run_key(key));
                         must(layout::decode_id_run(parsed.span, value));
                         ++out[parsed.span.bits];
                         return true;
                       }));
    return out;
  }

  database& db() { return database_of(*store_); }

  std::unique_ptr<store> store_;
  stream_id stream_{0};
  step_plan plan_;
  id_run_writer writer_;
  std::uint64_t step_{0};
};

TEST_F(runs_of_ids, hold_each_id_of_each_aggregate_once_in_any_order) {
  put({{2, id_at(5)}, {0, id_at(5)}, {0, id_at(1)}, {0, id_at(5)}});
  EXPECT_EQ(runs(), (std::map<unsigned, std::size_t>{{6, 1}}));
  EXPECT_EQ(find({{0, id_at(1)}, {0, id_at(5)}, {1, id_at(5)}, {2, id_at(5)}, {2, id_at(1)}, {0, id_at(2)}}),
            (std::vector<std::uint8_t>{1, 1, 0, 1, 0, 0}));
}

TEST_F(runs_of_ids, never_span_two_times) {
  put({{0, id_at(0)}, {0, id_at(63)}, {0, id_at(64)}, {0, id_at(1'000'000)}});
  EXPECT_EQ(runs(), (std::map<unsigned, std::size_t>{{6, 3}}));
  EXPECT_EQ(find({{0, id_at(0)}, {0, id_at(63)}, {0, id_at(64)}, {0, id_at(1'000'000)}, {0, id_at(65)}}),
            (std::vector<std::uint8_t>{1, 1, 1, 1, 0}));
}

TEST_F(runs_of_ids, go_on_in_a_next_part_when_they_are_full) {
  std::vector<id_of_aggregate> ids;
  for (std::uint32_t i = 0; i < 3 * layout::k_run_ids + 1; ++i) ids.push_back({i % 3, id_at(7, i)});
  put(ids);
  EXPECT_EQ(runs(), (std::map<unsigned, std::size_t>{{6, 4}}));
  EXPECT_EQ(find(ids), std::vector<std::uint8_t>(ids.size(), 1));
}

TEST_F(runs_of_ids, are_as_wide_as_it_takes_to_pack_a_large_step) {
  const auto step_of = [](std::uint64_t milliseconds_between) {
    std::vector<id_of_aggregate> ids;
    for (std::uint64_t i = 0; i < 4096; ++i) ids.push_back({0, id_at(i * milliseconds_between, i)});
    return ids;
  };
  std::map<unsigned, std::size_t> seen;
  for (const auto& [between, bits] :
       std::map<std::uint64_t, unsigned>{{1, 6}, {20, 10}, {300, 14}, {60'000, 14}}) {
    put(step_of(between));
    const auto now = runs();
    for (const auto& [width, count] : now) {
      EXPECT_EQ(count > seen[width], width == bits) << between << " ms between ids, width " << width;
    }
    seen = now;
    EXPECT_EQ(find(step_of(between)), std::vector<std::uint8_t>(4096, 1)) << between;
  }
}

TEST_F(runs_of_ids, are_found_among_those_of_other_steps_widths_and_files) {
  std::mt19937_64 random{5};
  std::map<std::pair<event_id, std::uint32_t>, int> filed;
  for (int round = 0; round < 30; ++round) {
    std::vector<id_of_aggregate> ids;
    const std::uint64_t between = round % 3 == 0 ? 1 : round % 3 == 1 ? 30 : 500;
    for (std::uint64_t i = 0; i < 300; ++i) {
      ids.push_back(
          {static_cast<std::uint32_t>(random() % 3), id_at(random() % (300 * between), random() % 4)});
      filed[{ids.back().id, ids.back().aggregate}] = 1;
    }
    put(ids);
    if (round % 4 == 0) {
      ASSERT_TRUE(db().db().Flush({}, db().handle(family::dedup)).ok());
    }
    if (round == 20) {
      ASSERT_TRUE(db().db().CompactRange({}, db().handle(family::dedup), nullptr, nullptr).ok());
    }
  }
  std::vector<id_of_aggregate> asked;
  std::vector<std::uint8_t> want;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const id_of_aggregate id{static_cast<std::uint32_t>(random() % 3), id_at(random() % 2'000, random() % 4)};
    asked.push_back(id);
    want.push_back(filed.contains({id.id, id.aggregate}) ? 1 : 0);
  }
  ASSERT_GT(std::count(want.begin(), want.end(), 1), 1000);
  ASSERT_GT(std::count(want.begin(), want.end(), 0), 1000);
  EXPECT_EQ(find(asked), want);
  EXPECT_EQ(runs().size(), 3U) << "not all widths were in use";
}

TEST_F(runs_of_ids, tell_under_which_aggregates_an_id_is_filed) {
  put({{2, id_at(5)}, {0, id_at(5)}, {1, id_at(6)}});
  put({{0, id_at(5)}});  // once more, in another step
  using names = std::vector<std::string>;
  EXPECT_EQ(must(aggregates_in_runs(db(), {}, stream_, id_at(5), 10)), (names{"p0", "p2"}));
  EXPECT_EQ(must(aggregates_in_runs(db(), {}, stream_, id_at(5), 1)), (names{"p0"}));
  EXPECT_EQ(must(aggregates_in_runs(db(), {}, stream_, id_at(4), 10)), names{});
}

TEST_F(runs_of_ids, that_are_damaged_are_not_taken_for_an_answer) {
  put({{0, id_at(5)}});
  std::string key;
  layout::append_id_run_key(key, stream_, k_instance_slot, id_span::of(id_at(5), 6), step_, 0);
  ASSERT_TRUE(db().db().Put({}, db().handle(family::dedup), key, "\x01\x01").ok());
  step_plan plan = plan_;
  plan.ids = {{0, id_at(5)}};
  std::vector<std::uint32_t> asked{0};
  std::vector<std::uint8_t> found(1);
  EXPECT_EQ(find_in_runs(db(), stream_, plan, asked, found).error(), make_error_code(errc::state_damaged));
  EXPECT_EQ(aggregates_in_runs(db(), {}, stream_, id_at(5), 10).error(),
            make_error_code(errc::state_damaged));
}

}  // namespace
}  // namespace ratchet
