// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Callbacks as sinks: the thread that calls them, and a whole session that publishes to them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "app/sink_outlets.hpp"
#include "sinks/callback_publisher.hpp"
#include "support/all_rows.hpp"
#include "support/fake_publisher.hpp"
#include "support/session_world.hpp"

namespace ratchet::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using how = delivery::how;

output_row row(std::uint64_t position) {
  output_row r;
  r.position = position;
  r.kind = output_kind::published;
  r.aggregate = "p1";
  r.topic = "sink:audit";
  r.key = "k";
  r.value = "v";
  r.type = "paid";
  r.source = "/ratchet/a/group/payments";
  r.sequence = {3, position};
  r.headers = {{"ce_id", "the-id"}, {"content-type", "text/plain"}};
  return r;
}

/// Waits for so many deliveries.
std::vector<delivery> wait_for(publisher& to, std::size_t count) {
  std::vector<delivery> all;
  for (int i = 0; i < 500 && all.size() < count; ++i) {
    to.wait(milliseconds{10});
    for (delivery& d : to.delivered()) all.push_back(std::move(d));
  }
  return all;
}

TEST(callback_publisher, tells_the_program_all_of_a_message) {
  std::string seen;
  auto to = make_callback_publisher("audit", [&](const sink_message& m) {
    seen = std::string{m.sink} + " " + std::string{m.id} + " " + std::string{m.stream} + " " +
           std::string{m.aggregate} + " " + std::string{m.key.value_or("none")} + " " +
           std::string{m.payload.value_or("none")} + " " + std::string{m.type} + " " +
           std::string{m.content_type} + " " + std::to_string(m.sequence.epoch) + "/" +
           std::to_string(m.sequence.number);
    return sink_answer{};
  });
  ASSERT_TRUE(is_taken(to->send(row(5))));
  const auto ended = wait_for(*to, 1);
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].position, 5U);
  EXPECT_EQ(ended[0].ended, how::done);
  EXPECT_EQ(seen, "audit the-id payments p1 k v paid text/plain 3/5");
}

TEST(callback_publisher, takes_answers_and_exceptions_for_what_they_are) {
  std::atomic<int> call{0};
  auto to = make_callback_publisher("audit", [&](const sink_message&) -> sink_answer {
    switch (call++) {
      case 0:
        return {sink_answer::how::again, "later"};
      case 1:
        return {sink_answer::how::refused, "never"};
      case 2:
        throw std::runtime_error{"broken"};
      default:
        throw 5;
    }
  });
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_TRUE(is_taken(to->send(row(i))));
  std::vector<std::pair<how, std::string>> seen;
  for (const delivery& d : wait_for(*to, 4)) seen.emplace_back(d.ended, d.text);
  EXPECT_THAT(seen, ElementsAre(std::pair{how::again, "later"}, std::pair{how::refused, "never"},
                                std::pair{how::again, "broken"},
                                std::pair{how::again, "an exception that is not a std::exception"}));
}

TEST(callback_publisher, calls_on_another_thread_and_never_lets_the_owner_wait) {
  std::mutex held;
  std::unique_lock lock{held};
  std::thread::id caller;
  auto to = make_callback_publisher("audit", [&](const sink_message&) {
    const std::lock_guard wait{held};
    caller = std::this_thread::get_id();
    return sink_answer{};
  });
  std::uint64_t taken = 0;
  while (taken < 1000 && is_taken(to->send(row(taken)))) ++taken;
  EXPECT_GT(taken, 10U);
  EXPECT_LT(taken, 1000U) << "there is a bound";
  EXPECT_THAT(to->delivered(), IsEmpty());
  std::atomic<int> told{0};
  to->on_progress([&] { ++told; });
  lock.unlock();
  // Told behind each message's delivery: of the first before there can be a last.
  EXPECT_EQ(wait_for(*to, taken).size(), taken);
  EXPECT_NE(caller, std::this_thread::get_id());
  to->on_progress({});
  EXPECT_GT(told, 0);
}

/// Publishes each event to a topic and to a sink.
struct both {
  static constexpr reducer_traits traits{.name = "both", .version = 1, .full_state = true};
  outcome apply(const ratchet::event& e, state& s, effects& fx) const {
    s.assign(e.payload);
    fx.publish({.topic = "out", .key = e.aggregate, .payload = e.payload});
    fx.publish({.topic = {}, .key = e.aggregate, .payload = e.payload, .sink = "audit"});
    return done();
  }
};

stream_config publishing() {
  stream_config s = payments();
  s.order = order::strict;
  s.outputs = {"out", "sink:audit"};
  return s;
}

struct a_session_with_a_sink : ::testing::Test {
  a_session_with_a_sink() : w{{publishing()}, reducers{}.add("payments", both{})} {
    w.source.logs[at("out", 0)] = {};
    w.source.logs[k_p0] = {};
    w.source.held_at_join = {k_p0};
    w.publish_to = &kafka;
    w.sinks = {{"audit", &sink, milliseconds{500}, milliseconds{30'000}}};
  }
  session_world w;
  fake_publisher kafka;
  fake_publisher sink;
};

TEST_F(a_session_with_a_sink, publishes_to_both_and_trims_both) {
  kafka.answers = sink.answers = true;
  for (int i = 1; i <= 3; ++i) w.source.produce(k_p0, event("p1", i));
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_THAT(kafka.values(), ElementsAre("1", "2", "3"));
  EXPECT_THAT(sink.values(), ElementsAre("1", "2", "3"));
  EXPECT_NE(kafka.sent[0].id, sink.sent[0].id) << "two messages of one event";
  EXPECT_EQ(w.store.outboxes().rows(), 0U);
  EXPECT_EQ(w.status.snapshot().sinks.at("audit").sent, 3U);
}

TEST_F(a_session_with_a_sink, trims_kafkas_messages_while_the_sink_is_away) {
  kafka.answers = true;
  for (int i = 1; i <= 3; ++i) w.source.produce(k_p0, event("p1", i));
  sink.on_wait = [&] {
    w.clock.advance(std::chrono::seconds{1});
    sink.end_all(how::again);
  };
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_THAT(kafka.values(), ElementsAre("1", "2", "3"));
  EXPECT_EQ(w.store.outbox().rows(), 0U);
  EXPECT_EQ(w.store.outboxes().of("audit").rows(), 3U);
  EXPECT_THAT(w.status.snapshot().sinks.at("audit").trouble, HasSubstr("the sink `audit` takes no messages"));
  EXPECT_THAT(w.logged(),
              HasSubstr("3 messages for the sink `audit` not sent yet; the next start sends them"));
  sink.on_wait = {};
  sink.answers = true;
  sink.under_way.clear();
  w.stop = false;
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.store.outboxes().rows(), 0U);
  EXPECT_EQ(sink.sent.front().id, sink.sent[sink.sent.size() - 3].id) << "the same id once more";
}

TEST(a_full_sink, holds_back_the_streams_that_publish_there_and_no_others) {
  stream_config other = payments("orders", "u");
  other.outputs = {"out"};
  session_world w{{publishing(), other}, reducers{}.add("payments", both{})};
  fake_publisher kafka;
  fake_publisher sink;
  kafka.answers = true;
  w.publish_to = &kafka;
  w.sinks = {{"audit", &sink, milliseconds{500}, milliseconds{30'000}}};
  const topic_partition u0 = at("u", 0);
  w.source.logs[at("out", 0)] = {};
  w.source.logs[k_p0] = {};
  w.source.logs[u0] = {};
  w.source.held_at_join = {k_p0, u0};
  w.settings.outbox.bytes = 2000;
  for (int i = 1; i <= 60; ++i) w.source.produce(k_p0, event("p1", i));
  for (int i = 1; i <= 60; ++i) w.source.produce(u0, event("o1", i));
  w.source.most_per_poll = 1;
  bool was_held = false;
  w.source.at_end = [] {};
  w.source.on_poll = [&](int quiet) {
    was_held = was_held || w.source.is_paused(k_p0);
    EXPECT_FALSE(w.source.is_paused(u0));
    if (quiet == 200) {
      EXPECT_EQ(w.counted("orders").consumed, 60U);
      EXPECT_LT(w.counted().consumed, 60U);
      EXPECT_THAT(w.status.snapshot().ready_reason, HasSubstr("waits for the sink `audit`"));
      sink.answers = true;
      sink.end_all();
    }
    if (quiet > 200 && w.counted().consumed == 60U && w.store.outboxes().rows() == 0) w.stop = true;
    if (quiet > 2000) w.stop = true;
  };
  EXPECT_EQ(w.run().end, session_end::drained);
  EXPECT_TRUE(was_held);
  EXPECT_EQ(w.counted().consumed, 60U);
  EXPECT_EQ(sink.values().size(), 60U);
  EXPECT_FALSE(w.source.is_paused(k_p0));
}

TEST(a_full_sink, holds_its_streams_on_when_a_full_disk_that_held_all_has_room_again) {
  stream_config other = payments("orders", "u");
  other.outputs = {"out"};
  session_world w{{publishing(), other}, reducers{}.add("payments", both{})};
  fake_publisher kafka;
  fake_publisher sink;
  kafka.answers = true;
  w.publish_to = &kafka;
  w.sinks = {{"audit", &sink, milliseconds{500}, milliseconds{30'000}}};
  const topic_partition u0 = at("u", 0);
  w.source.logs[at("out", 0)] = {};
  w.source.logs[k_p0] = {};
  w.source.logs[u0] = {};
  w.source.held_at_join = {k_p0, u0};
  w.source.tick = milliseconds{300};
  w.settings.outbox.bytes = 2000;
  const std::uint64_t room = w.disk.free;
  for (int i = 1; i <= 60; ++i) w.source.produce(k_p0, event("p1", i));
  for (int i = 1; i <= 60; ++i) w.source.produce(u0, event("o1", i));
  w.source.most_per_poll = 1;
  w.source.at_end = [] {};
  int polls = 0;
  w.source.on_poll = [&](int) {
    ++polls;
    if (polls == 300) {
      EXPECT_TRUE(w.source.is_paused(k_p0)) << "too much waits for its sink";
      EXPECT_FALSE(w.source.is_paused(u0));
      w.disk.free = 1;
    } else if (polls == 350) {
      EXPECT_TRUE(w.source.is_paused(k_p0));
      EXPECT_TRUE(w.source.is_paused(u0));
      w.source.produce(u0, event("o1", 61));
      w.disk.free = room;
    } else if (polls == 400) {
      EXPECT_TRUE(w.source.is_paused(k_p0)) << "its sink is as full as before";
      EXPECT_FALSE(w.source.is_paused(u0));
      EXPECT_EQ(w.counted("orders").consumed, 61U);
      EXPECT_LT(w.counted().consumed, 60U);
      sink.answers = true;
      sink.end_all();
    } else if (polls > 400 && w.counted().consumed == 60U && w.store.outboxes().rows() == 0) {
      w.stop = true;
    }
    if (polls > 2000) w.stop = true;
  };
  EXPECT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(w.counted().consumed, 60U);
  EXPECT_EQ(sink.values().size(), 60U);
  EXPECT_FALSE(w.source.is_paused(k_p0));
}

config with_sinks(std::vector<sink_config> sinks) {
  config c;
  c.streams = {publishing()};
  c.sinks = std::move(sinks);
  return c;
}

std::optional<problem> check(const config& c, const sinks& own = {}) {
  return check_sinks(c, own);
}

TEST(sinks_of_a_config, are_those_that_program_and_streams_name) {
  const sink_config audit{.name = "audit", .kind = sink_config::kind_of::callback, .http = {}};
  const callback_sink nothing = [](const sink_message&) { return sink_answer{}; };
  EXPECT_FALSE(check(with_sinks({audit}), sinks{}.add("audit", nothing)));
  EXPECT_THAT(check(with_sinks({audit}))->message,
              HasSubstr("`audit` is a callback, and this program adds none"));
  EXPECT_THAT(check(with_sinks({audit}), sinks{}.add("audit", nothing).add("other", nothing))->message,
              HasSubstr("a callback was added for the sink `other`"));
}

TEST(sinks_of_a_config, include_each_for_which_messages_wait) {
  outbox_lanes lanes;
  lanes.by_name[""] = {0, 5, 100};
  lanes.by_name["old"] = {5, 5, 0};
  EXPECT_FALSE(check_lanes(with_sinks({}), lanes)) << "nothing waits there";
  lanes.by_name["old"] = {5, 7, 100};
  const auto refused = check_lanes(with_sinks({}), lanes);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, make_error_code(errc::sink_missing));
  EXPECT_THAT(refused->message, HasSubstr("2 messages for the sink `old` not sent yet"));
  EXPECT_THAT(refused->hint, HasSubstr("discard: true"));
  EXPECT_FALSE(
      check_lanes(with_sinks({{.name = "old", .kind = sink_config::kind_of::discard, .http = {}}}), lanes));
}

TEST(sinks_of_a_config, that_discard_lose_what_waits_and_leave_an_audit_row) {
  memory_store store{{"payments"}};
  step_batch batch;
  batch.step = 1;
  batch.outbox.puts = {row(0), row(1)};
  ASSERT_TRUE(store.write(batch));
  const config c = with_sinks({{.name = "audit", .kind = sink_config::kind_of::discard, .http = {}}});
  EXPECT_FALSE(discard_lanes(c, store, timestamp{}, silent_log()));
  EXPECT_EQ(store.outboxes().of("audit"), (outbox_state{2, 2, 0}));
  EXPECT_EQ(store.durable_step(), 2U);
  const auto audits = support::all_audits(*store.view().value()).value();
  ASSERT_EQ(audits.size(), 1U);
  EXPECT_EQ(audits[0].kind, "sink_discarded");
  EXPECT_EQ(audits[0].step, 2U);
  EXPECT_THAT(audits[0].text, HasSubstr("2 messages for the sink `audit`, from position 0 on, discarded"));
  EXPECT_FALSE(discard_lanes(c, store, timestamp{}, silent_log()));
  EXPECT_EQ(store.last_step(), 2U) << "nothing is left to do";
}

}  // namespace
}  // namespace ratchet::testing
