// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Records that hold several events: their position, where a step ends within one, and what is a record's
// alone.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/step.hpp"
#include "ratchet/error.hpp"
#include "support/core_print.hpp"
#include "support/core_world.hpp"

namespace ratchet {
namespace {

using testing::at_ms;
using testing::folding;
using testing::spec;
using testing::verdicts_of;
using testing::world;
using verdicts = std::vector<verdict>;

/// The events of one record, with these payloads, one number behind the other.
std::vector<spec> record_of(std::initializer_list<const char*> payloads, std::int64_t offset = 0,
                            std::uint64_t first = 1) {
  std::vector<spec> out;
  for (const char* payload : payloads) {
    const auto i = static_cast<std::uint32_t>(out.size());
    out.push_back(
        {.sequence = seq(first + i), .payload = payload, .offset = offset, .index = i, .more = true});
  }
  out.back().more = false;
  return out;
}

/// A reducer that stops at "!" as long as it is told to.
struct stopping {
  static constexpr reducer_traits traits{.name = "stopping", .version = 1};
  bool* broken;
  outcome apply(const event& e, state& s, effects&) const {
    if (*broken && e.payload == "!") return stop(make_error_code(errc::internal));
    s.assign(std::string{s.value()} + std::string{e.payload} + std::to_string(e.index));
    return done();
  }
};

TEST(several_events, stand_behind_each_other_in_one_place) {
  world w{folding{}, order::strict};
  const auto change = w.step(record_of({"x", "y", "z"}));
  EXPECT_EQ(verdicts_of(change), (verdicts{verdict::applied, verdict::applied, verdict::applied}));
  EXPECT_EQ(w.partition(0).next(), (event_place{1, 0}));
  EXPECT_EQ(w.state.counters.consumed, 3U) << "each is counted";
  const auto again = w.step(record_of({"x", "y", "z"}));
  EXPECT_EQ(verdicts_of(again), (verdicts{verdict::duplicate, verdict::duplicate, verdict::duplicate}));
}

TEST(several_events, stop_at_the_one_that_fails_and_go_on_there) {
  for (const order o : {order::latest, order::strict, order::arrival}) {
    bool broken = true;
    world w{stopping{&broken}, o};
    w.rules.dedup = false;
    const std::vector<spec> record = record_of({"x", "y", "!", "z"}, 5);
    const auto change = w.step(record);
    EXPECT_EQ(verdicts_of(change),
              (verdicts{verdict::applied, verdict::applied, verdict::unhandled, verdict::unhandled}));
    ASSERT_EQ(change.stops.size(), 1U);
    EXPECT_EQ(change.stops[0].offset, 5);
    EXPECT_EQ(change.stops[0].index, 2U);
    EXPECT_EQ(w.partition(0).next(), (event_place{5, 2}));
    EXPECT_EQ(w.snapshot("a"), "x0y1");
    broken = false;
    const auto again = w.step(record);
    EXPECT_EQ(verdicts_of(again),
              (verdicts{verdict::duplicate, verdict::duplicate, verdict::applied, verdict::applied}))
        << "neither ids nor numbers tell these two: their place does";
    EXPECT_EQ(w.snapshot("a"), "x0y1!2z3");
    EXPECT_EQ(w.partition(0).next(), (event_place{6, 0}));
  }
}

TEST(several_events, are_the_same_for_any_cut_into_steps) {
  std::vector<spec> history = record_of({"a", "b", "c"}, 0, 1);
  for (const spec& e : record_of({"d"}, 1, 4)) history.push_back(e);
  for (const spec& e : record_of({"e", "f"}, 3, 5)) history.push_back(e);
  world whole{folding{}, order::strict};
  whole.rules.dedup = false;
  whole.step(history);
  for (std::size_t cut = 0; cut <= history.size(); ++cut) {
    world w{folding{}, order::strict};
    w.rules.dedup = false;
    const auto at = history.begin() + static_cast<std::ptrdiff_t>(cut);
    if (cut > 0) w.step({history.begin(), at});
    const world durable = w;
    if (cut < history.size()) w.step({at, history.end()});
    EXPECT_EQ(w.state, whole.state) << cut;
    EXPECT_EQ(w.rows, whole.rows) << cut;
    w = durable;  // a crash: the record in which the step ended comes again from its beginning
    w.step(history);
    EXPECT_EQ(w.rows, whole.rows) << cut;
    EXPECT_EQ(w.partition(0).next(), whole.partition(0).next()) << cut;
  }
}

TEST(several_events, move_the_floor_once_with_the_last_of_them) {
  world w{folding{}, order::strict};
  std::vector<spec> record = record_of({"x", "y"});
  for (spec& e : record) e.time = 5000;
  w.step({record[0]});
  EXPECT_EQ(w.state.floor, std::nullopt) << "what is behind it is judged as it is";
  w.step(record);
  EXPECT_EQ(w.state.floor, at_ms(4000));
}

TEST(several_events, bear_out_no_time_of_their_own_record) {
  world w{folding{}, order::strict};
  w.rules.checks_times = true;
  w.now = at_ms(1'000'000'000);
  std::vector<spec> some;
  for (int i = 0; i < 8; ++i)
    some.push_back(
        {.sequence = seq(static_cast<std::uint64_t>(i) + 1), .time = i < 7 ? 4000 : 5000, .offset = i});
  w.step(some);
  const auto floor = w.state.floor;
  ASSERT_TRUE(floor);
  std::vector<spec> record = record_of({"1", "2", "3", "4", "5", "6", "7", "8"}, 8, 9);
  for (spec& e : record) e.time = 60'000'000;
  w.step(record);
  EXPECT_EQ(w.state.floor, floor);
  EXPECT_EQ(w.partition(0).leaps.size(), 1U);
}

TEST(several_events, count_once_for_poison) {
  world w{folding{}, order::strict};
  w.rules.poison_limit = 3;
  const auto broken = [](std::int64_t offset) {
    std::vector<spec> record = record_of({"", "", "", ""}, offset);
    for (spec& e : record) e.kind = decoded_kind::malformed;
    return record;
  };
  const auto change = w.step(broken(0));
  EXPECT_TRUE(change.stops.empty());
  EXPECT_EQ(w.partition(0).malformed_run, 1U);
  w.step(broken(1));
  EXPECT_EQ(w.partition(0).malformed_run, 2U);
  const auto third = w.step(broken(2));
  ASSERT_EQ(third.stops.size(), 1U);
  EXPECT_EQ(third.stops[0].code, make_error_code(errc::poisoned));
  EXPECT_EQ(w.partition(0).next(), (event_place{2, 0})) << "nothing of it was handled";
  EXPECT_EQ(w.state.counters.rejected_malformed, 8U);
  std::vector<spec> one_good = broken(2);
  one_good[2] = {.payload = "x", .offset = 2, .index = 2, .more = true};
  w.rules.poison_limit = 0;
  w.step(one_good);
  EXPECT_EQ(w.partition(0).malformed_run, 0U)
      << "one of them could be read; the last one is of the same record";
}

TEST(several_events, wait_under_their_own_place) {
  world w{folding{}, order::strict};
  w.step(record_of({"y", "z"}, 7, 2));
  ASSERT_EQ(w.waiting["a"].size(), 2U);
  const waiting_event& second = w.waiting["a"].at(seq(3));
  EXPECT_EQ(second.record.place(), (event_place{7, 1}));
  w.step(record_of({"x"}, 8, 1));
  EXPECT_EQ(w.snapshot("a"), "x;y;z;");
}

TEST(several_events, that_wait_are_kept_as_a_record_that_holds_one_of_them) {
  const std::string value = R"({"list":["y","z"],"n":1})";
  const topic_partition where{"t", partition_id{0}};
  record whole;
  whole.where = &where;
  whole.value = value;
  const record_of_several several{&whole, std::string_view{value}.substr(0, 9),
                                  std::string_view{value}.substr(16)};
  record part = whole;
  part.value = std::string_view{value}.substr(13, 3);
  part.index = 1;
  part.part_of = &several;
  decoded_event e;
  e.from = &part;
  e.kind = decoded_kind::event;
  e.aggregate = "a";
  e.has_sequence = true;
  e.sequence = seq(2);
  e.payload = part.value->substr(1, 1);
  world w{folding{}, order::strict};
  const std::vector<decoded_event> events{e};
  const step_plan plan = plan_step(w.rules, w.reduce.traits(), events);
  const stream_change change = run_step(w.rules, w.reduce, w.state, events, plan, w.look_up(plan), w.now);
  ASSERT_EQ(change.backlogs.size(), 1U);
  ASSERT_EQ(change.backlogs[0].puts.size(), 1U);
  const waiting_event& kept = change.backlogs[0].puts[0];
  EXPECT_EQ(kept.record.value, R"({"list":["z"],"n":1})");
  EXPECT_EQ(kept.payload(), "z") << "where its bytes lie in that record";
  EXPECT_EQ(kept.record.index, 1U);
  EXPECT_FALSE(kept.own_payload);
}

}  // namespace
}  // namespace ratchet
