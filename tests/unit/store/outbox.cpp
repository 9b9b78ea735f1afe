// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/layout/outbox.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <atomic>

#include "store/open/verify.hpp"
#include "support/store_support.hpp"

/// The outbox on disk: what a step puts there is there with the step, and goes as it was told.
namespace ratchet {
namespace {

using store_support::must;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t k_any_bytes = std::uint64_t{1} << 30U;

struct an_outbox : store_support::fixture {
  static std::vector<output_row> rows_of(const store& s, const std::vector<std::string>& values) {
    std::vector<output_row> rows;
    for (const std::string& value : values) {
      output_row& row = rows.emplace_back();
      row.position = s.outbox().next + rows.size() - 1;
      row.stream = s.id_of("payments");
      row.topic = "out";
      row.value = value;
    }
    return rows;
  }
  static void put(store& s, const std::vector<std::string>& values) {
    (void)write(s, s.id_of("payments"), {{"p1", seq(s.last_step() + 1), "x"}},
                [&](step_batch& batch, stream_change&) { batch.outbox.puts = rows_of(s, values); });
  }
  /// A step that does nothing else.
  static void trim(store& s, std::uint64_t rows) {
    step_batch batch;
    batch.step = s.last_step() + 1;
    batch.outbox.trimmed_rows = rows;
    for (const output_row& row :
         must(s.outputs({}, s.outbox().first, s.outbox().first + rows, rows, k_any_bytes)))
      batch.outbox.trimmed_bytes += row.bytes();
    must(s.write(batch));
    must(s.sync());
  }
  static std::vector<std::string> values(const store& s, std::size_t limit = 1000,
                                         std::uint64_t bytes = k_any_bytes) {
    std::vector<std::string> out;
    for (const output_row& row : must(s.outputs({}, s.outbox().first, s.outbox().next, limit, bytes)))
      out.push_back(*row.value);
    return out;
  }
};

TEST_F(an_outbox, is_empty_at_first) {
  auto s = open();
  EXPECT_EQ(s->outbox(), outbox_state{});
  EXPECT_THAT(values(*s), IsEmpty());
}

TEST_F(an_outbox, holds_what_steps_put_there_in_order_over_a_restart) {
  auto s = open();
  put(*s, {"a", "b"});
  put(*s, {});
  put(*s, {"c"});
  for (int opens = 0; opens < 2; ++opens) {
    must(s->sync());
    EXPECT_THAT(values(*s), ElementsAre("a", "b", "c"));
    EXPECT_EQ(s->outbox().rows(), 3U);
    EXPECT_EQ(s->outbox().bytes, 3 * rows_of(*s, {"x"})[0].bytes());
    EXPECT_EQ(must(must(s->view())->outbox()), s->outbox());
    s.reset();
    EXPECT_THAT(must(verify_store(path())), IsEmpty());
    s = open();
  }
}

TEST_F(an_outbox, is_read_in_pages) {
  auto s = open();
  put(*s, {"a", "b", "c"});
  must(s->sync());
  EXPECT_THAT(values(*s, 2), ElementsAre("a", "b"));
  EXPECT_THAT(values(*s, 9, 1), ElementsAre("a")) << "at least one, or it would go nowhere";
  const auto behind = must(s->outputs({}, 1, 2, 9, k_any_bytes));
  ASSERT_EQ(behind.size(), 1U);
  EXPECT_EQ(behind[0].position, 1U);
  EXPECT_THAT(must(s->outputs({}, 3, 4, 9, k_any_bytes)), IsEmpty()) << "not there";
}

TEST_F(an_outbox, forgets_what_was_delivered) {
  auto s = open();
  put(*s, {"a", "b", "c"});
  must(s->sync());
  trim(*s, 2);
  EXPECT_THAT(values(*s), ElementsAre("c"));
  trim(*s, 1);
  EXPECT_EQ(s->outbox(), (outbox_state{3, 3, 0}));
  put(*s, {"d"});
  must(s->sync());
  EXPECT_THAT(values(*s), ElementsAre("d"));
  s.reset();
  EXPECT_THAT(must(verify_store(path())), IsEmpty());
  s = open();
  EXPECT_THAT(values(*s), ElementsAre("d"));
  EXPECT_EQ(s->outbox().first, 3U) << "positions are never used twice";
}

TEST_F(an_outbox, is_checked) {
  auto s = open();
  put(*s, {"a", "b"});
  must(s->sync());
  rocksdb::WriteBatch batch;
  database& db = database_of(*s);
  ASSERT_TRUE(batch.Delete(db.handle(family::outbox), layout::output_key(0)).ok());
  ASSERT_TRUE(batch.Put(db.handle(family::outbox), layout::output_key(9), "?").ok());
  ASSERT_TRUE(db.db().Write({}, &batch).ok());
  must(s->sync());
  s.reset();
  EXPECT_THAT(must(verify_store(path())),
              ElementsAre(HasSubstr("cannot be decoded"), HasSubstr("2 outputs of")));
}

struct an_outbox_with_lanes : an_outbox {
  static void put_for(store& s, const std::string& to, const std::vector<std::string>& values) {
    (void)write(s, s.id_of("payments"), {{"p1", seq(s.last_step() + 1), "x"}},
                [&](step_batch& batch, stream_change&) {
                  batch.outbox.puts = rows_of(s, values);
                  for (output_row& row : batch.outbox.puts) row.topic = to;
                  batch.outbox.number(s.outboxes(), 0);
                });
  }
  static std::vector<std::string> values_of(const store& s, const std::string& lane) {
    std::vector<std::string> out;
    const outbox_state all = s.outboxes().of(lane);
    for (const output_row& row : must(s.outputs(lane, all.first, all.next, 100, k_any_bytes)))
      out.push_back(*row.value);
    return out;
  }
  static void trim_of(store& s, const std::string& lane, std::uint64_t rows) {
    step_batch batch;
    batch.step = s.last_step() + 1;
    batch.outbox.trimmed_lane = lane;
    batch.outbox.trimmed_rows = rows;
    const std::uint64_t first = s.outboxes().of(lane).first;
    for (const output_row& row : must(s.outputs(lane, first, first + rows, rows, k_any_bytes)))
      batch.outbox.trimmed_bytes += row.bytes();
    must(s.write(batch));
    must(s.sync());
  }
};

TEST_F(an_outbox_with_lanes, keeps_them_apart_and_remembers_their_positions) {
  auto s = open();
  put_for(*s, "t", {"k1", "k2"});
  put_for(*s, "sink:a", {"a1", "a2", "a3"});
  put_for(*s, "sink:ab", {"b1"});
  must(s->sync());
  EXPECT_THAT(values(*s), ElementsAre("k1", "k2"));
  EXPECT_THAT(values_of(*s, "a"), ElementsAre("a1", "a2", "a3"));
  EXPECT_THAT(values_of(*s, "ab"), ElementsAre("b1"));
  trim_of(*s, "a", 2);
  s.reset();
  EXPECT_THAT(must(verify_store(path())), IsEmpty());
  s = open();
  EXPECT_THAT(values(*s), ElementsAre("k1", "k2"));
  EXPECT_THAT(values_of(*s, "a"), ElementsAre("a3"));
  EXPECT_THAT(values_of(*s, "ab"), ElementsAre("b1"));
  EXPECT_EQ(s->outboxes().of("a").first, 2U);
  EXPECT_EQ(must(must(s->view())->outboxes()), s->outboxes());
  trim_of(*s, "a", 1);
  s.reset();
  s = open();
  EXPECT_EQ(s->outboxes().of("a"), (outbox_state{3, 3, 0})) << "positions are never used twice";
  EXPECT_EQ(s->outboxes().rows(), 3U);
}

TEST_F(an_outbox_with_lanes, holds_what_takes_the_place_of_a_skipped_message) {
  auto s = open();
  put_for(*s, "sink:a", {"a1", "a2", "a3"});
  must(s->sync());
  const output_row whole = must(s->outputs("a", 1, 2, 1, k_any_bytes)).front();
  step_batch batch;
  batch.step = s->last_step() + 1;
  batch.outbox.skipped = skipped_output{skipped_row(whole), whole.bytes()};
  must(s->write(batch));
  must(s->sync());
  for (int opens = 0; opens < 2; ++opens) {
    const auto rows = must(s->outputs("a", 0, 3, 9, k_any_bytes));
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[1], skipped_row(whole));
    EXPECT_EQ(rows[1].kind, output_kind::skipped);
    EXPECT_FALSE(rows[1].value);
    EXPECT_EQ(s->outboxes().of("a").bytes, rows[0].bytes() + rows[1].bytes() + rows[2].bytes());
    s.reset();
    EXPECT_THAT(must(verify_store(path())), IsEmpty());
    s = open();
  }
}

TEST_F(an_outbox_with_lanes, is_checked_lane_by_lane) {
  auto s = open();
  put_for(*s, "sink:a", {"a1", "a2"});
  must(s->sync());
  rocksdb::WriteBatch batch;
  database& db = database_of(*s);
  ASSERT_TRUE(batch.Delete(db.handle(family::outbox), layout::output_key(0, "a")).ok());
  ASSERT_TRUE(db.db().Write({}, &batch).ok());
  must(s->sync());
  s.reset();
  EXPECT_THAT(must(verify_store(path())), ElementsAre(HasSubstr("outbox of sink a: 2 outputs of")));
}

TEST_F(an_outbox, tells_whoever_waits_that_a_step_is_durable) {
  auto s = open();
  std::atomic<int> told{0};
  std::atomic<std::uint64_t> durable{0};
  auto subscribed = s->durable().on_move([&] {
    durable = s->durable_step();
    ++told;
  });
  put(*s, {"a"});
  must(s->sync());
  EXPECT_EQ(told, 1);
  EXPECT_EQ(durable, s->last_step());
  must(s->sync());
  EXPECT_EQ(told, 1) << "nothing moved";
  subscribed.end();
  put(*s, {"b"});
  must(s->sync());
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace ratchet
