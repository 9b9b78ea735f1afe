// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "ratchet/test_driver.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/core_print.hpp"

namespace {

using ratchet::ev;
using ratchet::partition_id;
using ratchet::reject_reason;
using ratchet::seq;
using ratchet::verdict;
using namespace std::chrono_literals;

// The reducer of the documentation.
struct payment_view {
  static constexpr ratchet::reducer_traits traits{.name = "payment_view", .version = 1};
  ratchet::outcome apply(const ratchet::event& e, ratchet::state& s, ratchet::effects& fx) const {
    s.assign(e.payload);  // borrowed until return
    if (e.type == "paid") fx.publish({.topic = "cashback", .key = e.aggregate, .payload = e.payload});
    return ratchet::done();
  }
};

// The same without effects.
struct payment_status {
  static constexpr ratchet::reducer_traits traits{.name = "payment_status", .version = 1};
  ratchet::outcome apply(const ratchet::event& e, ratchet::state& s, ratchet::effects&) const {
    s.assign(e.payload);
    return ratchet::done();
  }
};

// Keeps the list of the types that it saw: shows order and repeats.
struct story {
  static constexpr ratchet::reducer_traits traits{.name = "story", .version = 1};
  ratchet::outcome apply(const ratchet::event& e, ratchet::state& s, ratchet::effects&) const {
    if (e.type == "closed") {
      s.erase();
    } else {
      s.assign(std::string{s.value()} + "/" + std::string{e.type});
    }
    return ratchet::done();
  }
};

// Replaces, so that the newest of a step is enough.
struct newest {
  static constexpr ratchet::reducer_traits traits{
      .name = "newest", .version = 1, .full_state = true, .has_effects = false};
  ratchet::outcome apply(const ratchet::event& e, ratchet::state& s, ratchet::effects&) const {
    s.assign(e.type);
    return ratchet::done();
  }
};

// Depends on something that may be down.
struct flaky {
  static constexpr ratchet::reducer_traits traits{.name = "flaky", .version = 1};
  std::shared_ptr<bool> is_up{std::make_shared<bool>(false)};
  ratchet::outcome apply(const ratchet::event& e, ratchet::state& s, ratchet::effects&) const {
    if (e.type == "throw") throw std::runtime_error{"out of cheese"};
    if (e.type == "needs" && !*is_up) return ratchet::retry(std::make_error_code(std::errc::timed_out));
    if (e.type == "stops" && !*is_up) return ratchet::stop(std::make_error_code(std::errc::timed_out));
    s.assign(e.type);
    return ratchet::done();
  }
};

TEST(test_driver, discards_an_older_status) {  // no Kafka, no thread, no clock
  ratchet::test_driver t{{.order = ratchet::order::latest}, payment_status{}};
  EXPECT_EQ(t.pipe(ev("p1", 2, "paid")), ratchet::verdict::applied);
  EXPECT_EQ(t.pipe(ev("p1", 1, "queued")), ratchet::verdict::stale);
  t.crash_and_reopen();
  EXPECT_EQ(t.read("p1")->sequence, ratchet::seq(2));
}

TEST(test_driver, shows_what_was_published_and_that_it_is_the_same_after_a_crash) {
  ratchet::test_driver t{{.order = ratchet::order::latest}, payment_view{}};
  EXPECT_EQ(t.pipe(ev("p1", 1, "queued")), verdict::applied);
  EXPECT_TRUE(t.published().empty());
  EXPECT_EQ(t.pipe(ev("p1", 3, "paid", R"({"amount":5})")), verdict::applied);
  EXPECT_EQ(t.pipe(ev("p1", 2, "paid")), verdict::stale) << "and publishes nothing";
  const auto before = t.published();
  ASSERT_EQ(before.size(), 1U);
  EXPECT_EQ(before[0].aggregate, "p1");
  EXPECT_EQ(before[0].topic, "cashback");
  EXPECT_EQ(before[0].key, "p1");
  EXPECT_EQ(before[0].payload, R"({"amount":5})");
  EXPECT_EQ(before[0].type, "paid");
  EXPECT_EQ(before[0].time, t.now());
  t.crash_and_reopen();
  const auto after = t.published();
  ASSERT_EQ(after.size(), 1U) << "nothing was synced, so it was lost and published again";
  EXPECT_EQ(after[0].id, before[0].id);
}

TEST(test_driver, stops_before_an_event_that_is_published_where_the_options_do_not_say) {
  ratchet::test_driver t{{.order = ratchet::order::latest, .outputs = {{"audit"}}}, payment_view{}};
  EXPECT_EQ(t.pipe(ev("p1", 1, "queued")), verdict::applied);
  EXPECT_EQ(t.pipe(ev("p1", 2, "paid")), verdict::unhandled);
  ASSERT_TRUE(t.last_stop());
  EXPECT_EQ(t.last_stop()->code, ratchet::errc::reducer_failed);
  EXPECT_EQ(t.last_stop()->cause, ratchet::errc::output_undeclared);
  EXPECT_EQ(t.last_stop()->text,
            "it published to `cashback`, which is not among the `outputs` of its stream");
  EXPECT_EQ(t.last_stop()->aggregate, "p1");
  EXPECT_EQ(t.last_stop()->offset, 1);
  EXPECT_EQ(t.read("p1")->sequence, seq(1));
  EXPECT_EQ(t.consumed(), 1U);
}

TEST(test_driver, finds_an_event_that_was_sent_twice) {
  ratchet::test_driver t{{.order = ratchet::order::arrival}, story{}};
  const auto deposit = ev("a", 1, "deposit");
  EXPECT_EQ(t.pipe(deposit), verdict::applied);
  EXPECT_EQ(t.pipe(deposit), verdict::duplicate);
  EXPECT_EQ(t.pipe(deposit.on(partition_id{3})), verdict::duplicate) << "on whatever partition";
  EXPECT_EQ(t.pipe(ev("a", 2, "deposit")), verdict::applied) << "another event of the same type";
  EXPECT_EQ(t.pipe(ev("b", 1, "deposit")), verdict::applied) << "another aggregate";
  EXPECT_EQ(t.read("a")->value, "/deposit/deposit");
  EXPECT_EQ(t.read("a")->sequence, seq(2));
  EXPECT_EQ(t.count(verdict::duplicate), 2U);
  EXPECT_EQ(t.consumed(), 5U);
}

TEST(test_driver, finds_a_record_that_kafka_delivers_again) {
  ratchet::test_driver t{{.order = ratchet::order::arrival, .dedup = false}, story{}};
  auto first = ev("a", 1, "deposit");
  EXPECT_EQ(t.pipe(first), verdict::applied);
  EXPECT_EQ(t.pipe(first), verdict::applied) << "without ids nobody can tell";
  first.offset = 0;
  EXPECT_EQ(t.pipe(first), verdict::duplicate) << "the position can";
  EXPECT_EQ(t.read("a")->value, "/deposit/deposit");
}

TEST(test_driver, tells_why_it_rejects) {
  ratchet::test_driver t{{.order = ratchet::order::latest}, payment_status{}};
  EXPECT_EQ(t.pipe(ev("p1", 2, "paid")), verdict::applied);
  EXPECT_EQ(t.last_reason(), reject_reason::none);
  EXPECT_EQ(t.pipe(ev("p1", 2, "refunded")), verdict::rejected);
  EXPECT_EQ(t.last_reason(), reject_reason::conflict);
  const auto id = t.read("p1")->id;
  EXPECT_EQ(t.pipe(ev("p1", 3, "refunded").with_id(*id)), verdict::rejected);
  EXPECT_EQ(t.last_reason(), reject_reason::id_reused);
  EXPECT_EQ(t.count(verdict::rejected), 2U);
  EXPECT_EQ(t.count(reject_reason::conflict), 1U);
  EXPECT_EQ(t.count(reject_reason::id_reused), 1U);
  EXPECT_EQ(t.read("p1")->sequence, seq(2));
}

TEST(test_driver, rejects_what_is_older_than_the_window) {
  ratchet::test_driver t{{.order = ratchet::order::arrival, .window = 1h}, story{}};
  const auto early = ev("a", 1, "deposit");
  const auto start = t.now();
  EXPECT_EQ(t.pipe(early), verdict::applied);
  t.advance(3h);
  EXPECT_EQ(t.pipe(early), verdict::duplicate) << "nothing has moved the floor yet";
  EXPECT_EQ(t.floor(), start + 2h) << "but this has";
  EXPECT_EQ(t.pipe(early), verdict::rejected);
  EXPECT_EQ(t.last_reason(), reject_reason::too_old);
  EXPECT_EQ(t.pipe(ev("a", 2, "withdrawal").at(start)), verdict::rejected) << "late by three hours";
  EXPECT_EQ(t.pipe(ev("a", 3, "withdrawal")), verdict::applied) << "and this is of now";
}

TEST(test_driver, deletes_by_tombstone_and_keeps_the_sequence) {
  ratchet::test_driver t{{.order = ratchet::order::latest}, payment_status{}};
  t.pipe(ev("p1", 1, "queued"));
  EXPECT_EQ(t.pipe(ev("p1", 3, "gone").as_tombstone()), verdict::applied);
  EXPECT_FALSE(t.read("p1"));
  EXPECT_EQ(t.last_sequence("p1"), seq(3));
  EXPECT_EQ(t.pipe(ev("p1", 2, "paid")), verdict::stale);
  EXPECT_EQ(t.pipe(ev("p1", 4, "paid")), verdict::applied);
  EXPECT_TRUE(t.read("p1"));
  EXPECT_FALSE(t.last_sequence("p2"));
}

TEST(test_driver, takes_several_events_in_one_step) {
  ratchet::test_driver t{{.order = ratchet::order::latest}, newest{}};
  EXPECT_EQ(t.pipe_all({ev("a", 1, "one"), ev("a", 3, "three"), ev("a", 2, "two"), ev("b", 1, "one")}),
            (std::vector{verdict::superseded, verdict::applied, verdict::stale, verdict::applied}));
  EXPECT_EQ(t.read("a")->value, "three");
  EXPECT_EQ(t.count(verdict::applied) + t.count(verdict::superseded), 3U);
  EXPECT_TRUE(t.pipe_all({}).empty());
}

TEST(test_driver, stops_the_partition_of_a_reducer_that_says_stop_and_no_other) {
  const flaky reducer;
  ratchet::test_driver t{{.order = ratchet::order::latest}, reducer};
  EXPECT_EQ(t.pipe(ev("a", 1, "stops")), verdict::unhandled);
  EXPECT_EQ(t.last_stop()->cause, std::errc::timed_out);
  EXPECT_EQ(t.pipe(ev("b", 1, "plain")), verdict::unhandled) << "behind it on the same partition";
  EXPECT_EQ(t.pipe(ev("c", 1, "plain").on(partition_id{1})), verdict::applied);
  EXPECT_EQ(t.consumed(), 1U);

  t.crash_and_reopen();
  EXPECT_TRUE(t.last_stop()) << "tried again, and failed again";
  EXPECT_FALSE(t.read("a"));

  *reducer.is_up = true;
  t.crash_and_reopen();
  EXPECT_FALSE(t.last_stop());
  EXPECT_EQ(t.read("a")->value, "stops");
  EXPECT_EQ(t.read("b")->value, "plain");
  EXPECT_EQ(t.read("c")->value, "plain");
  EXPECT_EQ(t.consumed(), 3U);
}

TEST(test_driver, tries_a_failed_event_again_while_the_others_go_on) {
  const flaky reducer;
  ratchet::test_driver t{{.order = ratchet::order::latest, .retry = {.attempts = 3, .backoff = 1s}}, reducer};
  EXPECT_EQ(t.pipe(ev("a", 1, "needs")), verdict::retrying);
  EXPECT_FALSE(t.last_stop());
  EXPECT_EQ(t.pipe(ev("b", 1, "plain")), verdict::applied) << "the partition never waits";
  t.sync();
  t.crash_and_reopen();
  EXPECT_EQ(t.count(verdict::retrying), 1U) << "it survives a restart";
  t.advance(2s);
  EXPECT_FALSE(t.read("a"));
  *reducer.is_up = true;
  t.advance(900ms);
  EXPECT_FALSE(t.read("a")) << "the second pause is two seconds at least";
  t.advance(3100ms);
  EXPECT_EQ(t.read("a")->value, "needs");
  EXPECT_EQ(t.count(verdict::retrying), 0U);
  EXPECT_EQ(t.count(verdict::applied), 2U);
}

TEST(test_driver, gives_up_behind_the_last_attempt) {
  ratchet::test_driver t{{.order = ratchet::order::strict, .retry = {.attempts = 2, .backoff = 1s}}, flaky{}};
  EXPECT_EQ(t.pipe(ev("a", 1, "throw")), verdict::retrying);
  EXPECT_EQ(t.pipe(ev("a", 2, "plain")), verdict::parked) << "its aggregate waits for it";
  t.advance(2s);
  EXPECT_EQ(t.count(verdict::dead), 1U);
  EXPECT_EQ(t.count(verdict::parked), 1U);
  t.advance(24h);
  EXPECT_EQ(t.count(verdict::dead), 1U) << "nobody but an operator moves it";
  EXPECT_EQ(t.consumed(), 2U);
}

TEST(test_driver, lets_a_newer_event_take_the_place_of_one_that_fails) {
  ratchet::test_driver t{{.order = ratchet::order::latest}, flaky{}};
  EXPECT_EQ(t.pipe(ev("a", 1, "needs")), verdict::retrying);
  EXPECT_EQ(t.pipe(ev("a", 2, "plain")), verdict::applied);
  EXPECT_EQ(t.count(verdict::superseded), 1U);
  EXPECT_EQ(t.count(verdict::retrying), 0U);
  t.advance(24h);
  EXPECT_EQ(t.read("a")->value, "plain");
}

TEST(test_driver, applies_strictly_in_order_and_keeps_what_comes_early) {
  ratchet::test_driver t{{.order = ratchet::order::strict}, story{}};
  EXPECT_EQ(t.pipe(ev("a", 1, "one")), verdict::applied);
  EXPECT_EQ(t.pipe(ev("a", 3, "three")), verdict::parked);
  EXPECT_EQ(t.pipe(ev("a", 4, "four")), verdict::parked);
  EXPECT_EQ(t.pipe(ev("a", 3, "three")), verdict::duplicate);
  EXPECT_EQ(t.read("a")->value, "/one");
  t.sync();
  t.crash_and_reopen();
  EXPECT_EQ(t.pipe(ev("a", 2, "two")), verdict::applied);
  EXPECT_EQ(t.read("a")->value, "/one/two/three/four");
  EXPECT_EQ(t.pipe(ev("a", 3, "three")), verdict::duplicate);
  EXPECT_EQ(t.count(verdict::applied), 4U);
  EXPECT_EQ(t.consumed(), 6U);
}

TEST(test_driver, skips_a_gap_in_the_time_of_the_stream_alone) {
  ratchet::test_driver t{
      {.order = ratchet::order::strict, .gap = {.policy = ratchet::gap_policy::skip, .timeout = 1h}},
      story{}};
  t.pipe(ev("a", 1, "one"));
  t.pipe(ev("a", 3, "three"));
  t.advance(5h);
  EXPECT_EQ(t.read("a")->value, "/one") << "the clock decides nothing";
  EXPECT_EQ(t.pipe(ev("b", 1, "other")), verdict::applied);
  EXPECT_EQ(t.read("a")->value, "/one/three") << "but an event of that time has passed the gap";
  EXPECT_EQ(t.pipe(ev("a", 2, "two")), verdict::rejected);
  EXPECT_EQ(t.last_reason(), ratchet::reject_reason::late);
}

TEST(test_driver, stops_where_a_gap_is_too_old_and_may_not_be_skipped) {
  ratchet::test_driver t{
      {.order = ratchet::order::strict, .gap = {.policy = ratchet::gap_policy::stop, .timeout = 1h}},
      story{}};
  t.pipe(ev("a", 2, "two"));
  t.advance(2h);
  EXPECT_EQ(t.pipe(ev("b", 1, "one")), verdict::applied);
  ASSERT_TRUE(t.last_stop());
  EXPECT_EQ(t.last_stop()->code, ratchet::errc::gap_too_old);
  EXPECT_EQ(t.last_stop()->aggregate, "a");
  EXPECT_EQ(t.pipe(ev("b", 2, "two")), verdict::unhandled);
}

TEST(test_driver, stops_before_the_event_that_finds_no_room_to_wait) {
  ratchet::test_driver t{{.order = ratchet::order::strict, .waiting = {.events = 2}}, story{}};
  EXPECT_EQ(t.pipe_all({ev("a", 2, "x"), ev("b", 2, "x"), ev("c", 1, "x"), ev("d", 2, "x"), ev("e", 1, "x")}),
            (std::vector{verdict::parked, verdict::parked, verdict::applied, verdict::unhandled,
                         verdict::unhandled}));
  EXPECT_EQ(t.last_stop()->code, ratchet::errc::waiting_full);
  EXPECT_EQ(t.last_stop()->offset, 3);
  EXPECT_EQ(t.last_stop()->aggregate, "d");
}

TEST(test_driver, holds_an_aggregate_of_which_too_many_wait) {
  ratchet::test_driver t{{.order = ratchet::order::strict, .waiting = {.per_aggregate = 2}}, story{}};
  t.pipe_all({ev("a", 2, "x"), ev("a", 3, "x")});
  EXPECT_EQ(t.count(verdict::parked), 2U);
  EXPECT_EQ(t.pipe(ev("a", 4, "x")), verdict::dead);
  EXPECT_EQ(t.count(verdict::dead), 3U);
  EXPECT_EQ(t.pipe(ev("a", 1, "x")), verdict::dead) << "also the one that it waited for: an operator decides";
  EXPECT_EQ(t.pipe(ev("b", 1, "x")), verdict::applied) << "others never notice";
}

TEST(test_driver, is_the_same_after_a_crash_at_any_moment) {
  ratchet::test_driver t{{.order = ratchet::order::arrival}, story{}};
  for (const int synced : {0, 1, 0, 0, 1, 0}) {
    t.pipe(ev("a", t.consumed(), "x"));
    if (synced != 0) t.sync();
    const auto before = t.read("a");
    const auto floor = t.floor();
    t.crash_and_reopen();
    EXPECT_EQ(t.read("a")->value, before->value);
    EXPECT_EQ(t.read("a")->sequence, before->sequence);
    EXPECT_EQ(t.read("a")->id, before->id);
    EXPECT_EQ(t.floor(), floor);
  }
  EXPECT_EQ(t.read("a")->value, "/x/x/x/x/x/x");
  EXPECT_EQ(t.consumed(), 6U);
}

TEST(test_driver, lets_the_reducer_delete) {
  ratchet::test_driver t{{.order = ratchet::order::arrival}, story{}};
  t.pipe(ev("a", 1, "opened"));
  EXPECT_EQ(t.pipe(ev("a", 2, "closed")), verdict::applied);
  EXPECT_FALSE(t.read("a"));
  t.pipe(ev("a", 3, "opened"));
  EXPECT_EQ(t.read("a")->value, "/opened") << "from nothing";
}

TEST(test_driver, makes_ids_of_the_shape_of_uuidv7) {
  ratchet::test_driver t{{}, payment_status{}};
  t.pipe(ev("p1", 1, "paid"));
  const auto id = *t.read("p1")->id;
  EXPECT_EQ(id.time(), t.now());
  EXPECT_EQ(id.high >> 12U & 0xFU, 7U) << "version";
  EXPECT_EQ(id.low >> 62U, 2U) << "variant";
  auto anonymous = ev("p1", 2, "paid");
  anonymous.without_id = true;
  t.pipe(anonymous);
  EXPECT_FALSE(t.read("p1")->id);
}

TEST(test_driver, can_be_moved) {
  ratchet::test_driver t{{}, payment_status{}};
  t.pipe(ev("p1", 1, "queued"));
  ratchet::test_driver moved = std::move(t);
  moved.pipe(ev("p1", 2, "paid"));
  EXPECT_EQ(moved.read("p1")->sequence, seq(2));
}

TEST(test_driver, forgets_an_aggregate_of_which_nothing_came_for_long) {
  ratchet::test_driver t{{.order = ratchet::order::strict, .retention = 48h}, story{}};
  EXPECT_EQ(t.pipe(ev("p1", 1, "queued")), verdict::applied);
  EXPECT_EQ(t.pipe(ev("p1", 2, "paid")), verdict::applied);
  t.sync();
  t.advance(48h + 1ms);
  EXPECT_EQ(t.pipe(ev("p2", 1, "queued")), verdict::applied) << "which moves the time of the stream";
  EXPECT_FALSE(t.read("p1")) << "nobody sees it any more,";
  EXPECT_FALSE(t.last_sequence("p1"));
  EXPECT_EQ(t.pipe(ev("p1", 2, "paid").at(t.now() - 49h)), verdict::rejected) << "and what is old stays away";
  EXPECT_EQ(t.last_reason(), reject_reason::too_old);
  EXPECT_EQ(t.pipe(ev("p1", 1, "queued again")), verdict::applied);
  EXPECT_EQ(t.read("p1")->value, "/queued again");
  t.crash_and_reopen();
  EXPECT_EQ(t.last_sequence("p1"), seq(1));
  EXPECT_EQ(t.read("p1")->value, "/queued again");
  EXPECT_EQ(t.count(reject_reason::too_old), 1U);
}

}  // namespace
