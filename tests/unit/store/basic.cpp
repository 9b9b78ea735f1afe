// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "store/open/verify.hpp"
#include "support/all_rows.hpp"
#include "support/store_support.hpp"

namespace ratchet {
namespace {

using store_support::fixture;
using store_support::id_for;
using store_support::must;
using store_support::plan_of;

class a_store : public fixture {};

TEST_F(a_store, reads_back_what_a_step_wrote) {
  auto s = open();
  const stream_id stream = s->id_of("payments");
  write(*s, stream, {{"p1", seq(1), "one"}, {"p2", seq(7), std::string(5000, 'x')}});
  EXPECT_EQ(s->last_step(), 1U);

  step_plan plan = plan_of({"p2", "p1", "p3"});
  plan.needs_snapshots = true;
  plan.ids = {{0, id_for("p2", 7)}, {1, id_for("p1", 1)}, {0, id_for("p1", 1)}};
  step_rows rows;
  ASSERT_TRUE(s->lookup(stream, plan, rows));
  ASSERT_EQ(rows.aggregates.size(), 3U);
  ASSERT_TRUE(rows.aggregates[0]);
  EXPECT_EQ(rows.aggregates[0]->last, seq(7));
  EXPECT_EQ(rows.aggregates[0]->snapshot, std::string(5000, 'x'));
  ASSERT_TRUE(rows.aggregates[1]);
  EXPECT_EQ(rows.aggregates[1]->snapshot, "one");
  EXPECT_EQ(rows.aggregates[1]->id, id_for("p1", 1));
  EXPECT_FALSE(rows.aggregates[2]);
  EXPECT_EQ(rows.id_stored, (std::vector<std::uint8_t>{1, 1, 0}));
}

/// Whatever the order of their keys: a step has to go on, and to hold no more than it may.
TEST_F(a_store, looks_up_the_first_ones_alone_where_snapshots_are_large) {
  auto s = open();
  const stream_id stream = s->id_of("payments");
  const std::string large(std::size_t{3} << 20U, 'x');
  std::vector<std::string> names;
  for (int i = 0; i < 6; ++i) {
    names.push_back("p" + std::to_string(i));
    write(*s, stream, {{names.back(), seq(1), large + names.back()}});
  }
  write(*s, stream, {{"small", seq(1), "one"}});
  step_plan plan = plan_of({"new", "p5", "p0", "small", "p4", "p1", "p3", "p2"});
  plan.needs_snapshots = true;
  step_rows rows;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(s->lookup(stream, plan, rows));
    ASSERT_EQ(rows.aggregates.size(), 5U) << "three of three MiB are more than is looked up for one step";
    EXPECT_FALSE(rows.aggregates[0]);
    for (const std::size_t n : {1U, 2U, 4U}) {
      ASSERT_TRUE(rows.aggregates[n]);
      EXPECT_EQ(rows.aggregates[n]->snapshot, large + std::string{plan.aggregates[n]});
    }
    ASSERT_TRUE(rows.aggregates[3]);
    EXPECT_EQ(rows.aggregates[3]->snapshot, "one");
  }
  plan = plan_of({"p3"});
  plan.needs_snapshots = true;
  ASSERT_TRUE(s->lookup(stream, plan, rows));
  ASSERT_EQ(rows.aggregates.size(), 1U);
  EXPECT_EQ(rows.aggregates[0]->snapshot, large + "p3") << "one is looked up whatever its size";
}

TEST_F(a_store, keeps_everything_over_a_close_and_an_open) {
  stream_state before;
  std::string uuid;
  {
    auto s = open();
    uuid = s->uuid();
    write(*s, s->id_of("payments"), {{"p1", seq(1), "one"}}, [&](step_batch& batch, stream_change& change) {
      const timestamp time{std::chrono::milliseconds{1'700'000'000'000}};
      change.after.floor = time;
      change.after.partitions.begin()->second = {
          7, 0, time, {}, true, 3, known_record{6, {1, 2}}, {{"/a", seq(4)}}};
      rejected_row rejected;
      rejected.where = {"payment-status", partition_id{0}};
      rejected.offset = 5;
      batch.parts[0].rejected.push_back(rejected);
      batch.audits.push_back({batch.step, time, "test", "payments", "a line"});
      before = change.after;
    });
    ASSERT_TRUE(s->set_cluster_id("cluster-1"));
  }
  auto s = open();
  EXPECT_EQ(s->uuid(), uuid);
  EXPECT_EQ(s->uuid().size(), 36U);
  EXPECT_EQ(s->cluster_id(), "cluster-1");
  EXPECT_EQ(s->last_step(), 1U);
  EXPECT_EQ(s->durable_step(), 1U);
  EXPECT_EQ(must(s->load(s->id_of("payments"))), before);
  const auto view = must(s->view());
  EXPECT_EQ(must(view->get(s->id_of("payments"), "p1")).snapshot, "one");
  EXPECT_EQ(must(support::newest_rejected(*view, s->id_of("payments"), 10)).size(), 1U);
  EXPECT_EQ(must(support::all_audits(*view)).size(), 1U);
}

TEST_F(a_store, shows_a_step_as_durable_only_after_a_sync) {
  auto s = open();
  write(*s, s->id_of("payments"), {{"p1", seq(1), "one"}});
  EXPECT_EQ(s->durable_step(), 0U);
  ASSERT_TRUE(s->sync());
  EXPECT_EQ(s->durable_step(), 1U);
}

TEST_F(a_store, refuses_a_step_out_of_order_and_goes_on) {
  auto s = open();
  step_batch batch;
  batch.step = 2;
  EXPECT_EQ(s->write(batch).error(), make_error_code(errc::internal));
  batch.step = 1;
  EXPECT_TRUE(s->write(batch));
}

TEST_F(a_store, moves_a_snapshot_between_inline_and_its_own_family_as_its_size_changes) {
  auto s = open();
  const stream_id stream = s->id_of("payments");
  const auto snapshot_now = [&] { return must(must(s->view())->get(stream, "p1")).snapshot; };
  write(*s, stream, {{"p1", seq(1), std::string(1024, 'a')}});
  EXPECT_EQ(snapshot_now(), std::string(1024, 'a'));
  write(*s, stream, {{"p1", seq(2), std::string(1025, 'b')}});
  EXPECT_EQ(snapshot_now(), std::string(1025, 'b'));
  write(*s, stream, {{"p1", seq(3), "small"}});
  EXPECT_EQ(snapshot_now(), "small");
  s.reset();
  EXPECT_TRUE(must(verify_store(path())).empty());
}

TEST_F(a_store, draws_incarnations_that_only_grow_and_lists_them) {
  auto s = open();
  EXPECT_EQ(must(s->draw_incarnation(0, 11)), (incarnation{1, 11}));
  EXPECT_EQ(must(s->draw_incarnation(7, 12)), (incarnation{8, 12}));
  s.reset();
  s = open();
  EXPECT_EQ(must(s->draw_incarnation(3, 13)), (incarnation{9, 13}));
  EXPECT_EQ(s->incarnations(), (std::vector<incarnation>{{1, 11}, {8, 12}, {9, 13}}));
}

TEST_F(a_store, shows_a_view_as_of_its_step_while_writing_goes_on) {
  auto s = open();
  const stream_id stream = s->id_of("payments");
  write(*s, stream, {{"p1", seq(1), "one"}});
  auto view = must(s->view());
  write(*s, stream, {{"p1", seq(2), "two"}, {"p2", seq(1), "new"}});
  EXPECT_EQ(view->step(), 1U);
  EXPECT_EQ(must(view->get(stream, "p1")).snapshot, "one");
  EXPECT_EQ(view->get(stream, "p2").error(), make_error_code(errc::not_found));
  EXPECT_EQ(must(view->load(stream)).counters.applied, 1U);
  EXPECT_EQ(must(s->view())->step(), 2U);
}

TEST_F(a_store, scans_rows_in_byte_order_and_stops_when_told) {
  auto s = open();
  const stream_id stream = s->id_of("payments");
  write(
      *s, stream,
      {{"b", seq(1), "2"}, {"a", seq(1), "1"}, {std::string("a\0", 2), seq(1), "x"}, {"\xff", seq(1), "3"}});
  std::vector<std::string> seen;
  ASSERT_TRUE(must(s->view())->scan(stream, [&](const scanned_row& r) {
    seen.emplace_back(r.aggregate);
    return seen.size() < 3;
  }));
  EXPECT_EQ(seen, (std::vector<std::string>{"a", std::string("a\0", 2), "b"}));
}

}  // namespace
}  // namespace ratchet
