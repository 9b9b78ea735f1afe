// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Records that hold several events on their way through steps: bounded, cut within a record, and told apart.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "decode/record_hash.hpp"
#include "outbox/published_rows.hpp"
#include "pipeline/pipeline.hpp"
#include "pipeline/stop_messages.hpp"
#include "support/all_rows.hpp"
#include "support/session_world.hpp"

namespace ratchet::testing {
namespace {

/// A value with these events in it.
std::string list_of(const std::vector<std::string>& events) {
  std::string text;
  for (const std::string& e : events) text += (text.empty() ? "" : ",") + e;
  return R"({"records":[)" + text + R"(],"by":"me"})";
}

/// Adds up what comes, so that an event that is handled twice is seen; stops at 13 as long as it is broken.
struct adding {
  static constexpr reducer_traits traits{.name = "adding", .version = 1};
  const bool* broken;
  outcome apply(const ratchet::event& e, state& s, effects& fx) const {
    if (*broken && e.payload == "13") return stop(make_error_code(errc::internal));
    s.assign(std::string{s.value()} + std::string{e.payload} + "." + std::to_string(e.index) + ";");
    fx.publish({.topic = "out", .key = e.aggregate, .payload = e.payload});
    return done();
  }
};

class several_events : public ::testing::Test {
 protected:
  several_events() {
    settings_.streams = {payments()};
    stream_config& s = settings_.streams[0];
    s.envelope.each = {each_kind::array, "/records"};
    s.outputs = {"out"};
    s.order = order::latest;
    s.ties = ties::later;
    empty_the_store();
    start();
  }
  void empty_the_store() { store_.emplace(calls_, std::vector<std::string>{"payments"}, k_own_uuid); }
  void start() {
    auto made = make_streams(settings_, reducers{}.add("payments", adding{&broken_}));
    ASSERT_TRUE(made);
    streams_ = std::move(*made);
    tasks_ = make_tasks(streams_);
    EXPECT_TRUE(load_tasks(streams_, tasks_, *store_));
  }
  static std::unique_ptr<record_batch> batch(const std::vector<std::string>& values, std::int64_t from = 0) {
    auto made = std::make_unique<fake_batch>();
    for (const std::string& value : values) made->add(&k_p0, {from++, value, {}});
    return made;
  }
  /// As the session does.
  void take(pipeline& p, std::unique_ptr<record_batch> records) {
    decode_stage stage{streams_};
    stage.run(std::move(records), input_);
    do {
      ASSERT_TRUE(p.handle(input_));
    } while (!p.has_left() && stage.go_on(input_));
  }
  [[nodiscard]] const partition_state& partition() { return tasks_[0]->state.partitions.at(k_p0); }
  [[nodiscard]] std::string snapshot(const std::string& of) { return store_->snapshot_of("payments", of); }
  std::vector<rejected_row> rejected() {
    return support::newest_rejected(*store_->under().view().value(), streams_[0]->id, 100).value();
  }

  config settings_;
  bool broken_{false};
  journal calls_;
  fake_clock clock_;
  std::optional<watched_store> store_;
  stream_list streams_;
  task_list tasks_;
  decoded_input input_;
};

TEST_F(several_events, are_handled_one_by_one_and_the_last_record_is_the_whole_one) {
  pipeline p{tasks_, *store_, clock_};
  const std::string value = list_of({event("a", 1), event("b", 2), event("a", 3)});
  take(p, batch({value}));
  EXPECT_EQ(snapshot("a"), "1.0;3.2;");
  EXPECT_EQ(snapshot("b"), "2.1;");
  EXPECT_EQ(tasks_[0]->state.counters.applied, 3U);
  EXPECT_EQ(partition().next(), (event_place{1, 0}));
  EXPECT_EQ(partition().last_record, (known_record{0, record_hash(std::nullopt, value)}))
      << "by which a topic is known again";
}

TEST_F(several_events, are_the_same_wherever_steps_end_and_the_program_dies) {
  const std::vector<std::string> values{list_of({event("a", 1), event("b", 1), event("a", 2)}), list_of({}),
                                        list_of({event("a", 3)}),
                                        list_of({event("b", 2), event("a", 4), event("b", 5)})};
  std::string want_a;
  std::string want_b;
  for (std::size_t in_time = 1; in_time <= 8; ++in_time) {
    for (std::size_t steps = 1; steps <= 8; ++steps) {
      empty_the_store();
      start();
      tasks_[0]->events_in_time = in_time;
      {
        pipeline p{tasks_, *store_, clock_};
        std::size_t left = steps;
        p.between_steps([&] { return --left > 0; });
        take(p, batch(values));
      }
      const auto last = tasks_[0]->state.partitions.contains(k_p0) ? partition().last_record : std::nullopt;
      start();
      if (last) {
        EXPECT_EQ(last->hash, record_hash(std::nullopt, values.at(static_cast<std::size_t>(last->offset))));
      }
      const auto begun = static_cast<std::size_t>(partition().next_offset);
      pipeline p{tasks_, *store_, clock_};
      take(p, batch({values.begin() + static_cast<std::ptrdiff_t>(begun), values.end()},
                    partition().next_offset));
      if (want_a.empty()) {
        want_a = snapshot("a");
        want_b = snapshot("b");
        EXPECT_EQ(want_a, "1.0;2.2;3.0;4.1;");
        EXPECT_EQ(want_b, "1.1;2.0;5.2;");
      }
      EXPECT_EQ(snapshot("a"), want_a) << in_time << " events a step, " << steps << " steps";
      EXPECT_EQ(snapshot("b"), want_b) << in_time << " events a step, " << steps << " steps";
      EXPECT_EQ(partition().next(), (event_place{4, 0}));
      const counters& told = tasks_[0]->state.counters;
      EXPECT_EQ(told.applied, 7U);
      EXPECT_EQ(told.ignored, 1U) << "the empty list";
      EXPECT_EQ(told.consumed, told.accounted());
    }
  }
}

TEST_F(several_events, go_on_behind_a_stop_where_it_came) {
  broken_ = true;
  const std::string value = list_of({event("a", 1), event("a", 13), event("a", 14)});
  {
    pipeline p{tasks_, *store_, clock_};
    take(p, batch({value, list_of({event("b", 1)})}));
    ASSERT_TRUE(p.stopped().contains(k_p0));
    const partition_stop& stop = p.stopped().at(k_p0);
    EXPECT_EQ((event_place{stop.offset, stop.index}), (event_place{0, 1}));
    EXPECT_TRUE(describe(stop).starts_with("t/0 at offset 0.1: stopped before this event of aggregate `a`"))
        << describe(stop);
    EXPECT_EQ(snapshot("a"), "1.0;");
    EXPECT_EQ(partition().next(), (event_place{0, 1}));
    EXPECT_EQ(partition().last_record, (known_record{0, record_hash(std::nullopt, value)}))
        << "what is left of another record must not be taken for the rest of it";
  }
  broken_ = false;
  start();
  pipeline p{tasks_, *store_, clock_};
  take(p, batch({value, list_of({event("b", 1)})}));
  EXPECT_EQ(snapshot("a"), "1.0;13.1;14.2;");
  EXPECT_EQ(partition().next(), (event_place{2, 0}));
}

TEST_F(several_events, of_a_position_that_somebody_sets_are_handled_from_the_first_on) {
  broken_ = true;
  pipeline p{tasks_, *store_, clock_};
  take(p, batch({list_of({event("a", 1), event("a", 13)})}, 5));
  ASSERT_EQ(partition().next(), (event_place{5, 1}));
  ASSERT_TRUE(p.enter_positions(std::vector<position>{{k_p0, 5}}, {}, {}));
  EXPECT_EQ(partition().next(), (event_place{5, 1})) << "nobody has moved it";
  ASSERT_TRUE(p.enter_positions(std::vector<position>{{k_p0, 4}}, {}, {}));
  EXPECT_EQ(partition().next(), (event_place{4, 0}));
}

TEST_F(several_events, of_large_records_are_never_all_in_memory) {
  broken_ = false;
  const auto many = [](int from, int count) {
    std::vector<std::string> events;
    for (int i = from; i < from + count; ++i) events.push_back(event("n" + std::to_string(i % 7), i));
    return list_of(events);
  };
  decode_stage stage{streams_};
  stage.run(batch({many(0, 15'000), many(15'000, 15'000), many(30'000, 10), many(30'010, 25'000)}), input_);
  pipeline p{tasks_, *store_, clock_};
  std::size_t most = 0;
  std::size_t parts = 0;
  int looks = 0;
  p.between_steps([&] { return ++looks > 0; });
  do {
    ++parts;
    most = std::max(most, input_.parts.at(0).decoded.events.size());
    const int before = looks;
    const bool has_more = input_.has_more();
    ASSERT_TRUE(p.handle(input_));
    EXPECT_TRUE(!has_more || looks > before) << "it is asked whether to go on, though each was one step";
  } while (stage.go_on(input_));
  EXPECT_EQ(parts, 2U);
  EXPECT_EQ(most, 30'000U);
  EXPECT_EQ(tasks_[0]->state.counters.applied, 55'010U);
  EXPECT_EQ(partition().next(), (event_place{4, 0}));
}

TEST_F(several_events, count_where_it_is_said_how_many_records_are_handled_in_time) {
  pipeline p{tasks_, *store_, clock_};
  const std::size_t at_first = p.records_in_time();
  take(p, batch({list_of({event("a", 1), event("a", 2), event("a", 3), event("a", 4)}),
                 list_of({event("b", 1), event("b", 2), event("b", 3), event("b", 4)})}));
  EXPECT_EQ(p.records_in_time(), at_first / 4) << "the group waits for who is between two polls";
  take(p, batch({list_of({event("a", 5)})}, 2));
  EXPECT_EQ(p.records_in_time(), at_first);
}

TEST_F(several_events, that_are_left_for_the_next_start_are_read_again_from_their_record_on) {
  tasks_[0]->events_in_time = 2;
  pipeline p{tasks_, *store_, clock_};
  p.between_steps([] { return false; });
  take(p, batch({list_of({event("a", 1), event("a", 2), event("a", 3)})}));
  EXPECT_TRUE(p.has_left());
  EXPECT_EQ(partition().next(), (event_place{0, 2}));
}

TEST_F(several_events, are_rejected_each_in_its_own_place) {
  settings_.streams[0].dead_letter = "dlq";
  start();
  pipeline p{tasks_, *store_, clock_};
  std::vector<output_row> sent;
  p.on_outputs([&](std::vector<output_row>&& rows) { sent = std::move(rows); });
  take(p, batch({list_of({"{}", event("a", 1), "7"})}));
  const auto rows = rejected();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].index, 2U);
  EXPECT_EQ(rows[0].value, "7");
  EXPECT_EQ(rows[1].index, 0U);
  EXPECT_EQ(rows[1].value, "{}");
  std::vector<std::string> letters;
  for (const output_row& row : sent) {
    if (row.kind == output_kind::dead_letter) letters.push_back(row.value.value_or("null"));
  }
  EXPECT_EQ(letters, (std::vector<std::string>{list_of({"{}"}), list_of({"7"})}))
      << "each as a record that holds it alone, so that it can be read again as it is";
}

TEST_F(several_events, publish_under_ids_of_their_own) {
  settings_.streams[0].ties = ties::later;  // so that positions, not numbers, tell outputs apart
  start();
  pipeline p{tasks_, *store_, clock_};
  std::vector<output_row> sent;
  p.on_outputs([&](std::vector<output_row>&& rows) { sent = std::move(rows); });
  take(
      p,
      batch({list_of({R"({"p":"a","n":1,"v":1})", R"({"p":"a","n":1,"v":2})", R"({"p":"a","n":1,"v":3})"})}));
  ASSERT_EQ(sent.size(), 3U);
  EXPECT_NE(sent[0].id, sent[1].id);
  EXPECT_NE(sent[1].id, sent[2].id);
}

TEST_F(several_events, win_over_those_before_them_where_the_record_gives_the_number) {
  settings_.streams[0].envelope.sequence = "offset";
  settings_.streams[0].ties = ties::usual;
  start();
  pipeline p{tasks_, *store_, clock_};
  take(p, batch({list_of({event("a", 5), event("a", 4)})}));
  EXPECT_EQ(snapshot("a"), "5.0;4.1;") << "the later element of one record is the newer one";
  EXPECT_TRUE(rejected().empty());
}

}  // namespace
}  // namespace ratchet::testing
