// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The pipeline's own promises, and the decoding thread.
#include "pipeline/pipeline.hpp"

#include <gtest/gtest.h>

#include "pipeline/stop_messages.hpp"
#include "support/all_rows.hpp"
#include "support/session_world.hpp"

namespace ratchet::testing {
namespace {

struct publishing {
  static constexpr reducer_traits traits{.name = "publishing", .version = 1};
  outcome apply(const ratchet::event& e, state& s, effects& fx) const {
    s.assign(e.payload);
    fx.publish({.topic = "out", .key = e.aggregate, .payload = e.payload});
    return done();
  }
};

class pipeline_of_one : public ::testing::Test {
 protected:
  pipeline_of_one() {
    settings_.streams = {payments()};
    reduce_with({});
  }
  void reduce_with(const reducers& own) {
    auto made = make_streams(settings_, own);
    streams_ = std::move(*made);
    tasks_ = make_tasks(streams_);
    EXPECT_TRUE(load_tasks(streams_, tasks_, store_));
  }
  static std::unique_ptr<record_batch> batch(int from, int to) {
    auto made = std::make_unique<fake_batch>();
    for (int n = from; n <= to; ++n) made->add(&k_p0, {n - 1, event("a" + std::to_string(n), n), {}});
    return made;
  }
  result<void> take(pipeline& p, int from, int to) {
    decode_stage stage{streams_};
    stage.run(batch(from, to), input_);
    return p.handle(input_);
  }

  /// One batch with the event of this number of each of so many aggregates.
  result<void> take_one_of_each(pipeline& p, int aggregates, int number) {
    auto made = std::make_unique<fake_batch>();
    for (int n = 0; n < aggregates; ++n)
      made->add(&k_p0, {next_offset_++, event("a" + std::to_string(n), number), {}});
    decode_stage stage{streams_};
    stage.run(std::move(made), input_);
    return p.handle(input_);
  }

  /// One step with a record that cannot be decoded.
  void reject(pipeline& p, std::int64_t offset) {
    auto made = std::make_unique<fake_batch>();
    made->add(&k_p0, {offset, "{", {}});
    decode_stage stage{streams_};
    stage.run(std::move(made), input_);
    ASSERT_TRUE(p.handle(input_));
  }
  std::vector<rejected_row> rejected() {
    return support::newest_rejected(*store_.under().view().value(), streams_[0]->id, 100).value();
  }

  config settings_;
  journal calls_;
  fake_clock clock_;
  watched_store store_{calls_, {"payments"}, k_own_uuid};
  stream_list streams_;
  task_list tasks_;
  decoded_input input_;
  std::int64_t next_offset_{0};
};

/// The first event of each aggregate fails once.
struct failing_at_first {
  static constexpr reducer_traits traits{.name = "failing_at_first", .version = 1};
  outcome apply(const ratchet::event& e, state& s, effects&) const {
    if (e.aggregate == "a" && e.sequence.number == 1 && e.attempt == 1) {
      return retry(make_error_code(errc::internal));
    }
    s.assign(e.payload);
    return done();
  }
};

TEST_F(pipeline_of_one, stops_for_an_old_gap_that_a_release_leaves_behind_before_it_handles_more) {
  settings_.streams[0].order = order::strict;
  settings_.streams[0].gap = {gap_policy::stop, std::chrono::seconds{1}};
  reduce_with(reducers{}.add("payments", failing_at_first{}));
  const auto take_at = [&](pipeline& p, std::int64_t offset, const std::string& value, timestamp time) {
    auto made = std::make_unique<fake_batch>();
    made->add(&k_p0, {offset, value, time});
    decode_stage stage{streams_};
    stage.run(std::move(made), input_);
    return p.handle(input_);
  };
  const timestamp begin = clock_.now();
  {
    pipeline p{tasks_, store_, clock_};
    ASSERT_TRUE(take_at(p, 0, event("a", 1), begin));
    ASSERT_TRUE(take_at(p, 1, event("a", 3), begin));
    ASSERT_TRUE(take_at(p, 2, event("b", 1), begin + std::chrono::seconds{5}));
    EXPECT_TRUE(p.stopped().empty()) << "a's lowest event is no gap's: it is to be tried again";
  }
  clock_.advance(std::chrono::hours{1});
  ASSERT_TRUE(load_tasks(streams_, tasks_, store_));
  pipeline p{tasks_, store_, clock_};
  auto made = std::make_unique<fake_batch>();
  made->add(&k_p0, {3, event("c", 1), begin + std::chrono::seconds{6}});
  made->add(&k_p0, {4, event("d", 1), begin + std::chrono::seconds{6}});
  decode_stage stage{streams_};
  stage.run(std::move(made), input_);
  ASSERT_TRUE(p.handle(input_));
  EXPECT_EQ(store_.snapshot_of("payments", "a"), "1") << "it was due, and now its gap is as old as can be";
  EXPECT_TRUE(p.stopped().contains(k_p0));
  EXPECT_EQ(store_.snapshot_of("payments", "c"), "1");
  EXPECT_EQ(store_.snapshot_of("payments", "d"), "nothing");
}

TEST_F(pipeline_of_one, gives_what_is_missing_the_whole_time_out_again_behind_a_start) {
  settings_.streams[0].order = order::strict;
  settings_.streams[0].gap = {gap_policy::stop, std::chrono::seconds{10}};
  reduce_with({});
  const timestamp begin = clock_.now();
  const auto take_at = [&](pipeline& p, std::int64_t offset, const std::string& value, int second) {
    auto made = std::make_unique<fake_batch>();
    made->add(&k_p0, {offset, value, begin + std::chrono::seconds{second}});
    decode_stage stage{streams_};
    stage.run(std::move(made), input_);
    ASSERT_TRUE(p.handle(input_));
  };
  {
    pipeline p{tasks_, store_, clock_};
    take_at(p, 0, event("a", 2), 0);
    take_at(p, 1, event("b", 1), 10);
    EXPECT_TRUE(p.stopped().contains(k_p0));
  }
  for (const bool comes : {false, true}) {
    ASSERT_TRUE(load_tasks(streams_, tasks_, store_));
    const std::int64_t next = tasks_[0]->state.partitions.at(k_p0).next_offset;
    const int second = comes ? 20 : 10;
    pipeline p{tasks_, store_, clock_};
    take_at(p, next, event("c" + std::to_string(next), 1), second);
    take_at(p, next + 1, event("d" + std::to_string(next), 1), second + 9);
    EXPECT_TRUE(p.stopped().empty()) << "nine seconds are not ten";
    if (comes) take_at(p, next + 2, event("a", 1), second + 9);
    take_at(p, next + 2 + (comes ? 1 : 0), event("e", 1), second + 10);
    EXPECT_EQ(p.stopped().contains(k_p0), !comes);
  }
  EXPECT_EQ(store_.snapshot_of("payments", "a"), "2");
}

TEST_F(pipeline_of_one, takes_no_gap_for_old_because_the_window_was_made_longer) {
  using std::chrono::minutes;
  stream_config& config = settings_.streams[0];
  config.order = order::strict;
  config.gap = {gap_policy::skip, minutes{60}};
  config.dedup.window = std::chrono::hours{24};
  reduce_with({});
  const timestamp begin = clock_.now() - minutes{300};
  const auto take_at = [&](std::int64_t offset, const std::string& value, timestamp time) {
    auto made = std::make_unique<fake_batch>();
    made->add(&k_p0, {offset, value, time});
    decode_stage stage{streams_};
    stage.run(std::move(made), input_);
    pipeline p{tasks_, store_, clock_};
    return p.handle(input_);
  };
  ASSERT_TRUE(take_at(0, event("a", 1), begin));
  ASSERT_TRUE(take_at(1, event("a", 3), begin));
  ASSERT_TRUE(take_at(2, event("b", 1), begin + minutes{10}));

  config.dedup.window = std::chrono::hours{48};
  reduce_with({});
  ASSERT_TRUE(take_at(3, event("b", 2), begin + minutes{20}));
  EXPECT_EQ(store_.snapshot_of("payments", "a"), "1") << "the gap is twenty minutes old, not a day";
  ASSERT_TRUE(take_at(4, event("a", 2), begin + minutes{30}));
  EXPECT_EQ(store_.snapshot_of("payments", "a"), "3") << "what was missing has come";

  ASSERT_TRUE(take_at(5, event("a", 5), begin + minutes{40}));
  clock_.advance(std::chrono::hours{72});
  ASSERT_TRUE(take_at(6, event("b", 3), begin + std::chrono::hours{30}));
  ASSERT_TRUE(take_at(7, event("b", 4), begin + std::chrono::hours{32}));
  ASSERT_TRUE(take_at(8, event("b", 5), begin + std::chrono::hours{60}));
  EXPECT_EQ(store_.snapshot_of("payments", "a"), "5") << "once the floor moves again, gaps have an age again";
}

TEST_F(pipeline_of_one, answers_the_sender_with_the_floor_before_its_record) {
  settings_.streams[0].rejections = "answers";
  reduce_with({});
  pipeline p{tasks_, store_, clock_};
  auto made = std::make_unique<fake_batch>();  // one step
  made->add(&k_p0, {0, "{", clock_.now()});
  made->add(&k_p0, {1, "[", clock_.now()});
  decode_stage stage{streams_};
  stage.run(std::move(made), input_);
  ASSERT_TRUE(p.handle(input_));
  const auto rows = store_.outputs({}, 0, 100, 100, 1U << 20U);
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows.value().size(), 2U);
  const auto says = [&](std::size_t i, const char* part) {
    return rows.value()[i].value.value_or("").find(part) != std::string::npos;
  };
  EXPECT_TRUE(says(0, R"("floor":null)")) << "there is none yet";
  EXPECT_TRUE(says(1, R"("floor":"20)"));
}

TEST_F(pipeline_of_one, keeps_its_state_and_explains_nothing_where_the_write_fails) {
  pipeline p{tasks_, store_, clock_};
  int explained = 0;
  p.on_record(
      [&](const stream_definition&, const decoded_event&, decision, const event_wait*) { ++explained; });
  const stream_state before = tasks_[0]->state;
  store_.writes_until_failure = 0;
  EXPECT_EQ(take(p, 1, 3).error(), errc::write_indeterminate);
  EXPECT_EQ(explained, 0);
  EXPECT_EQ(tasks_[0]->state, before);
}

TEST_F(pipeline_of_one, explains_a_record_only_when_it_is_written) {
  pipeline p{tasks_, store_, clock_};
  std::vector<std::uint64_t> steps;
  p.on_record([&](const stream_definition&, const decoded_event&, decision, const event_wait*) {
    steps.push_back(store_.last_step());
  });
  ASSERT_TRUE(take(p, 1, 3));
  EXPECT_EQ(steps, (std::vector<std::uint64_t>{1, 1, 1}));
}

TEST_F(pipeline_of_one, writes_no_step_for_records_of_stopped_partitions_alone) {
  pipeline p{tasks_, store_, clock_};
  partition_stop stop;
  stop.where = k_p0;
  p.stop_partition(stop);
  ASSERT_TRUE(take(p, 1, 3));
  EXPECT_EQ(store_.last_step(), 0U);
  p.forget_stops();
  ASSERT_TRUE(take(p, 1, 3));
  EXPECT_EQ(p.find(k_p0)->next_offset, 3);
}

TEST_F(pipeline_of_one, finishes_a_release_that_a_crash_cut_off_before_it_takes_a_record) {
  settings_.streams[0].order = order::strict;
  reduce_with({});
  // 1 was applied, 2 waits, and the step that let it go ended before it.
  partition_task& task = *tasks_[0];
  step_plan plan;
  plan.add("a3");
  stream_change change;
  aggregate_change& row = change.rows.emplace_back();
  row.row.last = seq(1);
  row.row.waits = true;
  backlog_change& waits = change.backlogs.emplace_back();
  ratchet::backlog& ready = waits.after.emplace();
  ready.parked = 1;
  ready.highest = seq(2);
  ready.ready = true;
  ready.wake = timestamp{};
  waiting_event& second = waits.puts.emplace_back();
  second.head.sequence = seq(2);
  second.own_payload = "{}";
  change.after.counters.consumed = 2;
  change.after.counters.applied = 1;
  change.after.counters.waiting_parked = 1;
  change.after.counters.waiting_bytes = second.bytes();
  step_batch batch;
  batch.step = 1;
  batch.parts.push_back({.stream = task.stream.id, .plan = &plan, .change = &change, .rejected = {}});
  ASSERT_TRUE(store_.write(batch));
  ASSERT_TRUE(load_tasks(streams_, tasks_, store_));
  pipeline p{tasks_, store_, clock_};
  std::vector<verdict> told;
  p.on_record([&](const stream_definition&, const decoded_event&, decision d, const event_wait*) {
    told.push_back(d.verdict);
  });
  ASSERT_TRUE(take(p, 3, 3));
  EXPECT_EQ(told, std::vector{verdict::applied}) << "as it would be had the step not ended there";
  EXPECT_EQ(task.state.counters.applied, 3U);
}

TEST_F(pipeline_of_one, looks_up_what_a_step_can_take_where_a_batch_closes_more_gaps_than_it_can_release) {
  settings_.streams[0].order = order::strict;
  reduce_with({});
  constexpr int k_aggregates = 500;
  store_.under().limit_queues(20);
  pipeline p{tasks_, store_, clock_};
  for (const int number : {2, 3, 4}) ASSERT_TRUE(take_one_of_each(p, k_aggregates, number));
  EXPECT_EQ(store_.looked_up, 3U * k_aggregates);
  store_.looked_up = 0;
  ASSERT_TRUE(take_one_of_each(p, k_aggregates, 1));
  EXPECT_EQ(tasks_[0]->state.counters.applied, 4U * k_aggregates);
  // With the whole rest of the batch for each of its steps it would be more than 20 times as many.
  EXPECT_LT(store_.looked_up, 6U * k_aggregates);

  for (const int number : {5, 6}) ASSERT_TRUE(take_one_of_each(p, k_aggregates, number));
  const std::uint64_t steps = store_.last_step();
  ASSERT_TRUE(take_one_of_each(p, k_aggregates, 7));
  EXPECT_EQ(store_.last_step(), steps + 1) << "where nothing is cut off, a batch is one step again";
}

TEST_F(pipeline_of_one, lets_old_rejected_records_go_at_each_step) {
  settings_.streams[0].rejected.age = std::chrono::hours{1};
  reduce_with({});
  pipeline p{tasks_, store_, clock_};
  reject(p, 0);
  clock_.advance(std::chrono::minutes{59});
  ASSERT_TRUE(take(p, 2, 2));
  EXPECT_EQ(rejected().size(), 1U);
  EXPECT_EQ(rejected()[0].at, clock_.now() - std::chrono::minutes{59});
  clock_.advance(std::chrono::minutes{1});
  ASSERT_TRUE(take(p, 3, 3));
  EXPECT_EQ(rejected().size(), 0U);
}

TEST_F(pipeline_of_one, keeps_as_many_rejected_records_as_the_config_says) {
  settings_.streams[0].rejected = {.records = 2, .age = {}};
  reduce_with({});
  pipeline p{tasks_, store_, clock_};
  for (int offset = 0; offset < 4; ++offset) reject(p, offset);
  clock_.advance(std::chrono::hours{24 * 365});
  ASSERT_TRUE(p.resume_waiting());
  ASSERT_EQ(rejected().size(), 2U);
  EXPECT_EQ(rejected()[0].offset, 3);
}

TEST_F(pipeline_of_one, lets_old_rejected_records_go_where_nothing_comes_once_a_minute) {
  settings_.streams[0].rejected.age = std::chrono::hours{1};
  reduce_with({});
  pipeline p{tasks_, store_, clock_};
  reject(p, 0);
  clock_.advance(std::chrono::seconds{30});
  reject(p, 1);
  const auto quiet_turn = [&] {
    const std::uint64_t before = store_.last_step();
    EXPECT_TRUE(p.resume_waiting());
    return store_.last_step() - before;
  };
  EXPECT_EQ(quiet_turn(), 0U) << "a look that finds nothing writes nothing";
  clock_.advance(std::chrono::hours{1} - std::chrono::seconds{30});
  EXPECT_EQ(quiet_turn(), 1U);
  EXPECT_EQ(rejected().size(), 1U);
  clock_.advance(std::chrono::seconds{59});
  EXPECT_EQ(quiet_turn(), 0U);
  clock_.advance(std::chrono::seconds{1});
  EXPECT_EQ(quiet_turn(), 1U);
  EXPECT_EQ(rejected().size(), 0U);
  EXPECT_EQ(tasks_[0]->state, store_.load(streams_[0]->id).value());
}

TEST_F(pipeline_of_one, looks_for_old_rejected_records_also_where_the_clock_was_ahead) {
  settings_.streams[0].rejected.age = std::chrono::hours{1};
  reduce_with({});
  pipeline p{tasks_, store_, clock_};
  clock_.advance(std::chrono::hours{1000});
  ASSERT_TRUE(p.resume_waiting());
  clock_.advance(-std::chrono::hours{1000});
  reject(p, 0);
  clock_.advance(std::chrono::hours{1});
  ASSERT_TRUE(p.resume_waiting());
  EXPECT_EQ(rejected().size(), 0U);
}

TEST_F(pipeline_of_one, has_a_partition_that_stops_hold_the_floor_back_before_it_handles_more) {
  settings_.streams[0].poison = 1;
  reduce_with({});
  pipeline p{tasks_, store_, clock_};
  ASSERT_TRUE(take(p, 1, 3));
  ASSERT_TRUE(p.leave_out_of_floor(std::vector{k_p0}));
  ASSERT_TRUE(p.find(k_p0)->idle);
  reject(p, 3);
  EXPECT_TRUE(p.stopped().contains(k_p0));
  EXPECT_FALSE(p.find(k_p0)->idle) << "what is behind the stop was not read";
}

TEST_F(pipeline_of_one, enters_a_start_with_its_audit_rows_in_one_step) {
  pipeline p{tasks_, store_, clock_};
  const std::vector<position> start{{k_p0, 7}};
  ASSERT_TRUE(p.enter_positions(start, {}, {{0, clock_.now(), "resume_fresh", "payments", "because"}}));
  EXPECT_EQ(store_.last_step(), 1U);
  EXPECT_EQ(p.find(k_p0)->next_offset, 7);
  ASSERT_EQ(store_.audits().size(), 1U);
  EXPECT_EQ(store_.audits()[0].step, 1U);
}

TEST_F(pipeline_of_one, remembers_the_record_right_below_its_position_whatever_is_repeated_behind_it) {
  pipeline p{tasks_, store_, clock_};
  ASSERT_TRUE(take(p, 1, 3));
  const partition_state before = *p.find(k_p0);
  ASSERT_TRUE(before.last_record);
  ASSERT_TRUE(take(p, 1, 2));
  EXPECT_EQ(*p.find(k_p0), before);
}

TEST_F(pipeline_of_one, forgets_what_it_knew_of_the_records_before_a_start_that_lies_elsewhere) {
  pipeline p{tasks_, store_, clock_};
  ASSERT_TRUE(take(p, 1, 3));
  tasks_[0]->state.partitions.at(k_p0).malformed_run = 5;
  const partition_state before = *p.find(k_p0);
  ASSERT_TRUE(p.enter_positions(std::vector<position>{{k_p0, 3}}, {}, {}));
  EXPECT_EQ(*p.find(k_p0), before) << "the very place where it was";
  ASSERT_TRUE(p.enter_positions(std::vector<position>{{k_p0, 9}}, {}, {}));
  EXPECT_FALSE(p.find(k_p0)->last_record) << "nothing below offset 9 was handled since";
  EXPECT_EQ(p.find(k_p0)->malformed_run, 0U);
}

TEST_F(pipeline_of_one, forgets_the_positions_of_another_cluster_and_keeps_its_times) {
  pipeline p{tasks_, store_, clock_};
  ASSERT_TRUE(take(p, 1, 3));
  partition_state before = *p.find(k_p0);
  before.leaps = {{clock_.now() + std::chrono::hours{9}, 2}};
  before.malformed_run = 5;
  tasks_[0]->state.partitions.at(k_p0) = before;
  const topic_partition left{"left", partition_id{0}};
  tasks_[0]->state.partitions[left].next_offset = 5;
  store_change change;
  change.cluster_id = "cluster-2";
  ASSERT_TRUE(p.enter_positions(std::vector<position>{{k_p0, 3}}, {}, {}, change,
                                pipeline::known_positions::are_forgotten));
  EXPECT_EQ(store_.cluster_id(), "cluster-2");
  ASSERT_NE(p.find(k_p0), nullptr);
  EXPECT_EQ(p.find(k_p0)->next_offset, 3);
  EXPECT_FALSE(p.find(k_p0)->last_record) << "the same number is another place";
  EXPECT_TRUE(p.find(k_p0)->leaps.empty());
  EXPECT_EQ(p.find(k_p0)->malformed_run, 0U);
  EXPECT_EQ(p.find(k_p0)->highest_time, before.highest_time);
  EXPECT_FALSE(tasks_[0]->state.partitions.at(left).has_position()) << "also of a topic that is not read";
}

TEST_F(pipeline_of_one, moves_a_partition_forwards_only) {
  pipeline p{tasks_, store_, clock_};
  ASSERT_TRUE(take(p, 1, 3));
  ASSERT_TRUE(p.move_to(k_p0, 2));
  EXPECT_EQ(p.find(k_p0)->next_offset, 3);
  const auto last = p.find(k_p0)->last_record;
  ASSERT_TRUE(last);
  EXPECT_EQ(last->offset, 2);
  EXPECT_EQ(store_.last_step(), 1U) << "and writes nothing where nothing moves";
  ASSERT_TRUE(p.move_to(k_p0, 5));
  EXPECT_EQ(p.find(k_p0)->next_offset, 5);
  EXPECT_EQ(p.find(k_p0)->last_record, last) << "it tells a topic that was made anew, wherever it lies";
}

TEST_F(pipeline_of_one, stops_where_a_reducer_publishes_to_a_topic_that_the_config_does_not_name) {
  reduce_with(reducers{}.add("payments", publishing{}));
  pipeline p{tasks_, store_, clock_};
  ASSERT_TRUE(take(p, 1, 3));
  ASSERT_TRUE(p.stopped().contains(k_p0));
  EXPECT_NE(
      describe(p.stopped().at(k_p0)).find("\nnothing is lost: add the topic to `outputs` of the stream, or "),
      std::string::npos);
  EXPECT_NE(describe(p.stopped().at(k_p0)).find("it published to `out`, which is not among the `outputs`"),
            std::string::npos);
  EXPECT_EQ(store_.snapshot_of("payments", "a1"), "nothing");
  EXPECT_EQ(store_.outbox().rows(), 0U);
}

TEST_F(pipeline_of_one, puts_what_a_reducer_publishes_into_the_step_that_applies_the_event) {
  settings_.streams[0].outputs = {"out"};
  reduce_with(reducers{}.add("payments", publishing{}));
  pipeline p{tasks_, store_, clock_};
  ASSERT_TRUE(take(p, 1, 3));
  EXPECT_EQ(store_.last_step(), 1U);
  const auto rows = store_.outputs({}, 0, store_.outbox().next, 100, 1'000'000).value();
  ASSERT_EQ(rows.size(), 3U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].position, i);
    EXPECT_EQ(rows[i].sequence, (sequence{0, i})) << "which receivers can order by";
    EXPECT_EQ(rows[i].kind, output_kind::published);
    EXPECT_EQ(rows[i].topic, "out");
    EXPECT_EQ(rows[i].key, rows[i].aggregate);
    EXPECT_EQ(rows[i].source, "/ratchet//payments");
    EXPECT_EQ(rows[i].type, "ratchet.payments") << "its events have no type";
  }
}

TEST_F(pipeline_of_one, handles_a_batch_while_the_next_one_is_decoded) {
  pipeline p{tasks_, store_, clock_};
  decode_worker worker{streams_};
  constexpr int k_batches = 200;
  worker.submit(batch(1, 5));
  for (int i = 1; i <= k_batches; ++i) {
    decoded_input& ready = worker.take();
    if (i < k_batches) worker.submit(batch(i * 5 + 1, i * 5 + 5));
    ASSERT_TRUE(p.handle(ready));
  }
  EXPECT_FALSE(worker.busy());
  EXPECT_EQ(tasks_[0]->state.counters.consumed, k_batches * 5U);
  EXPECT_EQ(tasks_[0]->state.counters.applied, k_batches * 5U);
}

TEST_F(pipeline_of_one, can_end_while_a_batch_is_being_decoded) {
  decode_worker worker{streams_};
  worker.submit(batch(1, 1'000));
  EXPECT_TRUE(worker.busy());
}

}  // namespace
}  // namespace ratchet::testing
