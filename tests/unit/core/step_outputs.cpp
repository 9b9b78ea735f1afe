// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What reducers publish: of which events, in which order, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/core_print.hpp"
#include "support/core_world.hpp"

namespace ratchet::testing {
namespace {

using ::testing::HasSubstr;

spec event_of(std::uint64_t number, std::string payload, std::int64_t offset) {
  return {.sequence = seq(number), .payload = std::move(payload), .offset = offset};
}

TEST(publishing, counts_for_each_event_that_is_applied_and_for_no_other) {
  world w{folding{}};
  w.step({event_of(1, "x", 0), event_of(3, "z", 1), event_of(2, "late", 2), event_of(3, "z", 3)});
  EXPECT_EQ(w.published["a"], "x;z;") << "not for a stale one, and not for a repeat";
}

TEST(publishing, counts_once_where_the_aggregate_turns_out_to_wait) {
  world w{folding{}, order::strict};
  w.step({event_of(1, "x", 0), event_of(2, "#", 1), event_of(3, "z", 2)});
  EXPECT_EQ(w.published["a"], "x;") << "not again when its events are taken off the fast way";
  EXPECT_EQ(w.run_command(waiting_verb::replay, seq(2), "mended"), waiting_answer::done);
  EXPECT_EQ(w.published["a"], "x;mended;z;") << "and in order, when those that wait are released";
}

TEST(publishing, counts_for_a_retry_that_succeeds) {
  world w{folding{}, order::strict};
  w.step({event_of(1, "?1", 0)});
  EXPECT_EQ(w.published["a"], "") << "what a failed attempt published is dropped";
  w.now += w.rules.retry.most;
  w.resume();
  EXPECT_EQ(w.published["a"], "?1;");
}

TEST(publishing, is_dropped_with_the_pass_that_a_stop_ends) {
  world w{folding{}};
  w.step({{.aggregate = "b", .sequence = seq(1), .payload = "x", .partition = 1, .offset = 0},
          {.aggregate = "a", .sequence = seq(1), .payload = "!", .offset = 0}});
  EXPECT_EQ(w.published["b"], "x;") << "once, though the batch was decided twice";
  EXPECT_EQ(w.published["a"], "");
}

/// Publishes to the topic that the payload names; "N bytes" a payload of that size.
struct telling {
  static constexpr reducer_traits traits{.name = "telling", .version = 1};
  outcome apply(const event& e, ratchet::state& s, effects& fx) const {
    s.assign(e.payload);
    const std::string large(e.payload == "1000 bytes" ? 1000U : 0U, 'x');
    fx.publish({.topic = large.empty() ? e.payload : "out", .payload = large});
    return done();
  }
};

TEST(publishing, to_a_topic_that_was_not_announced_stops_the_partition) {
  world w{telling{}};
  w.rules.outputs.topics = {"out"};
  const auto change = w.step({event_of(1, "out", 0), event_of(2, "elsewhere", 1)});
  ASSERT_EQ(change.stops.size(), 1U);
  EXPECT_EQ(change.stops[0].offset, 1);
  EXPECT_EQ(change.stops[0].code, make_error_code(errc::reducer_failed));
  EXPECT_EQ(change.stops[0].cause, make_error_code(errc::output_undeclared));
  EXPECT_EQ(change.stops[0].what,
            "it published to `elsewhere`, which is not among the `outputs` of its stream");
  EXPECT_EQ(w.published["a"], ";");
  EXPECT_EQ(w.snapshot(), "out");
}

TEST(publishing, more_than_brokers_take_leaves_the_event_dead_and_its_state_as_it_was) {
  world w{telling{}, order::strict};
  w.rules.outputs.message_bytes = 1512;  // of payload 1000, of names 2, and 512 for the rest
  const auto change = w.step({event_of(1, "out", 0), event_of(2, "1000 bytes", 1), event_of(3, "out", 2)});
  EXPECT_EQ(change.decisions[1].verdict, verdict::dead);
  EXPECT_EQ(change.decisions[2].verdict, verdict::parked) << "what comes behind waits";
  EXPECT_EQ(w.snapshot(), "out");
  EXPECT_EQ(w.published["a"], ";");
  const waiting_event& dead = w.waiting.at("a").at(seq(2));
  EXPECT_THAT(dead.error, HasSubstr("its message to `out` has 1514 bytes, and outbox.message_bytes is 1512"));
  w.rules.outputs.message_bytes = 1514;
  EXPECT_EQ(w.run_command(waiting_verb::replay, seq(2)), waiting_answer::done);
  EXPECT_EQ(w.published["a"], ";" + std::string(1000, 'x') + ";;");
}

TEST(publishing, says_of_which_event_it_is) {
  world w{folding{}};
  spec paid{.aggregate = "p",
            .sequence = seq(2, 7),
            .id = id_at(5000, 1),
            .payload = "x",
            .time = 4000,
            .partition = 3,
            .offset = 9};
  paid.topic = "in";
  paid.type = "paid";
  const std::vector<spec> specs{paid};
  const batch b{specs};
  const step_plan plan = plan_step(w.rules, w.reduce.traits(), b.events);
  const auto change = run_step(w.rules, w.reduce, w.state, b.events, plan, w.look_up(plan), w.now);
  ASSERT_EQ(change.outputs.size(), 1U);
  const published_outputs& by = change.outputs[0];
  EXPECT_EQ(plan.aggregates[by.aggregate], "p");
  EXPECT_EQ(by.sequence, seq(2, 7));
  EXPECT_EQ(by.id, id_at(5000, 1));
  EXPECT_EQ(by.type, "paid");
  EXPECT_EQ(by.where, (topic_partition{"in", partition_id{3}}));
  EXPECT_EQ(by.offset, 9);
  EXPECT_EQ(by.record_time, at_ms(4000));
}

}  // namespace
}  // namespace ratchet::testing
