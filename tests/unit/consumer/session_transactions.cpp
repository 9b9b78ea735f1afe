// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// When a session does the transactions of other threads, and when it answers them.
#include <gtest/gtest.h>

#include "decode/event_id_text.hpp"
#include "pipeline/mailbox.hpp"
#include "support/fake_publisher.hpp"
#include "support/session_world.hpp"

namespace ratchet::testing {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds k_at_once{0};

stream_config arrivals(std::vector<std::string> topics) {
  stream_config s = payments();
  s.topics = std::move(topics);
  s.order = order::arrival;
  s.envelope.event_id = "/id";
  s.envelope.sequence = {};
  s.dedup.ids = id_kind::opaque;
  s.outputs = {"out", "sink:side"};
  return s;
}

struct session_transactions : ::testing::Test {
  explicit session_transactions(std::vector<std::string> topics = {"t"}) : w{{arrivals(std::move(topics))}} {
    w.source.logs[k_p0] = {};
    w.source.logs[at("out", 0)] = {};
    w.source.held_at_join = {k_p0};
    w.inbox = &inbox;
    queue.open();
  }
  posted_transactions::ticket_ptr ask(const std::string& key) {
    return queue.post({0, "p1", *hash_opaque_id(key), std::nullopt, &append});
  }
  /// What is known of it by now.
  std::error_code told(const posted_transactions::ticket_ptr& t) { return queue.wait(t, k_at_once).code; }
  session_result run_with_script(std::vector<std::function<void()>> steps) {
    for (auto& step : steps) w.source.script.push_back(std::move(step));
    return w.run();
  }

  /// A transaction publishes what nobody takes, which fills what holds it; the next one is refused.
  void expect_room_for_one(const output& o) {
    never.on_wait = [this] { w.clock.advance(std::chrono::seconds{1}); };
    w.settings.outbox.bytes = 1;
    const transaction_function publish = [&o](state&, effects& fx) {
      fx.publish(o);
      return done();
    };
    posted_transactions::ticket_ptr first;
    posted_transactions::ticket_ptr second;
    run_with_script({[&] {
                       first = queue.post({0, "p1", *hash_opaque_id("1"), std::nullopt, &publish});
                     },
                     [] {}, [&] { second = ask("2"); }});
    EXPECT_FALSE(told(first));
    EXPECT_EQ(told(second), make_error_code(errc::held_back));
    EXPECT_EQ(calls, 0);
  }

  int calls{0};
  fake_publisher never;
  transaction_function append = [this](state& s, effects&) {
    ++calls;
    s.assign(std::string{s.value()} + "x");
    return done();
  };
  mailbox inbox;
  posted_transactions& queue{inbox.transactions};
  session_world w;
};

struct session_without_topics : session_transactions {
  session_without_topics() : session_transactions{{}} {}
};

TEST_F(session_transactions, are_answered_when_their_step_is_durable) {
  w.store.holds_syncs = true;
  posted_transactions::ticket_ptr first;
  posted_transactions::ticket_ptr second;
  ASSERT_EQ(run_with_script({[&] { first = ask("1"); },
                             [&] {
                               EXPECT_EQ(w.store.snapshot_of("payments", "p1"), "x") << "it is written";
                               EXPECT_TRUE(queue.awaits_sync());
                               second = ask("2");
                             },
                             [&] {
                               EXPECT_TRUE(queue.awaits_sync()) << "and not durable";
                               w.store.holds_syncs = false;
                             }})
                .end,
            session_end::drained);
  EXPECT_FALSE(queue.awaits_sync());
  EXPECT_FALSE(told(first));
  EXPECT_FALSE(told(second));
  EXPECT_EQ(w.store.snapshot_of("payments", "p1"), "xx");
}

TEST_F(session_transactions, that_wait_together_share_a_step_and_a_sync) {
  std::vector<posted_transactions::ticket_ptr> all;
  std::uint64_t before = 0;
  run_with_script({[&] {
                     before = w.store.last_step();
                     w.calls.lines.clear();
                     for (int i = 0; i < 20; ++i) all.push_back(ask(std::to_string(i)));
                   },
                   [&] {
                     EXPECT_EQ(w.store.last_step(), before + 1);
                     EXPECT_EQ(w.calls.count("request_sync"), 1U);
                   }});
  for (const auto& t : all) EXPECT_FALSE(told(t));
  EXPECT_EQ(calls, 20);
}

TEST_F(session_transactions, that_are_too_much_for_one_step_go_on_in_their_order) {
  std::map<std::uint64_t, int> calls_behind;  // each step
  const transaction_function large = [&](state& s, effects& fx) {
    ++calls_behind[w.store.last_step()];
    s.assign(std::to_string(++calls));
    fx.reply(std::string(std::size_t{900} << 10U, 'r'));
    return done();
  };
  std::vector<posted_transactions::ticket_ptr> all;
  std::uint64_t before = 0;
  run_with_script(
      {[&] {
         before = w.store.last_step();
         for (int i = 0; i < 100; ++i)
           all.push_back(queue.post({0, "p1", *hash_opaque_id(std::to_string(i)), std::nullopt, &large}));
       },
       [] {}});
  const std::map<std::uint64_t, int> wanted{{before, 37}, {before + 1, 37}, {before + 2, 26}};
  EXPECT_EQ(calls_behind, wanted) << "a step takes 32 MiB of replies, and one more";
  ASSERT_EQ(calls, 100);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const transaction_answer answer = queue.wait(all[i], k_at_once);
    EXPECT_FALSE(answer.code);
    EXPECT_EQ(answer.sequence, seq(i + 1));
  }
}

TEST_F(session_transactions, do_not_wait_for_the_commit_interval) {
  w.settings.state.commit_interval = std::chrono::hours{1};
  posted_transactions::ticket_ptr t;
  std::error_code code = make_error_code(errc::internal);
  run_with_script({[&] { t = ask("1"); }, [&] { code = told(t); }});
  EXPECT_FALSE(code) << "a sync was begun for it";
}

TEST_F(session_transactions, of_one_key_in_flight_together_are_done_once) {
  posted_transactions::ticket_ptr first;
  posted_transactions::ticket_ptr second;
  run_with_script({[&] {
    first = ask("same");
    second = ask("same");
  }});
  EXPECT_FALSE(queue.wait(first, k_at_once).repeated);
  EXPECT_TRUE(queue.wait(second, k_at_once).repeated);
  EXPECT_EQ(calls, 1);
}

TEST_F(session_transactions, are_not_done_before_the_group_is_claimed) {
  const auto t = ask("1");
  w.source.assigns_at_join = false;
  run_with_script({});
  EXPECT_EQ(calls, 0);
  queue.close();
  EXPECT_EQ(told(t), make_error_code(errc::not_running));
}

TEST_F(session_transactions, are_refused_while_the_outbox_is_full) {
  w.publish_to = &never;
  expect_room_for_one({.topic = "out", .payload = "x"});
}

TEST_F(session_without_topics, are_refused_while_a_sink_of_their_stream_is_full) {
  w.sinks = {{"side", &never}};
  expect_room_for_one({.topic = "", .payload = "x", .sink = "side"});
}

TEST_F(session_transactions, are_refused_while_the_disk_is_nearly_full) {
  posted_transactions::ticket_ptr t;
  w.source.tick = std::chrono::seconds{1};
  run_with_script({[&] { w.disk.free = 1; }, [] {}, [&] { t = ask("1"); }});
  const transaction_answer answer = queue.wait(t, k_at_once);
  EXPECT_EQ(answer.code, make_error_code(errc::held_back));
  EXPECT_NE(answer.text.find("disk space is low"), std::string::npos) << answer.text;
  EXPECT_EQ(calls, 0);
}

TEST_F(session_transactions, are_done_again_where_a_write_failed_and_by_their_keys_only_once) {
  posted_transactions::ticket_ptr durable;
  posted_transactions::ticket_ptr lost;
  posted_transactions::ticket_ptr failed;
  const auto ended = run_with_script({[&] { durable = ask("1"); },
                                      [&] {
                                        w.store.holds_syncs = true;
                                        lost = ask("2");
                                      },
                                      [&] {
                                        EXPECT_EQ(w.store.snapshot_of("payments", "p1"), "xx");
                                        w.store.writes_until_failure = 0;
                                        failed = ask("3");
                                      }});
  ASSERT_EQ(ended.end, session_end::store_lost);
  EXPECT_FALSE(told(durable));
  queue.store_lost();
  w.power_cut();
  w.store.holds_syncs = false;
  w.source.script.clear();
  w.run();
  EXPECT_FALSE(told(lost));
  EXPECT_FALSE(told(failed));
  EXPECT_EQ(w.store.snapshot_of("payments", "p1"), "xxx");
  w.stop = false;
  const auto again = ask("2");
  w.run();
  EXPECT_TRUE(queue.wait(again, k_at_once).repeated);
}

TEST_F(session_transactions, that_nobody_waits_for_any_more_are_not_begun) {
  posted_transactions::ticket_ptr t;
  run_with_script({[&] {
    t = ask("1");
    EXPECT_EQ(told(t), make_error_code(errc::timed_out));
  }});
  EXPECT_EQ(calls, 0);
}

TEST_F(session_transactions, are_refused_when_nobody_runs) {
  queue.close();
  EXPECT_EQ(told(ask("1")), make_error_code(errc::not_running));
}

TEST_F(session_without_topics, joins_no_group_and_is_ready) {
  posted_transactions::ticket_ptr t;
  ASSERT_EQ(run_with_script({[&] { t = ask("1"); }, [] {}}).end, session_end::drained);
  EXPECT_FALSE(told(t));
  EXPECT_EQ(w.calls.count("join"), 0U);
  EXPECT_EQ(w.calls.count("commit"), 0U);
  EXPECT_TRUE(w.live_at_stop.ready) << w.live_at_stop.ready_reason;
  EXPECT_EQ(w.store.snapshot_of("payments", "p1"), "x");
}

TEST_F(session_without_topics, says_that_an_option_of_the_start_had_nothing_to_do) {
  const std::string told = "had nothing to do: it chooses where to resume reading, and no stream has topics";
  session_options options;
  options.until_end = true;
  EXPECT_EQ(w.run(options).end, session_end::caught_up);
  EXPECT_EQ(w.logged(told), 0U) << w.logged();
  options.resume.option = resume_option::takeover;
  EXPECT_EQ(w.run(options).end, session_end::caught_up);
  EXPECT_EQ(w.logged("`--resume takeover` " + told), 1U) << w.logged();
}

TEST_F(session_without_topics, is_refused_where_a_topic_that_it_publishes_to_is_missing) {
  w.source.logs.erase(at("out", 0));
  const auto ended = w.run();
  ASSERT_EQ(ended.end, session_end::refused);
  EXPECT_EQ(ended.why->code, make_error_code(errc::topic_missing));
}

TEST_F(session_without_topics, ends_at_once_where_it_is_run_to_the_end) {
  EXPECT_EQ(w.run_until_end().end, session_end::caught_up);
}

}  // namespace
}  // namespace ratchet::testing
