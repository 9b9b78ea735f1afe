// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/step.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ratchet/error.hpp"
#include "support/core_print.hpp"
#include "support/core_world.hpp"

namespace ratchet {
namespace {

using testing::at_ms;
using testing::bad;
using testing::batch;
using testing::folding;
using testing::id_at;
using testing::replacing;
using testing::spec;
using testing::verdicts_of;
using testing::world;

constexpr verdict k_applied = verdict::applied;
constexpr verdict k_superseded = verdict::superseded;
constexpr verdict k_duplicate = verdict::duplicate;
constexpr verdict k_stale = verdict::stale;
constexpr verdict k_rejected = verdict::rejected;
constexpr verdict k_unhandled = verdict::unhandled;
using verdicts = std::vector<verdict>;

const event_id k_id1 = id_at(5000, 1);
const event_id k_id2 = id_at(5000, 2);
const event_id k_id3 = id_at(5000, 3);

/// Events of one aggregate with these sequences and payloads, one behind the other on partition 0.
std::vector<spec> in_a_row(std::initializer_list<std::pair<std::uint64_t, const char*>> events) {
  std::vector<spec> out;
  for (const auto& [number, payload] : events) {
    out.push_back({.sequence = seq(number), .payload = payload, .offset = std::ssize(out)});
  }
  return out;
}

// Order and gate.

TEST(step, applies_the_newest_and_discards_older_ones) {
  world w{folding{}};
  EXPECT_EQ(verdicts_of(w.step(in_a_row({{2, "b"}, {1, "a"}, {4, "d"}, {3, "c"}}))),
            (verdicts{k_applied, k_stale, k_applied, k_stale}));
  EXPECT_EQ(w.snapshot(), "b;d;");
  EXPECT_EQ(w.rows.at("a").last, seq(4));
}

TEST(step, compares_with_the_running_last_across_steps_and_inside_one) {
  world one{folding{}};
  world many{folding{}};
  const auto events = in_a_row({{2, "b"}, {1, "a"}, {4, "d"}, {3, "c"}});
  one.step(events);
  for (const spec& e : events) many.step({e});
  EXPECT_EQ(one.rows, many.rows);
  EXPECT_EQ(one.state, many.state);
}

TEST(step, numbers_arrivals_from_one) {
  world w{folding{}, order::arrival};
  w.step({{.sequence = seq(99), .payload = "x", .offset = 0},
          {.aggregate = "b", .offset = 1},
          {.payload = "y", .offset = 2}});
  EXPECT_EQ(w.rows.at("a").last, seq(2));
  EXPECT_EQ(w.rows.at("b").last, seq(1));
  w.step({{.payload = "z", .offset = 3}});
  EXPECT_EQ(w.rows.at("a").last, seq(3));
  EXPECT_EQ(w.snapshot(), "x;y;z;");
}

struct shows_sequence {
  static constexpr reducer_traits traits{.name = "shows_sequence", .version = 1};
  outcome apply(const event& e, ratchet::state& s, effects&) const {
    s.assign(std::string{s.value()} + std::to_string(e.sequence.number) + (e.id ? "i" : "") + "@" +
             std::string{e.topic} + std::to_string(static_cast<int>(e.partition)) + ":" +
             std::to_string(e.offset) + " ");
    return done();
  }
};

TEST(step, shows_the_reducer_the_number_given_on_arrival_and_the_position) {
  world w{shows_sequence{}, order::arrival};
  w.step({{.id = k_id1, .offset = 5}, {.partition = 3, .offset = 7}});
  EXPECT_EQ(w.snapshot(), "1i@t0:5 2@t3:7 ");
}

TEST(step, shows_the_reducer_no_id_where_dedup_is_off) {
  world w{shows_sequence{}, order::arrival};
  w.rules.dedup = false;
  w.step({{.id = k_id1, .offset = 5}});
  EXPECT_EQ(w.snapshot(), "1@t0:5 ");
}

TEST(step, finds_a_repeated_id_across_steps_and_inside_one) {
  world w{folding{}, order::arrival};
  EXPECT_EQ(verdicts_of(w.step({{.id = k_id1, .payload = "x", .offset = 0},
                                {.id = k_id1, .payload = "x", .offset = 1},
                                {.aggregate = "b", .id = k_id1, .offset = 2}})),
            (verdicts{k_applied, k_duplicate, k_applied}))
      << "identity is aggregate and id";
  EXPECT_EQ(verdicts_of(w.step({{.id = k_id1, .payload = "x", .offset = 3}})), verdicts{k_duplicate});
  EXPECT_EQ(w.snapshot(), "x;");
}

TEST(step, looks_at_no_id_where_dedup_is_off) {
  world w{folding{}, order::arrival};
  w.rules.dedup = false;
  const auto change = w.step({{.id = k_id1, .offset = 0}, {.id = k_id1, .offset = 1}});
  EXPECT_EQ(verdicts_of(change), (verdicts{k_applied, k_applied}));
  EXPECT_TRUE(change.ids.empty());
  EXPECT_FALSE(w.rows.at("a").id);
}

TEST(step, forgets_an_id_below_the_floor_whatever_is_still_stored) {
  world w{folding{}};
  w.step({{.id = id_at(1000, 1), .time = 1000}});
  w.step({{.aggregate = "b", .time = 9000, .offset = 1}});
  ASSERT_TRUE(w.ids.contains({"a", id_at(1000, 1)}));
  const auto change = w.step({{.sequence = seq(2), .id = id_at(1000, 1), .offset = 2}});
  EXPECT_EQ(verdicts_of(change), verdicts{k_applied}) << "inside the window it would be id_reused";
}

TEST(step, rejects_an_arrival_from_before_the_window) {
  world w{folding{}, order::arrival};
  w.step({{.aggregate = "b", .time = 9000}});
  const auto change = w.step({{.id = id_at(7999, 1), .time = 9000, .offset = 1}});
  EXPECT_EQ(change.decisions.front(), (decision{k_rejected, reject_reason::too_old}));
  EXPECT_EQ(change.rejected, std::vector<std::uint32_t>{0});
  EXPECT_EQ(w.state.counters.rejected_too_old, 1U);
  EXPECT_EQ(w.snapshot(), "?");
}

TEST(step, takes_the_same_payload_under_a_new_id_for_a_repeat) {
  world w{folding{}};
  EXPECT_EQ(verdicts_of(w.step({{.id = k_id1, .offset = 0}, {.id = k_id2, .offset = 1}})),
            (verdicts{k_applied, k_duplicate}));
  const auto later = w.step({{.id = k_id2, .offset = 2}, {.id = k_id1, .payload = "y", .offset = 3}});
  EXPECT_EQ(verdicts_of(later), (verdicts{k_duplicate, k_duplicate})) << "the second has the same id";
}

TEST(step, rejects_a_second_event_that_claims_a_number) {
  world w{folding{}};
  const auto change = w.step({{.id = k_id1, .offset = 0}, {.id = k_id2, .payload = "y", .offset = 1}});
  EXPECT_EQ(change.decisions[1], (decision{k_rejected, reject_reason::conflict}));
  EXPECT_EQ(w.step({{.id = k_id3, .payload = "z", .offset = 2}}).decisions[0],
            (decision{k_rejected, reject_reason::conflict}));
  EXPECT_EQ(w.snapshot(), "x;");
  EXPECT_FALSE(w.ids.contains({"a", k_id2})) << "only applied and superseded ids are filed";
}

TEST(step, rejects_a_new_number_under_an_old_id) {
  world w{folding{}};
  const auto change =
      w.step({{.id = k_id1, .offset = 0}, {.sequence = seq(2), .id = k_id1, .payload = "y", .offset = 1}});
  EXPECT_EQ(change.decisions[1], (decision{k_rejected, reject_reason::id_reused}));
  EXPECT_EQ(w.step({{.sequence = seq(3), .id = k_id1, .offset = 2}}).decisions[0].reason,
            reject_reason::id_reused);
}

TEST(step, keeps_id_hash_and_time_of_the_last_event) {
  world w{folding{}};
  w.step({{.sequence = seq(1), .id = k_id1, .time = 5000, .own_time = 4900, .offset = 0},
          {.sequence = seq(2), .id = k_id2, .payload = "y", .time = 5001, .offset = 1}});
  const aggregate_row& row = w.rows.at("a");
  EXPECT_EQ(row.last, seq(2));
  EXPECT_EQ(row.id, k_id2);
  EXPECT_EQ(row.time, at_ms(5001)) << "the record's, as the event has none";
  EXPECT_EQ(row.payload_hash.high, std::hash<std::string>{}("y"));
  w.step({{.sequence = seq(3), .time = 5002, .own_time = 4999, .offset = 2}});
  EXPECT_EQ(w.rows.at("a").time, at_ms(4999)) << "the event's own comes first";
  EXPECT_FALSE(w.rows.at("a").id);
}

// Tombstones.

TEST(step, deletes_by_tombstone_and_keeps_the_sequence) {
  for (const auto& reduce : {reducer{folding{}}, reducer{replacing{}}}) {
    world w{reduce};
    w.step({{.sequence = seq(1)}, {.sequence = seq(3), .kind = decoded_kind::tombstone, .offset = 1}});
    EXPECT_EQ(w.snapshot(), "-");
    EXPECT_EQ(w.rows.at("a").last, seq(3));
    EXPECT_EQ(w.rows.at("a").payload_hash, hash128{});
    EXPECT_EQ(verdicts_of(w.step({{.sequence = seq(2), .offset = 2}})), verdicts{k_stale});
    w.step({{.sequence = seq(4), .payload = "new", .offset = 3}});
    EXPECT_EQ(w.snapshot().substr(0, 3), "new") << "starts from nothing";
  }
}

TEST(step, deletes_what_was_never_there) {
  world w{folding{}};
  EXPECT_EQ(verdicts_of(w.step({{.sequence = seq(3), .kind = decoded_kind::tombstone}})),
            verdicts{k_applied});
  EXPECT_EQ(w.snapshot(), "-");
  EXPECT_EQ(verdicts_of(w.step({{.sequence = seq(2), .offset = 1}})), verdicts{k_stale});
}

TEST(step, tells_a_tombstone_from_an_event_of_the_same_number) {
  world w{folding{}};
  w.step({{.id = k_id1, .kind = decoded_kind::tombstone}});
  EXPECT_EQ(verdicts_of(w.step({{.id = k_id2, .kind = decoded_kind::tombstone, .offset = 1},
                                {.id = k_id3, .payload = "", .offset = 2}})),
            (verdicts{k_duplicate, k_rejected}));
}

TEST(step, deletes_where_the_reducer_erases) {
  world w{folding{}, order::arrival};
  w.step({{.payload = "x"}, {.payload = "~", .offset = 1}});
  EXPECT_EQ(w.snapshot(), "-");
  w.step({{.payload = "y", .offset = 2}});
  EXPECT_EQ(w.snapshot(), "y;");
}

struct tells_new_from_known {
  static constexpr reducer_traits traits{.name = "tells", .version = 1};
  outcome apply(const event&, ratchet::state& s, effects&) const {
    s.assign(s.exists() ? "known" : "new");
    return done();
  }
};

TEST(step, shows_the_reducer_that_a_deleted_snapshot_does_not_exist) {
  world w{tells_new_from_known{}};
  w.step({{.sequence = seq(1)}});
  EXPECT_EQ(w.snapshot(), "new");
  w.step({{.sequence = seq(2), .offset = 1}});
  EXPECT_EQ(w.snapshot(), "known");
  w.step({{.sequence = seq(3), .kind = decoded_kind::tombstone, .offset = 2}});
  w.step({{.sequence = seq(4), .offset = 3}});
  EXPECT_EQ(w.snapshot(), "new") << "in a later step";
  w.step({{.sequence = seq(5), .kind = decoded_kind::tombstone, .offset = 4},
          {.sequence = seq(6), .offset = 5}});
  EXPECT_EQ(w.snapshot(), "new") << "in the same step";
}

// Superseding.

TEST(superseding, runs_only_the_newest_of_a_step) {
  world w{replacing{}};
  const auto change = w.step({{.sequence = seq(1), .id = k_id1, .payload = "one", .offset = 0},
                              {.sequence = seq(2), .id = k_id2, .payload = "!never run", .offset = 1},
                              {.sequence = seq(3), .id = k_id3, .payload = "three", .offset = 2}});
  EXPECT_EQ(verdicts_of(change), (verdicts{k_superseded, k_superseded, k_applied}));
  EXPECT_EQ(w.snapshot(), "three");
  EXPECT_EQ(change.ids.size(), 3U) << "superseded ids are in the window too";
  EXPECT_EQ(w.state.counters.superseded, 2U);
  EXPECT_EQ(w.state.counters.applied, 1U);
}

TEST(superseding, runs_the_next_older_one_when_the_newest_fails) {
  world w{replacing{}};
  const auto change =
      w.step({{.sequence = seq(1), .payload = "one", .partition = 0},
              {.sequence = seq(2), .payload = "two", .partition = 1},
              {.sequence = seq(3), .id = k_id3, .payload = "!three", .partition = 2, .offset = 40}});
  EXPECT_EQ(verdicts_of(change), (verdicts{k_superseded, k_applied, k_unhandled}));
  EXPECT_EQ(w.snapshot(), "two");
  EXPECT_EQ(w.rows.at("a").last, seq(2));
  EXPECT_TRUE(w.ids.empty()) << "the failed one is not filed";
  ASSERT_EQ(change.stops.size(), 1U);
  EXPECT_EQ(change.stops[0].where.partition, partition_id{2});
  EXPECT_EQ(change.stops[0].offset, 40);
}

TEST(superseding, falls_back_until_one_succeeds) {
  world w{replacing{}};
  const auto change = w.step({{.sequence = seq(1), .payload = "one", .partition = 0},
                              {.sequence = seq(2), .payload = "!two", .partition = 1},
                              {.sequence = seq(3), .payload = "!three", .partition = 2}});
  EXPECT_EQ(verdicts_of(change), (verdicts{k_applied, k_unhandled, k_unhandled}));
  EXPECT_EQ(w.snapshot(), "one");
  EXPECT_EQ(change.stops.size(), 2U);
}

TEST(superseding, names_only_the_first_failure_of_a_partition) {
  world w{replacing{}};
  const auto change = w.step(in_a_row({{1, "one"}, {2, "!two"}, {3, "!three"}}));
  EXPECT_EQ(verdicts_of(change), (verdicts{k_applied, k_unhandled, k_unhandled}));
  ASSERT_EQ(change.stops.size(), 1U);
  EXPECT_EQ(change.stops[0].offset, 1);
}

TEST(superseding, is_for_reducers_that_nobody_could_miss) {
  struct with_effects {
    outcome apply(const event& e, ratchet::state& s, effects&) const {
      s.assign(std::string{s.value()} + std::string{e.payload});
      return done();
    }
  };
  const reducer_traits effectful{.name = "e", .version = 1, .full_state = true, .has_effects = true};
  const reducer_traits folds{.name = "f", .version = 1, .full_state = false, .has_effects = false};
  for (const reducer_traits& traits : {effectful, folds}) {
    world w{reducer{traits, with_effects{}}};
    EXPECT_EQ(verdicts_of(w.step(in_a_row({{1, "a"}, {2, "b"}}))), (verdicts{k_applied, k_applied}));
  }
  world arrivals{replacing{}, order::arrival};
  EXPECT_EQ(verdicts_of(arrivals.step(in_a_row({{1, "a"}, {2, "b"}}))), (verdicts{k_applied, k_applied}));
}

TEST(superseding, lets_a_tombstone_supersede_and_be_superseded) {
  world w{replacing{}};
  EXPECT_EQ(verdicts_of(w.step({{.sequence = seq(1), .offset = 0},
                                {.sequence = seq(2), .kind = decoded_kind::tombstone, .offset = 1}})),
            (verdicts{k_superseded, k_applied}));
  EXPECT_EQ(w.snapshot(), "-");
  EXPECT_EQ(verdicts_of(w.step({{.sequence = seq(3), .kind = decoded_kind::tombstone, .offset = 2},
                                {.sequence = seq(4), .payload = "four", .offset = 3}})),
            (verdicts{k_superseded, k_applied}));
  EXPECT_EQ(w.snapshot(), "four");
}

struct keeps_what_it_does_not_know {
  static constexpr reducer_traits traits{
      .name = "keeps", .version = 1, .full_state = true, .has_effects = true};
  outcome apply(const event& e, ratchet::state& s, effects&) const {
    if (e.payload != "unknown") s.assign(e.payload);
    return done();
  }
};

TEST(full_state, starts_from_nothing_for_every_event_so_that_the_cut_does_not_matter) {
  const auto events = in_a_row({{1, "known"}, {2, "unknown"}});
  world one{keeps_what_it_does_not_know{}};
  one.step(events);
  world two{keeps_what_it_does_not_know{}};
  for (const spec& e : events) two.step({e});
  EXPECT_EQ(one.rows, two.rows);
}

// Positions.

TEST(position, makes_a_duplicate_of_everything_below_it) {
  world w{folding{}};
  w.step(in_a_row({{1, "a"}, {2, "b"}}));
  const auto change =
      w.step({{.sequence = seq(9), .offset = 0}, bad(1), {.sequence = seq(3), .payload = "c", .offset = 2}});
  EXPECT_EQ(verdicts_of(change), (verdicts{k_duplicate, k_duplicate, k_applied}));
  EXPECT_EQ(w.snapshot(), "a;b;c;");
  EXPECT_EQ(w.state.counters.consumed, 5U);
}

TEST(position, leaves_gaps_of_the_log_alone) {
  world w{folding{}};
  w.step({{.sequence = seq(1), .offset = 10}, {.sequence = seq(2), .offset = 20}});
  EXPECT_EQ(w.partition(0).next_offset, 21);
}

TEST(position, does_not_exist_in_plain_files) {
  world w{folding{}};
  const auto change = w.step({{.sequence = seq(1), .time = 5000, .topic = "", .offset = 0},
                              {.sequence = seq(2), .time = 6000, .topic = "", .offset = 1}});
  EXPECT_EQ(verdicts_of(change), (verdicts{k_applied, k_applied}));
  EXPECT_EQ(w.partition(0, "").next_offset, 0);
  EXPECT_EQ(w.state.floor, at_ms(5000)) << "its times count";
  EXPECT_EQ(verdicts_of(w.step({{.sequence = seq(2), .topic = "", .offset = 0}})), verdicts{k_duplicate})
      << "given again, the gate finds it";
}

TEST(position, in_plain_files_is_still_where_a_failure_cuts) {
  world w{folding{}};
  const auto change = w.step({{.sequence = seq(1), .payload = "a", .topic = "", .offset = 0},
                              {.sequence = seq(2), .payload = "!", .topic = "", .offset = 1},
                              {.sequence = seq(3), .payload = "c", .topic = "", .offset = 2}});
  EXPECT_EQ(verdicts_of(change), (verdicts{k_applied, k_unhandled, k_unhandled}));
  EXPECT_EQ(change.stops.at(0).offset, 1);
}

TEST(position, names_the_partitions_that_changed) {
  world w{folding{}};
  w.step({{.partition = 0}, {.aggregate = "b", .partition = 1}, {.aggregate = "c", .partition = 2}});
  const auto change =
      w.step({{.sequence = seq(2), .partition = 2, .offset = 1}, {.partition = 0, .offset = 0}});
  EXPECT_EQ(change.touched, (std::vector{topic_partition{"t", partition_id{2}}}))
      << "a record read again changes nothing";
}

// Ledger and outputs.

TEST(ledger, has_every_record_in_exactly_one_place) {
  world w{replacing{}};
  w.step({{.sequence = seq(2), .id = k_id1, .offset = 0},
          {.sequence = seq(3), .id = k_id2, .offset = 1},
          {.sequence = seq(3), .id = k_id2, .offset = 2},
          {.sequence = seq(1), .id = k_id3, .offset = 3},
          {.sequence = seq(3), .id = k_id3, .payload = "y", .offset = 4},
          {.sequence = seq(4), .id = k_id1, .offset = 5},
          bad(6),
          {.kind = decoded_kind::ignored, .offset = 7},
          {.sequence = seq(3), .id = k_id2, .offset = 0}});
  const counters want{.applied = 1,
                      .superseded = 1,
                      .duplicate = 2,
                      .stale = 1,
                      .ignored = 1,
                      .rejected_malformed = 1,
                      .rejected_conflict = 1,
                      .rejected_id_reused = 1,
                      .consumed = 9};
  EXPECT_EQ(w.state.counters, want);
  EXPECT_EQ(w.state.counters.accounted(), w.state.counters.consumed);
}

TEST(ledger, counts_ids_from_the_future_beside_it) {
  world w{folding{}, order::arrival};
  w.step({{.id = id_at(5100, 1), .time = 5000, .offset = 0},
          {.id = id_at(5101, 2), .time = 5000, .offset = 1},
          {.id = id_at(99'999, 3), .offset = 2}});
  EXPECT_EQ(w.state.counters.ids_ahead, 1U)
      << "more than the skew of 100 ms; a record without time says nothing";
  EXPECT_EQ(w.state.floor, at_ms(4000)) << "such an id cannot move the floor";
  w.step({{.id = id_at(5101, 2), .time = 5000, .offset = 3}});
  EXPECT_EQ(w.state.counters.ids_ahead, 1U) << "a repeat is not counted again";
  EXPECT_EQ(w.state.counters.accounted(), w.state.counters.consumed);
}

TEST(outputs, file_ids_in_record_order) {
  world w{folding{}};
  const std::vector<spec> events{{.aggregate = "z", .id = id_at(7000, 2), .offset = 0},
                                 {.aggregate = "b", .id = id_at(6000, 9), .offset = 1},
                                 {.aggregate = "a", .id = id_at(7000, 2), .offset = 2},
                                 {.aggregate = "c", .id = id_at(7000, 1), .offset = 3}};
  const batch b{events};
  const step_plan plan = plan_step(w.rules, w.reduce.traits(), b.events);
  const auto change = run_step(w.rules, w.reduce, {}, b.events, plan, w.look_up(plan), w.now);
  std::vector<std::string> order;
  for (const id_of_aggregate& id : change.ids) order.emplace_back(plan.aggregates[id.aggregate]);
  EXPECT_EQ(order, (std::vector<std::string>{"z", "b", "a", "c"}));
}

TEST(outputs, write_each_aggregate_once) {
  world w{folding{}, order::arrival};
  const auto change = w.step({{.offset = 0}, {.aggregate = "b", .offset = 1}, {.offset = 2}, {.offset = 3}});
  EXPECT_EQ(change.rows.size(), 2U);
}

TEST(outputs, are_empty_for_an_empty_batch) {
  world w{folding{}};
  const auto change = w.step({});
  EXPECT_TRUE(change.rows.empty() && change.decisions.empty() && change.touched.empty());
  EXPECT_EQ(w.state, stream_state{});
}

}  // namespace
}  // namespace ratchet
