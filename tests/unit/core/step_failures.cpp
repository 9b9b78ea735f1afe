// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/step.hpp"
#include "core/utf8.hpp"
#include "ratchet/error.hpp"
#include "support/core_print.hpp"
#include "support/core_world.hpp"

namespace ratchet {
namespace {

using testing::at_ms;
using testing::bad;
using testing::folding;
using testing::id_at;
using testing::replacing;
using testing::spec;
using testing::verdicts_of;
using testing::world;

constexpr verdict k_applied = verdict::applied;
constexpr verdict k_duplicate = verdict::duplicate;
constexpr verdict k_rejected = verdict::rejected;
constexpr verdict k_unhandled = verdict::unhandled;
using verdicts = std::vector<verdict>;

const event_id k_id1 = id_at(5000, 1);

/// Events of one aggregate with these sequences and payloads, one behind the other on partition 0.
std::vector<spec> in_a_row(std::initializer_list<std::pair<std::uint64_t, const char*>> events) {
  std::vector<spec> out;
  for (const auto& [number, payload] : events) {
    out.push_back({.sequence = seq(number), .payload = payload, .offset = std::ssize(out)});
  }
  return out;
}

// Failing reducers.

TEST(failing, stops_no_partition_that_a_step_without_room_does_not_come_to) {
  world w{folding{}, order::strict};
  w.rules.waiting.events = 1;
  const auto change = w.step({{.aggregate = "a", .sequence = seq(2), .partition = 0, .offset = 0},
                              {.aggregate = "b", .sequence = seq(2), .partition = 0, .offset = 1},
                              {.aggregate = "c", .partition = 1, .offset = 0},
                              {.aggregate = "d", .payload = "!", .partition = 1, .offset = 1}});
  EXPECT_EQ(verdicts_of(change), (verdicts{verdict::parked, k_unhandled, k_applied, k_unhandled}))
      << "c comes before the event that stops its partition";
  EXPECT_EQ(w.partition(1).next_offset, 1);
  ASSERT_EQ(change.stops.size(), 2U);
}

/// What came behind the stop of one partition had let in what stops the other one.
TEST(failing, stops_no_partition_for_what_follows_from_records_that_are_not_taken) {
  world w{folding{}, order::strict};
  (void)w.step({{.aggregate = "b", .sequence = seq(3), .partition = 0, .offset = 0}});
  const auto change =
      w.step({{.aggregate = "b", .sequence = seq(1), .payload = "!", .partition = 1, .offset = 0},
              {.aggregate = "c", .sequence = seq(1), .partition = 1, .offset = 1},
              {.aggregate = "c", .sequence = seq(2), .payload = "!", .partition = 0, .offset = 1}});
  EXPECT_EQ(verdicts_of(change), (verdicts{k_unhandled, k_unhandled, verdict::parked}));
  ASSERT_EQ(change.stops.size(), 1U);
  EXPECT_EQ(change.stops[0].where.partition, partition_id{1});
  EXPECT_EQ(w.partition(0).next_offset, 2);
}

TEST(failing, cuts_its_partition_and_lets_the_others_go_on) {
  world w{folding{}};
  const auto change = w.step({{.aggregate = "a", .partition = 0, .offset = 0},
                              {.aggregate = "b", .payload = "!", .partition = 0, .offset = 1},
                              {.aggregate = "c", .partition = 1, .offset = 0},
                              {.aggregate = "d", .partition = 0, .offset = 2},
                              {.aggregate = "e", .partition = 1, .offset = 1}});
  EXPECT_EQ(verdicts_of(change), (verdicts{k_applied, k_unhandled, k_applied, k_unhandled, k_applied}));
  EXPECT_EQ(w.partition(0).next_offset, 1);
  EXPECT_EQ(w.partition(1).next_offset, 2);
  EXPECT_EQ(w.snapshot("b"), "?");
  EXPECT_EQ(w.snapshot("d"), "?") << "behind the failed one";
  EXPECT_EQ(w.state.counters.consumed, 3U);
  ASSERT_EQ(change.stops.size(), 1U);
  const partition_stop& stop = change.stops[0];
  EXPECT_EQ(stop.where, (topic_partition{"t", partition_id{0}}));
  EXPECT_EQ(stop.offset, 1);
  EXPECT_EQ(stop.code, make_error_code(errc::reducer_failed));
  EXPECT_EQ(stop.cause, std::make_error_code(std::errc::invalid_argument));
  EXPECT_EQ(stop.aggregate, "b");
}

TEST(failing, decides_as_if_the_cut_records_had_not_been_read) {
  // Partition 0 fails at its first record; what it would have said of "a" behind that must not count.
  world w{folding{}};
  const auto change =
      w.step({{.aggregate = "z", .payload = "!", .time = 90'000, .partition = 0, .offset = 0},
              {.sequence = seq(9), .id = k_id1, .partition = 0, .offset = 1},
              {.sequence = seq(2), .id = k_id1, .payload = "y", .time = 5000, .partition = 1}});
  EXPECT_EQ(verdicts_of(change), (verdicts{k_unhandled, k_unhandled, k_applied}));
  EXPECT_EQ(w.rows.at("a").last, seq(2));
  EXPECT_EQ(w.state.floor, at_ms(4000)) << "its time did not move the floor";
  EXPECT_FALSE(w.state.partitions.contains({"t", partition_id{0}}))
      << "nothing of it was handled: a next offset of 0 would be taken for a position";
  EXPECT_EQ(change.touched, (std::vector{topic_partition{"t", partition_id{1}}}));
}

TEST(failing, goes_on_from_the_stored_offset_when_it_is_tried_again) {
  world w{folding{}};
  w.step(in_a_row({{1, "a"}, {2, "!b"}, {3, "c"}}));
  EXPECT_EQ(w.snapshot(), "a;");
  w.step(
      {{.sequence = seq(2), .payload = "b", .offset = 1}, {.sequence = seq(3), .payload = "c", .offset = 2}});
  EXPECT_EQ(w.snapshot(), "a;b;c;");
  EXPECT_EQ(w.state.counters.consumed, 3U);
}

TEST(failing, throws_away_what_a_failing_event_did_to_the_state) {
  struct dirty {
    outcome apply(const event& e, ratchet::state& s, effects&) const {
      s.assign("half done");
      return e.payload == "!" ? stop(std::make_error_code(std::errc::io_error)) : done();
    }
  };
  world w{reducer{{.name = "dirty", .version = 1}, dirty{}}};
  w.rows["a"] = {
      .last = seq(1), .id = {}, .payload_hash = {}, .time = {}, .deleted = false, .snapshot = "whole"};
  EXPECT_TRUE(w.step({{.sequence = seq(2), .payload = "!"}}).rows.empty());
  EXPECT_EQ(w.snapshot(), "whole");
}

struct misbehaving {
  static constexpr reducer_traits traits{
      .name = "misbehaving", .version = 1, .full_state = true, .has_effects = false};
  outcome apply(const event& e, ratchet::state& s, effects& fx) const {
    if (e.payload == "throw") throw std::runtime_error{"out of cheese"};
    if (e.payload == "throw 7") throw 7;
    if (e.payload == "throw without a word") {
      s.assign("half done");
      throw std::runtime_error{""};
    }
    if (e.payload == "retry") return retry(std::make_error_code(std::errc::timed_out));
    if (e.payload == "give_up") return give_up(std::make_error_code(std::errc::invalid_argument));
    if (e.payload == "stop") return stop(std::make_error_code(std::errc::io_error));
    if (e.payload == "give up and say why")
      return give_up(make_error_code(errc::reducer_failed), "no account 7");
    if (e.payload == "stop and say why") return stop({}, "no ledger");
    if (e.payload == "retry without a word") return retry({});
    if (e.payload == "give up without a word") return give_up({});
    if (e.payload == "stop without a word") return stop({});
    if (e.payload == "publish") fx.publish({.topic = "t"});
    if (e.payload == "put") fx.put("t", "k", "v");
    if (e.payload == "erase") fx.erase("t", "k");
    s.assign(e.payload);
    return done();
  }
};

struct ending_row {
  const char* payload;
  std::error_code cause;
  std::string what;
};

TEST(stopping, says_how_it_failed) {
  const ending_row rows[] = {
      {"stop", std::make_error_code(std::errc::io_error), ""},
      {"stop and say why", make_error_code(errc::reducer_failed), "no ledger"},
      {"stop without a word", make_error_code(errc::reducer_failed), "the reducer gave no reason"},
      {"publish", make_error_code(errc::output_undeclared),
       "it published to `t`, but its traits have has_effects = false"},
      {"put", make_error_code(errc::table_undeclared),
       "it wrote to the table `t`, but its traits have has_effects = false"},
      {"erase", make_error_code(errc::table_undeclared),
       "it wrote to the table `t`, but its traits have has_effects = false"},
  };
  for (const ending_row& row : rows) {
    SCOPED_TRACE(row.payload);
    world w{misbehaving{}};
    const auto change = w.step({{.payload = row.payload, .offset = 5}});
    EXPECT_EQ(verdicts_of(change), verdicts{k_unhandled});
    ASSERT_EQ(change.stops.size(), 1U);
    EXPECT_EQ(change.stops[0].code, make_error_code(errc::reducer_failed));
    EXPECT_EQ(change.stops[0].cause, row.cause);
    EXPECT_EQ(change.stops[0].what, row.what);
    EXPECT_EQ(change.stops[0].offset, 5);
    EXPECT_EQ(w.state, stream_state{}) << "nothing changed";
    EXPECT_TRUE(change.rows.empty());
  }
}

struct waiting_row {
  const char* payload;
  verdict becomes;
  std::string error;
};

TEST(failing, keeps_the_event_and_says_how_it_failed) {
  const waiting_row rows[] = {
      {"retry", verdict::retrying, std::make_error_code(std::errc::timed_out).message()},
      {"give_up", verdict::dead, std::make_error_code(std::errc::invalid_argument).message()},
      {"throw", verdict::retrying, "out of cheese"},
      {"throw 7", verdict::retrying, "an exception that is not a std::exception"},
      {"throw without a word", verdict::retrying, make_error_code(errc::reducer_failed).message()},
      {"give up and say why", verdict::dead, "no account 7"},
      {"retry without a word", verdict::retrying, "the reducer gave no reason"},
      {"give up without a word", verdict::dead, "the reducer gave no reason"},
  };
  for (const waiting_row& row : rows) {
    SCOPED_TRACE(row.payload);
    world w{misbehaving{}};
    const auto change = w.step({{.payload = row.payload, .offset = 5}});
    EXPECT_EQ(verdicts_of(change), verdicts{row.becomes});
    EXPECT_TRUE(change.stops.empty());
    EXPECT_EQ(w.partition(0).next_offset, 6) << "the partition never waits";
    EXPECT_EQ(w.snapshot(), "?");
    const waiting_event& kept = w.waiting.at("a").at(seq(1));
    EXPECT_EQ(kept.error, row.error);
    EXPECT_EQ(kept.attempts, 1U);
    EXPECT_EQ(kept.due.has_value(), row.becomes == verdict::retrying);
    EXPECT_EQ(w.backlogs.at("a").wake, kept.due);
    EXPECT_EQ(w.state.counters.accounted(), 1U);
  }
}

/// Tells all that it was given, as one may that echoes what it could not read.
struct talkative {
  outcome apply(const event& e, ratchet::state&, effects&) const {
    throw std::runtime_error{"cannot read " + std::string{e.payload}};
  }
};

TEST(failing, keeps_no_more_of_what_is_said_than_a_person_reads) {
  for (std::size_t shift = 0; shift < 3; ++shift) {
    world w{reducer{{.name = "talkative", .version = 1}, talkative{}}};
    std::string payload(shift, 'x');
    while (payload.size() < 1'000'000) payload += "\u20ac";
    w.step({{.payload = payload, .offset = 5}});
    ASSERT_TRUE(w.waiting.contains("a"));
    const std::string& error = w.waiting.at("a").at(seq(1)).error;
    EXPECT_LT(error.size(), 4'200U);
    EXPECT_GT(error.size(), 4'000U);
    EXPECT_TRUE(error.starts_with("cannot read "));
    EXPECT_TRUE(error.ends_with(" bytes)")) << error.substr(error.size() - 40);
    EXPECT_TRUE(is_utf8(error)) << "no character is cut in two";
  }
}

struct counts_runs {
  std::shared_ptr<std::uint64_t> runs{std::make_shared<std::uint64_t>(0)};
  outcome apply(const event&, ratchet::state&, effects&) const {
    ++*runs;
    return stop(std::make_error_code(std::errc::invalid_argument));
  }
};

TEST(failing, does_not_fall_back_without_bound) {
  const counts_runs counting;
  world w{reducer{replacing::traits, counting}};
  std::vector<spec> events;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    events.push_back({.sequence = seq(i + 1), .offset = static_cast<std::int64_t>(i)});
  }
  const auto change = w.step(events);
  EXPECT_EQ(change.stops.size(), 1U);
  EXPECT_EQ(change.stops[0].offset, 0);
  EXPECT_LT(*counting.runs, 100U) << "a reducer that fails always must not cost a pass an event";
}

// Poison.

TEST(poison, rejects_and_counts_up_to_the_limit) {
  world w{folding{}};
  w.rules.poison_limit = 3;
  const auto change = w.step({bad(0), bad(1)});
  EXPECT_EQ(change.decisions[1], (decision{k_rejected, reject_reason::malformed}));
  EXPECT_EQ(change.rejected, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(w.partition(0).malformed_run, 2U);
  EXPECT_EQ(w.partition(0).next_offset, 2);
  EXPECT_TRUE(change.stops.empty());
}

TEST(poison, does_not_handle_the_record_that_reaches_the_limit) {
  world w{folding{}};
  w.rules.poison_limit = 3;
  w.step({bad(0), bad(1)});
  const auto change = w.step({bad(2), {.offset = 3}});
  EXPECT_EQ(verdicts_of(change), (verdicts{k_unhandled, k_unhandled}));
  EXPECT_EQ(w.partition(0).next_offset, 2) << "the offset stays";
  EXPECT_EQ(w.state.counters.rejected_malformed, 2U);
  ASSERT_EQ(change.stops.size(), 1U);
  EXPECT_EQ(change.stops[0].code, make_error_code(errc::poisoned));
  EXPECT_EQ(change.stops[0].offset, 2);
  EXPECT_EQ(change.stops[0].malformed.reason, malformed_reason::invalid_json);
  EXPECT_EQ(change.stops[0].malformed.byte_offset, 7U);
  EXPECT_EQ(w.step({bad(2)}).stops.size(), 1U) << "and stops again after a restart: the count is state";
}

TEST(poison, begins_anew_behind_a_record_that_is_well_formed) {
  for (const decoded_kind kind : {decoded_kind::event, decoded_kind::tombstone, decoded_kind::ignored}) {
    world w{folding{}};
    w.rules.poison_limit = 3;
    const auto change = w.step({bad(0), bad(1), {.kind = kind, .offset = 2}, bad(3), bad(4)});
    EXPECT_TRUE(change.stops.empty());
    EXPECT_EQ(w.partition(0).malformed_run, 2U);
  }
}

TEST(poison, is_not_reached_by_records_that_can_be_decoded_whatever_they_lack) {
  world w{folding{}};
  w.rules.poison_limit = 3;
  const auto lacking = [](std::int64_t offset) {
    spec s = bad(offset);
    s.fault = malformed_reason::missing_field;
    return s;
  };
  std::vector<spec> events;
  for (int i = 0; i < 50; ++i) events.push_back(lacking(i));
  EXPECT_TRUE(w.step(events).stops.empty());
  EXPECT_EQ(w.state.counters.rejected_malformed, 50U);
  EXPECT_TRUE(w.step({bad(50), bad(51), lacking(52), bad(53), bad(54)}).stops.empty());
  EXPECT_EQ(w.partition(0).malformed_run, 2U) << "one that decodes ends the run";
  EXPECT_EQ(w.step({bad(55)}).stops.size(), 1U);
}

TEST(poison, counts_each_partition_by_itself) {
  world w{folding{}};
  w.rules.poison_limit = 2;
  const auto change = w.step({bad(0, 0), bad(0, 1), bad(1, 1), {.partition = 1, .offset = 2}, {.offset = 1}});
  EXPECT_EQ(verdicts_of(change), (verdicts{k_rejected, k_rejected, k_unhandled, k_unhandled, k_applied}));
  ASSERT_EQ(change.stops.size(), 1U);
  EXPECT_EQ(change.stops[0].where.partition, partition_id{1});
}

TEST(poison, is_not_advanced_by_records_read_again) {
  world w{folding{}};
  w.rules.poison_limit = 3;
  w.step({bad(0), bad(1)});
  EXPECT_EQ(verdicts_of(w.step({bad(0), bad(1)})), (verdicts{k_duplicate, k_duplicate}));
  EXPECT_EQ(w.partition(0).malformed_run, 2U);
}

TEST(poison, can_be_off) {
  world w{folding{}};
  w.rules.poison_limit = 0;
  std::vector<spec> events;
  for (int i = 0; i < 500; ++i) events.push_back(bad(i));
  EXPECT_TRUE(w.step(events).stops.empty());
  EXPECT_EQ(w.state.counters.rejected_malformed, 500U);
}

TEST(poison, of_one_knows_nothing_of_the_partition) {
  world w{folding{}};
  w.rules.poison_limit = 1;
  const auto change = w.step({bad(500)});
  EXPECT_EQ(change.stops.size(), 1U);
  EXPECT_EQ(w.state, stream_state{}) << "nothing was handled";
  EXPECT_TRUE(change.touched.empty());
}

TEST(poison, and_a_failing_reducer_stop_two_partitions) {
  world w{folding{}};
  w.rules.poison_limit = 2;
  const auto change = w.step({bad(0, 0), {.payload = "!", .partition = 1}, bad(1, 0)});
  EXPECT_EQ(verdicts_of(change), (verdicts{k_rejected, k_unhandled, k_unhandled}));
  EXPECT_EQ(change.stops.size(), 2U);
}

}  // namespace
}  // namespace ratchet
