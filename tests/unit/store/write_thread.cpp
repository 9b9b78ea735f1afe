// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

#include "store/rocks_open.hpp"
#include "support/store_support.hpp"
#include "unit/store/faults.hpp"

namespace ratchet {
namespace {

using namespace std::chrono_literals;
using store_support::failing_file_system;
using store_support::fixture;
using store_support::id_for;
using store_support::must;
using store_support::plan_of;
using store_support::switches;

/// A store whose writes can be held up. One step is written and synced.
class a_step_under_way : public fixture {
 protected:
  void SetUp() override {
    store_ = must(open_store(options(), env_.get()));
    stream_ = store_->id_of("payments");
    write(*store_, stream_, {{"p1", seq(1), "one"}});
    must(store_->sync());
  }
  /// Waits until a write is allowed to end.
  void TearDown() override { release(); }

  void hold() { held_.hold_append = true; }
  void release() {
    held_.hold_append = false;
    held_.hold_append.notify_all();
  }
  /// The step of `aggregate` is under way when this returns.
  void write_held(const char* aggregate) {
    hold();
    write(*store_, stream_, {{aggregate, seq(2), "two"}});
    EXPECT_EQ(store_->last_step(), 2U);
  }
  /// What `call` gives, which must not end before the write does.
  template <class Call>
  auto after_the_write(Call call) {
    auto running = std::async(std::launch::async, call);
    EXPECT_EQ(running.wait_for(50ms), std::future_status::timeout) << "it did not wait";
    release();
    return running.get();
  }

  switches held_;
  std::unique_ptr<rocksdb::Env> env_{rocksdb::NewCompositeEnv(std::make_shared<failing_file_system>(held_))};
  std::unique_ptr<store> store_;
  stream_id stream_{0};
};

TEST_F(a_step_under_way, does_not_keep_the_owner_from_looking_up_what_is_remembered) {
  write_held("p2");
  step_plan plan = plan_of({"p1", "p2", "p3"});
  plan.ids = {{0, id_for("p1", 1)}, {1, id_for("p2", 2)}, {2, id_for("p3", 3)}};
  step_rows rows;
  must(store_->lookup(stream_, plan, rows));
  ASSERT_TRUE(rows.aggregates[1]);
  EXPECT_EQ(rows.aggregates[1]->last, seq(2));
  EXPECT_FALSE(rows.aggregates[2]);
  EXPECT_EQ(rows.id_stored, (std::vector<std::uint8_t>{1, 1, 0}));
}

TEST_F(a_step_under_way, is_waited_for_where_the_database_must_be_asked) {
  write_held("p2");
  const auto rows = after_the_write([this] {
    step_plan plan = plan_of({"p2"});
    plan.needs_snapshots = true;
    step_rows out;
    must(store_->lookup(stream_, plan, out));
    return out;
  });
  ASSERT_TRUE(rows.aggregates[0]);
  EXPECT_EQ(rows.aggregates[0]->snapshot, "two");
}

TEST_F(a_step_under_way, is_waited_for_where_it_has_more_ids_than_are_remembered) {
  store_.reset();
  store_options little = options();
  little.remembered_bytes = 0;
  store_ = must(open_store(little, env_.get()));
  const step_plan plan = plan_of({"p2"});
  hold();
  write(*store_, stream_, {}, [&plan](step_batch& batch, stream_change& change) {
    batch.parts[0].plan = &plan;
    change.rows = {{0, {}}};
    for (std::uint64_t n = 0; n < 20'000; ++n) change.ids.push_back({0, id_for("p2", n)});
  });
  const auto rows = after_the_write([&] {
    step_plan asked = plan;
    asked.ids = {{0, id_for("p2", 0)}};
    step_rows out;
    must(store_->lookup(stream_, asked, out));
    return out;
  });
  EXPECT_EQ(rows.id_stored, (std::vector<std::uint8_t>{1}));
}

TEST_F(a_step_under_way, is_in_every_view_and_state_that_is_read_behind_it) {
  write_held("p2");
  const auto view = after_the_write([this] { return must(store_->view()); });
  EXPECT_EQ(view->step(), 2U);
  EXPECT_EQ(must(view->get(stream_, "p2")).snapshot, "two");
  hold();
  write(*store_, stream_, {{"p3", seq(3), "three"}},
        [](step_batch&, stream_change& change) { change.after.counters.applied = 77; });
  EXPECT_EQ(after_the_write([this] { return must(store_->load(stream_)); }).counters.applied, 77U);
}

TEST_F(a_step_under_way, is_covered_by_a_sync_that_is_waited_for) {
  write_held("p2");
  EXPECT_TRUE(after_the_write([this] { return store_->sync(); }));
  EXPECT_EQ(store_->durable_step(), 2U);
}

TEST_F(a_step_under_way, is_covered_by_a_sync_that_is_asked_for_and_not_waited_for) {
  write_held("p2");
  store_->request_sync();
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(store_->durable_step(), 1U);
  release();
  const auto until = std::chrono::steady_clock::now() + 10s;
  while (store_->durable_step() < 2 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(1ms);
  EXPECT_EQ(store_->durable_step(), 2U);
}

TEST_F(a_step_under_way, ends_before_the_next_one_begins) {
  write_held("p2");
  EXPECT_TRUE(after_the_write([this] {
    step_batch next;
    next.step = 3;
    return store_->write(next);
  }));
  store_.reset();
  auto again = open();
  EXPECT_EQ(again->last_step(), 3U);
  EXPECT_EQ(must(must(again->view())->get(stream_, "p2")).snapshot, "two");
}

TEST_F(a_step_under_way, is_ended_by_closing_the_store) {
  write_held("p2");
  after_the_write([this] {
    store_.reset();
    return true;
  });
  EXPECT_EQ(open()->last_step(), 2U);
}

TEST_F(a_step_under_way, that_fails_is_told_by_the_next_call_and_is_never_durable) {
  held_.fail_append = true;
  write(*store_, stream_, {{"p2", seq(2), "two"}});
  EXPECT_EQ(store_->view().error(), make_error_code(errc::write_indeterminate));
  EXPECT_NE(store_->failure().find("told to fail"), std::string::npos);
  held_.fail_append = false;
  EXPECT_EQ(store_->sync().error(), make_error_code(errc::write_indeterminate));
  step_batch next;
  next.step = 3;
  EXPECT_EQ(store_->write(next).error(), make_error_code(errc::write_indeterminate));
  store_->request_sync();  // with a log that a write has failed in, nobody syncs any more
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(store_->durable_step(), 1U);
  store_.reset();
  EXPECT_EQ(open()->last_step(), 1U);
}

}  // namespace
}  // namespace ratchet
