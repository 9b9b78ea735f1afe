// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The rejected records that a store keeps: how many, for how long, and in which order they are read.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/all_rows.hpp"
#include "support/noon.hpp"
#include "support/store_support.hpp"

namespace ratchet {
namespace {

using namespace std::chrono_literals;
using store_support::must;
using offsets = std::vector<std::int64_t>;

using testing::k_noon;

class kept_records : public store_support::fixture {
 protected:
  /// One step: records of these partitions and offsets are rejected at this time, and limits are kept.
  static void reject(store& s, const std::vector<std::pair<int, std::int64_t>>& places, timestamp now,
                     const rejected_limits& limits) {
    write(s, s.id_of("payments"), {}, [&](step_batch& batch, stream_change&) {
      batch.parts[0].keep_rejected = limits;
      for (const auto& [partition, offset] : places) {
        rejected_row r;
        r.where = {"t", partition_id{partition}};
        r.offset = offset;
        r.at = now;
        r.reason = reject_reason::conflict;
        r.detail = "p" + std::to_string(offset);
        r.sequence = seq(3, 7);
        r.id = event_id{1, 2};
        r.time = now - 1s;
        batch.parts[0].rejected.push_back(r);
      }
    });
  }
  static offsets in_order(const store& s, std::optional<kept_rejected::position> after = {},
                          std::size_t limit = 100) {
    offsets seen;
    const auto view = must(s.view());
    EXPECT_TRUE(view->each_rejected(s.id_of("payments"), after, [&](const rejected_row& row) {
      seen.push_back(row.offset);
      return seen.size() < limit;
    }));
    return seen;
  }
};

TEST_F(kept_records, go_when_they_are_too_old_over_a_restart_too) {
  {
    auto s = open();
    EXPECT_EQ(s->oldest_rejected(s->id_of("payments")), std::nullopt);
    reject(*s, {{0, 1}, {0, 2}}, k_noon, {});
    reject(*s, {{0, 3}}, k_noon + 1h, {.before = k_noon - 1ms});
    EXPECT_EQ(in_order(*s), (offsets{1, 2, 3}));
    must(s->sync());
  }
  {
    auto s = open();
    EXPECT_EQ(s->oldest_rejected(s->id_of("payments")), k_noon);
    reject(*s, {}, k_noon + 2h, {.before = k_noon});
    EXPECT_EQ(in_order(*s), offsets{3}) << "also by a step that rejects nothing";
    EXPECT_EQ(s->oldest_rejected(s->id_of("payments")), k_noon + 1h);
    must(s->sync());
  }
  EXPECT_EQ(in_order(*open()), offsets{3});
}

TEST_F(kept_records, of_one_record_are_told_apart_by_their_place_in_it) {
  const auto places = [](const store& s, std::optional<kept_rejected::position> after = {}) {
    std::vector<event_place> seen;
    const auto view = must(s.view());
    EXPECT_TRUE(view->each_rejected(s.id_of("payments"), after, [&](const rejected_row& row) {
      seen.push_back({row.offset, row.index});
      return true;
    }));
    return seen;
  };
  using all = std::vector<event_place>;
  {
    auto s = open();
    write(*s, s->id_of("payments"), {}, [&](step_batch& batch, stream_change&) {
      for (const auto& [offset, index] : all{{1, 0}, {1, 1}, {1, 300}, {2, 0}}) {
        rejected_row r;
        r.where = {"t", partition_id{0}};
        r.offset = offset;
        r.index = index;
        r.at = k_noon;
        batch.parts[0].rejected.push_back(r);
      }
    });
    must(s->sync());
  }
  auto s = open();
  EXPECT_EQ(places(*s), (all{{1, 0}, {1, 1}, {1, 300}, {2, 0}}));
  const topic_partition where{"t", partition_id{0}};
  EXPECT_EQ(places(*s, kept_rejected::position{where, 1, 0}), (all{{1, 1}, {1, 300}, {2, 0}}));
  EXPECT_EQ(places(*s, kept_rejected::position{where, 1, 1}), (all{{1, 300}, {2, 0}}));
  EXPECT_EQ(places(*s, kept_rejected::position{where, 1, 300}), (all{{2, 0}}));
  reject(*s, {}, k_noon + 1h, {.records = 2});
  EXPECT_EQ(places(*s).size(), 4U) << "a step that rejects nothing, and no age";
  reject(*s, {{0, 3}}, k_noon + 1h, {.records = 2});
  EXPECT_EQ(places(*s), (all{{2, 0}, {3, 0}}));
}

TEST_F(kept_records, are_as_many_as_the_step_says) {
  auto s = open();
  reject(*s, {{0, 1}, {0, 2}, {0, 3}, {0, 4}}, k_noon, {.records = 2});
  EXPECT_EQ(in_order(*s), (offsets{3, 4}));
  reject(*s, {{0, 5}}, k_noon, {.records = 1});
  EXPECT_EQ(in_order(*s), offsets{5});
}

TEST_F(kept_records, are_walked_through_by_position_page_by_page) {
  auto s = open();
  reject(*s, {{1, 4}, {0, 300}, {0, 2}, {10, 1}}, k_noon, {});
  EXPECT_EQ(in_order(*s), (offsets{2, 300, 4, 1}));
  EXPECT_EQ(in_order(*s, {}, 2), (offsets{2, 300}));
  EXPECT_EQ(in_order(*s, kept_rejected::position{{"t", partition_id{0}}, 300}), (offsets{4, 1}));
  EXPECT_EQ(in_order(*s, kept_rejected::position{{"t", partition_id{0}}, 3}), (offsets{300, 4, 1}))
      << "it need not be there";
}

TEST_F(kept_records, are_read_as_they_were_written) {
  auto s = open();
  reject(*s, {{2, 5}}, k_noon, {});
  const auto rows = must(support::newest_rejected(*must(s->view()), s->id_of("payments"), 10));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].at, k_noon);
  EXPECT_EQ(rows[0].sequence, seq(3, 7));
  EXPECT_EQ(rows[0].id, (event_id{1, 2}));
  EXPECT_EQ(rows[0].time, k_noon - 1s);
}

TEST_F(kept_records, are_not_all_read_for_an_asker_that_is_gone) {
  auto s = open();
  reject(*s, {{0, 1}, {0, 2}, {0, 3}}, k_noon, {});
  for (int until = 1; until <= 5; ++until) {
    int calls = 0;
    int rows = 0;
    ASSERT_TRUE(must(s->view())->newest_rejected(s->id_of("payments"), 10, [&](const rejected_row* row) {
      if (row != nullptr) ++rows;
      return ++calls < until;
    }));
    EXPECT_EQ(calls, until);
    EXPECT_EQ(rows, std::max(0, until - 3)) << "behind those that tell which are the newest";
  }
}

}  // namespace
}  // namespace ratchet
