// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The step of local transactions: through the pipeline, over a store in memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "decode/event_id_text.hpp"
#include "pipeline/pipeline.hpp"
#include "pipeline/stop_messages.hpp"
#include "support/fake_source.hpp"
#include "testing/memory_store.hpp"

namespace ratchet::testing {
namespace {

using std::chrono::hours;
using ::testing::HasSubstr;

/// Appends to the state, publishes and replies what it appended.
transaction_function append(const std::string& text) {
  return [text](state& s, effects& fx) {
    s.assign(std::string{s.value()} + text);
    fx.publish({.topic = "out", .key = "k", .payload = text});
    fx.reply("did " + text);
    return done();
  };
}

struct keeping {
  static constexpr reducer_traits traits{.name = "keeping"};
  outcome apply(const ratchet::event& e, state& s, effects& fx) const {
    if (e.payload == "fails") return retry(make_error_code(errc::io));
    if (e.payload == "replies") fx.reply("to whom?");
    s.assign(std::string{s.value()} + std::string{e.payload});
    return done();
  }
};

struct transactions : ::testing::Test {
  explicit transactions(std::vector<std::string> topics = {}) {
    config c;
    c.kafka.group = "g";
    c.outbox.message_bytes = 2000;
    c.state.snapshot_bytes = 5000;
    stream_config s;
    s.name = "orders";
    s.topics = std::move(topics);
    if (!s.topics.empty()) {
      s.envelope.event_id = "/id";
      s.envelope.aggregate = "/a";
    }
    s.order = order::arrival;
    s.dedup.ids = id_kind::opaque;
    s.dedup.window = hours{24};
    s.record_times = record_times::trusted;  // one record moves the floor
    s.outputs = {"out"};
    c.streams = {s};
    auto made = make_streams(c, reducers{}.add("orders", keeping{}));
    streams = std::move(*made);
    tasks = make_tasks(streams);
    EXPECT_TRUE(load_tasks(streams, tasks, store));
    way.emplace(tasks, store, clock);
  }
  struct asked {
    std::string aggregate;
    std::string key;
    transaction_function function;
    std::optional<hash128> fingerprint{};
  };
  std::vector<transaction_answer> all(const std::vector<asked>& wanted) {
    std::vector<transaction_request> requests;
    for (const asked& a : wanted)
      requests.push_back({a.aggregate, *hash_opaque_id(a.key), a.fingerprint, &a.function});
    return way->transact(*tasks[0], requests).value();
  }
  transaction_answer one(const asked& wanted) { return all({wanted}).at(0); }
  [[nodiscard]] std::string stored(const std::string& aggregate) const {
    const auto row = store.view().value()->get(store.id_of("orders"), aggregate);
    return row && !row.value().deleted ? row.value().snapshot.str() : "nothing";
  }
  [[nodiscard]] std::vector<std::string> published() const {
    std::vector<std::string> out;
    const outbox_state o = store.outbox();
    const auto rows = store.outputs({}, o.first, o.next, 1000, 1U << 30U).value();
    for (const output_row& r : rows) out.push_back(r.value.value_or("null"));
    return out;
  }
  [[nodiscard]] const counters& counted() const { return tasks[0]->state.counters; }
  /// An event of the topic, where the stream has one.
  void event(const std::string& aggregate, const std::string& id, const std::string& payload,
             std::int64_t offset, std::optional<timestamp> time = {}) {
    static const topic_partition where{"t", partition_id{0}};
    record r;
    r.where = &where;
    r.offset = offset;
    r.time = time;
    decoded_input input;
    decoded_part& part = input.parts.emplace_back();
    decoded_event e;
    e.from = &r;
    e.kind = decoded_kind::event;
    e.aggregate = aggregate;
    e.has_id = true;
    e.id = *hash_opaque_id(id);
    e.payload = payload;
    e.record_time = time;
    part.decoded.events = {e};
    part.plan = plan_step(streams[0]->rules, streams[0]->reduce.traits(), part.decoded.events);
    ASSERT_TRUE(way->handle(input));
  }

  fake_clock clock;
  memory_store store{{"orders"}};
  stream_list streams;
  task_list tasks;
  std::optional<pipeline> way;
};

struct transactions_beside_a_topic : transactions {
  transactions_beside_a_topic() : transactions{{"t"}} {}
};

TEST_F(transactions, change_the_state_publish_and_reply_in_one_step) {
  const std::uint64_t before = store.last_step();
  const transaction_answer a = one({"p1", "key-1", append("x")});
  EXPECT_FALSE(a.code);
  EXPECT_FALSE(a.repeated);
  EXPECT_EQ(a.reply, "did x");
  EXPECT_EQ(a.sequence, seq(1));
  EXPECT_EQ(stored("p1"), "x");
  EXPECT_EQ(published(), std::vector<std::string>{"x"});
  EXPECT_EQ(store.last_step(), before + 1);
  EXPECT_EQ(one({"p1", "key-2", append("y")}).sequence, seq(2));
  EXPECT_EQ(stored("p1"), "xy");
  EXPECT_EQ(counted().applied, 2U);
  EXPECT_EQ(counted().consumed, counted().accounted());
}

TEST_F(transactions, with_a_key_that_was_used_do_nothing_and_get_the_same_reply) {
  one({"p1", "key", append("x")});
  one({"p1", "other", append("y")});
  int calls = 0;
  const transaction_function counting = [&calls](state&, effects&) {
    ++calls;
    return done();
  };
  const transaction_answer again = one({"p1", "key", counting});
  EXPECT_FALSE(again.code);
  EXPECT_TRUE(again.repeated);
  EXPECT_EQ(again.reply, "did x");
  EXPECT_EQ(again.sequence, seq(1)) << "the number that it took, not the last one";
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(counted().duplicate, 1U);
  EXPECT_EQ(counted().consumed, counted().accounted());
  EXPECT_FALSE(one({"p2", "key", counting}).repeated) << "a key is one of its aggregate";
}

TEST_F(transactions, of_one_step_see_each_other) {
  const auto got = all({{"p1", "1", append("a")},
                        {"p2", "2", append("b")},
                        {"p1", "3", append("c")},
                        {"p1", "1", append("d")}});
  EXPECT_EQ(stored("p1"), "ac");
  EXPECT_EQ(stored("p2"), "b");
  EXPECT_EQ(got[2].sequence, seq(2));
  EXPECT_TRUE(got[3].repeated);
  EXPECT_EQ(got[3].reply, "did a");
  EXPECT_EQ(got[3].sequence, seq(1));
  EXPECT_EQ(published(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(store.last_step(), 1U);
}

TEST_F(transactions, that_fail_change_nothing_and_leave_the_others_alone) {
  const auto failing = [](const outcome& o) {
    return [o](state& s, effects& fx) {
      s.assign("half");
      fx.publish({.topic = "out", .payload = "half"});
      fx.reply("half");
      return o;
    };
  };
  const auto full = make_error_code(errc::waiting_full);
  const auto got =
      all({{"p1", "1", append("a")},
           {"p1", "2", failing(retry(full))},
           {"p1", "3", failing(give_up(full))},
           {"p1", "4", failing(stop(full))},
           {"p1", "5", [](state&, effects&) -> outcome { throw std::runtime_error{"no funds"}; }},
           {"p1", "6", failing(give_up({}))},
           {"p1", "7", append("b")},
           {"p1", "8",
            [](state& s, effects&) -> outcome {
              s.assign("half");
              throw std::runtime_error{""};
            }},
           {"p1", "9", failing(give_up({}, "no funds"))}});
  for (const int i : {1, 2, 3}) EXPECT_EQ(got[static_cast<std::size_t>(i)].code, full) << i;
  EXPECT_EQ(got[4].code, make_error_code(errc::reducer_failed));
  EXPECT_EQ(got[4].text, "no funds");
  EXPECT_EQ(got[5].code, make_error_code(errc::reducer_failed)) << "an error without a code is one";
  EXPECT_EQ(got[5].text, "the reducer gave no reason");
  EXPECT_EQ(got[6].sequence, seq(2));
  EXPECT_EQ(got[7].code, make_error_code(errc::reducer_failed)) << "an exception without a text is one";
  EXPECT_EQ(got[8].code, make_error_code(errc::reducer_failed)) << "so is one that has a text alone";
  EXPECT_EQ(got[8].text, "no funds");
  EXPECT_EQ(stored("p1"), "ab");
  EXPECT_EQ(published(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(counted().consumed, 2U) << "what failed leaves no trace";
  EXPECT_EQ(counted().waiting(), 0U);
  EXPECT_FALSE(one({"p1", "2", append("c")}).repeated) << "its key is free";
}

TEST_F(transactions, that_change_nothing_write_nothing) {
  one({"p1", "1", [](state&, effects&) { return give_up(make_error_code(errc::io)); }});
  EXPECT_EQ(store.last_step(), 0U);
}

TEST_F(transactions, tell_another_request_with_the_same_key_by_its_fingerprint) {
  one({"p1", "key", append("x"), hash128{1, 2}});
  EXPECT_EQ(one({"p1", "key", append("y"), hash128{1, 3}}).code, make_error_code(errc::key_reused));
  EXPECT_TRUE(one({"p1", "key", append("y"), hash128{1, 2}}).repeated);
  EXPECT_TRUE(one({"p1", "key", append("y")}).repeated) << "who gives none is not compared";
  const auto got = all({{"p1", "k", append("z"), hash128{7, 7}}, {"p1", "k", append("z"), hash128{8, 8}}});
  EXPECT_EQ(got[1].code, make_error_code(errc::key_reused)) << "in flight together, too";
  EXPECT_EQ(stored("p1"), "xz");
}

TEST_F(transactions, may_delete_the_state_and_keep_the_number) {
  one({"p1", "1", append("x")});
  one({"p1", "2", [](state& s, effects&) {
         s.erase();
         return done();
       }});
  EXPECT_EQ(stored("p1"), "nothing");
  bool existed = true;
  const auto a = one({"p1", "3", [&existed](state& s, effects&) {
                        existed = s.exists();
                        s.assign("new");
                        return done();
                      }});
  EXPECT_FALSE(existed);
  EXPECT_EQ(a.sequence, seq(3));
  EXPECT_EQ(a.reply, std::nullopt);
}

TEST_F(transactions, are_forgotten_when_the_clock_has_left_the_window_behind) {
  one({"p1", "key", append("x")});
  clock.advance(hours{24});
  EXPECT_TRUE(one({"p1", "key", append("y")}).repeated) << "the last moment of the window";
  one({"p2", "else", append("-")});  // moves the floor to the time of the key
  EXPECT_TRUE(one({"p1", "key", append("y")}).repeated);
  clock.advance(std::chrono::milliseconds{1});
  one({"p2", "other", append("-")});
  EXPECT_FALSE(one({"p1", "key", append("y")}).repeated);
  EXPECT_EQ(stored("p1"), "xy");
}

TEST_F(transactions, are_remembered_though_the_clock_was_set_back) {
  one({"p1", "1", append("a")});
  clock.advance(-hours{48});
  EXPECT_FALSE(one({"p1", "2", append("b")}).code) << "below the floor by the clock";
  EXPECT_TRUE(one({"p1", "2", append("c")}).repeated);
  EXPECT_TRUE(one({"p1", "1", append("c")}).repeated);
  EXPECT_EQ(stored("p1"), "ab");
}

TEST_F(transactions, give_their_messages_an_id_made_of_the_key_and_its_time) {
  one({"p1", "key", append("x")});
  const output_row row = store.outputs({}, 0, 1, 1, 1U << 20U).value().at(0);
  EXPECT_EQ(row.aggregate, "p1");
  EXPECT_EQ(row.time, clock.now());
  EXPECT_EQ(row.id.time(), clock.now());
  EXPECT_EQ(row.source, "/ratchet/g/orders");
  one({"p2", "key", append("x")});
  EXPECT_NE(store.outputs({}, 1, 2, 1, 1U << 20U).value().at(0).id, row.id);
}

TEST_F(transactions, are_refused_what_a_reducer_is_refused) {
  const auto to = [](const char* topic, std::size_t bytes) {
    return [=](state&, effects& fx) {
      fx.publish({.topic = topic, .payload = std::string(bytes, 'x')});
      return done();
    };
  };
  EXPECT_EQ(one({"p1", "1", to("elsewhere", 1)}).code, make_error_code(errc::output_undeclared));
  EXPECT_EQ(one({"p1", "2", to("out", 3000)}).code, make_error_code(errc::output_too_large));
  const auto long_reply = one({"p1", "3", [](state&, effects& fx) {
                                 fx.reply(std::string(2001, 'x'));
                                 return done();
                               }});
  EXPECT_EQ(long_reply.code, make_error_code(errc::output_too_large));
  EXPECT_THAT(long_reply.text, HasSubstr("its reply has 2001 bytes"));
  const auto large_state = one({"p1", "4", [](state& s, effects&) {
                                  s.assign(std::string(5001, 'x'));
                                  return done();
                                }});
  EXPECT_EQ(large_state.code, make_error_code(errc::snapshot_too_large));
  EXPECT_EQ(large_state.text, "its snapshot has 5001 bytes, and state.snapshot_bytes is 5000");
  EXPECT_EQ(stored("p1"), "nothing");
}

TEST_F(transactions_beside_a_topic, share_numbers_and_ids_with_its_events) {
  event("p1", "id-1", "a", 0);
  EXPECT_EQ(one({"p1", "key", append("b")}).sequence, seq(2));
  const auto same = one({"p1", "id-1", append("c")});
  EXPECT_TRUE(same.repeated) << "the event came under that id";
  EXPECT_EQ(same.reply, std::nullopt);
  EXPECT_EQ(same.sequence, seq(2)) << "the last one, as none is kept with an event's id";
  event("p1", "key", "d", 1);
  event("p1", "id-2", "e", 2);
  EXPECT_EQ(stored("p1"), "abe");
  EXPECT_EQ(counted().duplicate, 2U);
}

TEST_F(transactions_beside_a_topic, are_refused_while_earlier_events_of_the_aggregate_wait) {
  one({"p1", "before", append("x")});
  event("p1", "id-1", "fails", 0);
  const auto refused = one({"p1", "key", append("b")});
  EXPECT_EQ(refused.code, make_error_code(errc::aggregate_blocked));
  EXPECT_THAT(refused.text, HasSubstr("p1"));
  EXPECT_TRUE(one({"p1", "before", append("x")}).repeated) << "what was done is answered all the same";
  EXPECT_FALSE(one({"p2", "key", append("b")}).code);
}

TEST_F(transactions_beside_a_topic, go_on_behind_events_that_an_operator_skipped) {
  event("p1", "id-1", "fails", 0);
  ASSERT_EQ(one({"p1", "key", append("b")}).code, make_error_code(errc::aggregate_blocked));
  pipeline::decided skipped;
  skipped.aggregate = "p1";
  skipped.verb = waiting_verb::skip;
  skipped.sequence = seq(1);
  ASSERT_TRUE(way->run_commands(*tasks[0], std::vector{skipped}));
  const auto done = one({"p1", "key", append("b")});
  EXPECT_FALSE(done.code) << done.text;
  EXPECT_EQ(done.sequence, seq(2));
}

TEST_F(transactions_beside_a_topic, do_not_move_its_window) {
  const timestamp old = clock.now() - hours{240};
  one({"p1", "key", append("a")});
  EXPECT_EQ(tasks[0]->state.floor, std::nullopt);
  event("p2", "id-1", "b", 0, old);
  one({"p1", "other", append("c")});
  EXPECT_EQ(tasks[0]->state.floor, old - hours{24}) << "as if there were no transactions";
  event("p2", "id-2", "d", 1, old);
  EXPECT_EQ(stored("p2"), "bd") << "not too old";
}

TEST_F(transactions_beside_a_topic, are_remembered_for_the_window_though_records_are_ahead) {
  const auto ahead = [this] { return clock.now() + std::chrono::minutes{5}; };  // as far as is allowed
  one({"p1", "key", append("a")});
  event("p2", "id-1", "b", 0, ahead());
  one({"p1", "later", append("b")});
  clock.advance(hours{24});
  event("p2", "id-2", "b", 1, ahead());
  EXPECT_TRUE(one({"p1", "key", append("x")}).repeated);
  clock.advance(std::chrono::milliseconds{1});
  event("p2", "id-3", "b", 2, ahead());
  EXPECT_FALSE(one({"p1", "key", append("c")}).repeated) << "and no longer than that";
  EXPECT_EQ(stored("p1"), "abc");
}

TEST_F(transactions_beside_a_topic, alone_may_reply) {
  event("p1", "id-1", "replies", 0);
  ASSERT_EQ(way->stopped().size(), 1U);
  const partition_stop& stop = way->stopped().begin()->second;
  EXPECT_EQ(stop.cause, make_error_code(errc::output_undeclared));
  EXPECT_THAT(describe(stop), HasSubstr("it called fx.reply outside of a transaction"));
  EXPECT_EQ(stored("p1"), "nothing");
}

}  // namespace
}  // namespace ratchet::testing
