// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "outbox/sink_sender.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "outbox/outbox_sender.hpp"
#include "unit/outbox/sink_fixture.hpp"

namespace ratchet::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using how = delivery::how;

TEST_F(a_sink, sends_one_message_of_an_aggregate_at_a_time) {
  put({{"p1", "a"}, {"p2", "b"}, {"p1", "c"}});
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("a", "b"));
  end(1, how::done);
  EXPECT_THAT(to_.values(), IsEmpty());
  end(0, how::done);
  EXPECT_THAT(to_.values(), ElementsAre("c"));
  EXPECT_FALSE(sender().idle());
  end(2, how::done);
  EXPECT_TRUE(sender().idle());
  EXPECT_EQ(sender().sent(), 3U);
}

TEST_F(a_sink, sends_only_what_is_durable_with_its_headers) {
  (void)sender();
  step_batch batch;
  batch.step = store_.last_step() + 1;
  output_row& row = batch.outbox.puts.emplace_back();
  row.kind = output_kind::published;
  row.aggregate = "p1";
  row.topic = "sink:receipts";
  batch.outbox.number(store_.outboxes(), 7);
  ASSERT_TRUE(store_.write(batch));
  sender().wrote(batch.step, lane().next);
  turn();
  EXPECT_THAT(to_.sent, IsEmpty()) << "a power cut could take it back";
  EXPECT_TRUE(sender().waits_for_sync());
  ASSERT_TRUE(store_.sync());
  turn();
  ASSERT_EQ(to_.sent.size(), 1U);
  EXPECT_EQ(to_.sent[0].headers.front().first, "ce_specversion");
  EXPECT_EQ(to_.sent[0].sequence, (sequence{7, 0}));
}

TEST_F(a_sink, trims_the_lowest_rows_of_its_own_lane) {
  put({{"p1", "kafka"}}, "t");
  put({{"p1", "a"}, {"p2", "b"}, {"p3", "c"}});
  const std::uint64_t bytes = lane().bytes;
  turn();
  end(1, how::done);
  EXPECT_EQ(sender().trim().trimmed_rows, 0U) << "the first is not delivered";
  EXPECT_THAT(sender().trim().trimmed_behind, ElementsAre(output_range{1, 2})) << "and stays";
  end(0, how::done);
  EXPECT_EQ(sender().trim().trimmed_rows, 2U);
  trim();
  EXPECT_EQ(lane(), (outbox_state{2, 3, bytes / 3}));
  EXPECT_EQ(store_.outbox().rows(), 1U) << "Kafka's lane is none of its business";
  EXPECT_EQ(store_.outputs({}, 0, 1, 1, 1000).value().front().value, "kafka");
}

TEST_F(a_sink, makes_an_aggregate_wait_that_fails_and_no_other) {
  put({{"p1", "a"}, {"p1", "b"}, {"p2", "c"}});
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("a", "c"));
  end(0, how::again, "500");
  put({{"p2", "d"}, {"p3", "e"}});
  end(2, how::done);
  EXPECT_THAT(to_.values(), ElementsAre("d", "e"));
  EXPECT_THAT(sender().trouble().value_or(""), HasSubstr("the sink `receipts` takes no messages: 500"));
  pass(milliseconds{499});
  EXPECT_THAT(to_.values(), IsEmpty());
  pass(milliseconds{1});
  EXPECT_THAT(to_.values(), ElementsAre("a"));
  end(0, how::again, "500");
  pass(milliseconds{999});
  EXPECT_THAT(to_.values(), IsEmpty()) << "the pause has doubled";
  pass(milliseconds{1});
  EXPECT_THAT(to_.values(), ElementsAre("a"));
  end(0, how::done);
  EXPECT_THAT(to_.values(), ElementsAre("b"));
  EXPECT_FALSE(sender().trouble());
}

TEST_F(a_sink, tells_what_is_refused_once_all_else_gets_through) {
  put({{"p1", "a"}, {"p2", "b"}});
  turn();
  end(0, how::refused, "404");
  end(1, how::again, "no answer");
  EXPECT_THAT(sender().trouble().value_or(""), HasSubstr("takes no messages: no answer"));
  pass(milliseconds{500});
  end(1, how::done);
  EXPECT_THAT(sender().trouble().value_or(""), HasSubstr("does not take a message of `p1`: 404"));
}

TEST_F(a_sink, keeps_what_is_refused_and_tries_it_seldom) {
  put({{"p1", "a"}, {"p1", "b"}, {"p2", "c"}});
  turn();
  end(0, how::refused, "400");
  end(2, how::done);
  EXPECT_THAT(to_.values(), ElementsAre("a", "c"));
  EXPECT_THAT(*sender().trouble(), HasSubstr("does not take a message of `p1`: 400"));
  pass(sink_sender::k_stuck_pause - milliseconds{1});
  EXPECT_THAT(to_.values(), IsEmpty());
  put({{"p1", "d"}, {"p4", "e"}});
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("e")) << "the rest goes on";
  pass(milliseconds{1});
  EXPECT_THAT(to_.values(), ElementsAre("a"));
  end(0, how::done);
  end(1, how::done);
  EXPECT_THAT(to_.values(), ElementsAre("b", "d"));
}

TEST_F(a_sink, tells_which_messages_it_does_not_take) {
  put({{"p1", "a"}, {"p1", "b"}, {"p2", "c"}, {"p3", "d"}});
  turn();
  end(0, how::refused, "400");
  end(3, how::again, "500");
  const auto refused = sender().refused(now_ + seconds{4}, 10);
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(sender().refused_count(), 1U);
  EXPECT_EQ(refused[0].row.position, 0U);
  EXPECT_EQ(refused[0].row.aggregate, "p1");
  EXPECT_EQ(refused[0].attempts, 1U);
  EXPECT_EQ(refused[0].next_try, sink_sender::k_stuck_pause - seconds{4});
  EXPECT_EQ(refused[0].why, "400");
  pass(sink_sender::k_stuck_pause);
  end(0, how::again, "503");
  EXPECT_EQ(sender().refused_count(), 0U) << "by now it is another trouble";
  EXPECT_THAT(sender().refused(now_, 10), IsEmpty());
}

TEST_F(a_sink, sends_a_refused_message_at_once_where_somebody_says_so) {
  put({{"p1", "a"}, {"p1", "b"}, {"p2", "c"}});
  turn();
  end(0, how::refused, "400");
  (void)to_.values();
  EXPECT_FALSE(sender().retry(1)) << "it only waits behind the other one";
  EXPECT_FALSE(sender().retry(2)) << "nobody has refused it";
  EXPECT_TRUE(sender().retry(0));
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("a"));
  EXPECT_FALSE(sender().skip(0)) << "it is under way";
  end(0, how::refused, "400");
  EXPECT_EQ(sender().refused(now_, 10).at(0).attempts, 2U);
  pass(sink_sender::k_stuck_pause);
  EXPECT_THAT(to_.values(), IsEmpty()) << "the pause has doubled";
}

TEST_F(a_sink, never_sends_what_was_skipped) {
  put({{"p1", "a"}, {"p1", "b"}, {"p2", "c"}});
  turn();
  end(0, how::refused, "400");
  EXPECT_FALSE(sender().skip(1)) << "nobody has refused it";
  const auto skipped = sender().skip(0);
  ASSERT_TRUE(skipped);
  step_batch batch;
  batch.step = store_.last_step() + 1;
  batch.outbox.skipped = *skipped;
  const std::uint64_t before = lane().bytes;
  ASSERT_TRUE(store_.write(batch));
  ASSERT_TRUE(store_.sync());
  EXPECT_LT(lane().bytes, before);
  (void)to_.values();
  sender().skipped(*skipped);
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("b"));
  EXPECT_EQ(sender().refused_count(), 0U);
  EXPECT_FALSE(sender().trouble());
  // Whoever comes after a crash passes over it, too.
  to_.under_way.clear();
  sender_.reset();
  turn();
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("b", "c"));
  end(1, how::done);
  end(2, how::done);
  EXPECT_TRUE(sender().idle());
  trim();
  EXPECT_EQ(lane(), (outbox_state{3, 3, 0}));
}

TEST_F(a_sink, pauses_as_a_whole_where_nothing_gets_through) {
  put({{"p1", "1"}, {"p2", "2"}, {"p3", "3"}, {"p4", "4"}, {"p5", "5"}});
  turn();
  for (std::uint64_t i = 0; i < 4; ++i) to_.end(i, how::again, "away");
  turn();
  (void)to_.values();
  put({{"p6", "6"}, {"p7", "7"}});
  turn();
  EXPECT_THAT(to_.values(), IsEmpty());
  end(4, how::again, "away");
  pass(milliseconds{500});
  EXPECT_THAT(to_.values(), ElementsAre("7")) << "one that never failed tries whether it is back";
  end(6, how::again, "away");
  pass(milliseconds{999});
  EXPECT_THAT(to_.values(), IsEmpty());
  pass(milliseconds{1});
  EXPECT_THAT(to_.values().size(), 1U);
  end(to_.under_way.front(), how::done);
  EXPECT_EQ(to_.values().size(), 6U) << "all others at once";
}

TEST_F(a_sink, reads_on_though_some_messages_fail_for_ever) {
  put({{"p1", "bad"}, {"p2", "bad"}, {"p3", "bad"}});
  turn();
  for (int i = 0; i < 20; ++i) {
    to_.end_all(how::again);
    turn();
    pass(seconds{30});
  }
  (void)to_.values();
  put({{"p1", "behind"}, {"p4", "good"}});
  to_.end_all(how::again);
  turn();
  pass(seconds{30});
  EXPECT_THAT(to_.values(), ElementsAre("good"));
}

TEST_F(a_sink, that_is_away_tries_all_that_failed_by_turns) {
  put({{"p1", "1"}, {"p2", "2"}, {"p3", "3"}, {"p4", "4"}, {"p5", "5"}});
  turn();
  to_.end_all(how::again);
  turn();
  (void)to_.values();
  for (int i = 0; i < 5; ++i) {
    pass(seconds{30});
    to_.end_all(how::again);
    turn();
  }
  EXPECT_THAT(to_.values(), ElementsAre("1", "2", "3", "4", "5")) << "the first one may fail for ever";
  put({{"p6", "6"}, {"p7", "7"}, {"p8", "8"}});
  for (int i = 0; i < 4; ++i) {
    pass(seconds{30});
    to_.end_all(how::again);
    turn();
  }
  EXPECT_THAT(to_.values(), ElementsAre("8", "1", "6", "2")) << "also where others come, from either end";
}

TEST_F(a_sink, that_is_away_reads_up_to_a_bound) {
  std::vector<std::pair<std::string, std::string>> all;
  for (std::size_t i = 0; i < 2 * sink_sender::k_most_failing_away; ++i)
    all.emplace_back("p" + std::to_string(i), "v");
  put(all);
  // Three of four fail, so that it is not away.
  for (std::size_t n = 0; n < sink_sender::k_most_failing_away;) {
    turn();
    for (std::size_t i = 0; !to_.under_way.empty(); ++i) {
      const bool fails = i % 4 != 0;
      to_.end(to_.under_way.front(), fails ? how::again : how::done);
      if (fails) ++n;
    }
  }
  const auto highest_behind = [this](int tries) {
    std::uint64_t highest = 0;
    for (to_.sent.clear(); tries > 0; --tries) {
      to_.end_all(how::again);
      pass(seconds{30});
    }
    for (const output_row& row : to_.sent) highest = std::max(highest, row.position);
    return highest;
  };
  const std::uint64_t before = highest_behind(5'000);
  EXPECT_LE(highest_behind(5'000), before);
  EXPECT_FALSE(sender().reads_on());
  to_.answers = true;
  to_.end_all();
  for (int i = 0; i < 10'000 && !sender().idle(); ++i) pass(seconds{30});
  EXPECT_TRUE(sender().idle()) << "it is back";
}

TEST_F(a_sink, keeps_to_the_pause_that_it_is_asked_for) {
  put({{"p1", "a"}, {"p2", "b"}});
  to_.room = 1;
  turn();
  to_.end_with(0, {.ended = how::again, .text = "429", .pause = seconds{20}});
  turn();
  pass(milliseconds{19'999});
  EXPECT_THAT(to_.values(), ElementsAre("a"));
  pass(milliseconds{1});
  EXPECT_EQ(to_.values().size(), 1U);
  to_.end_with(to_.under_way.front(), {.ended = how::again, .text = "429", .pause = std::chrono::hours{100}});
  turn();
  pass(sink_sender::k_longest_asked_pause);
  EXPECT_EQ(to_.values().size(), 1U) << "no longer than that";
}

TEST_F(a_sink, keeps_to_that_pause_whatever_was_under_way) {
  put({{"p1", "a"}, {"p2", "b"}, {"p3", "c"}});
  to_.room = 2;
  turn();
  ASSERT_EQ(to_.under_way.size(), 2U);
  to_.end_with(0, {.ended = how::again, .text = "429", .pause = seconds{20}});
  to_.end_with(1, {.ended = how::done, .text = ""});
  turn();
  (void)to_.values();
  pass(milliseconds{19'999});
  EXPECT_THAT(to_.values(), IsEmpty()) << "an answer to another request takes nothing back";
  pass(milliseconds{1});
  EXPECT_FALSE(to_.values().empty());
}

TEST_F(a_sink, sends_again_what_an_earlier_run_had_not_trimmed) {
  put({{"p1", "a"}, {"p2", "b"}, {"p1", "c"}});
  turn();
  end(0, how::done);
  trim();
  end(1, how::done);
  (void)to_.values();
  to_.under_way.clear();
  sender_.reset();
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("b", "c"));
}

TEST_F(a_sink, goes_on_behind_a_refused_message_with_more_than_it_holds) {
  to_.answers = true;
  const std::string large(64 << 10U, 'x');
  put({{"bad", large}});
  to_.answers = false;
  turn();
  end(0, how::refused, "400");
  to_.answers = true;
  std::vector<std::pair<std::string, std::string>> more;
  for (int i = 0; i < 400; ++i) more.emplace_back("p" + std::to_string(i), large);
  put(more);
  for (int i = 0; i < 20; ++i) turn();
  EXPECT_EQ(sender().sent(), 400U) << "what was delivered takes no memory";
  trim();
  EXPECT_EQ(lane().rows(), 1U);
}

TEST_F(a_sink, goes_on_though_more_waits_behind_a_refused_message_than_it_holds) {
  put({{"bad", "first"}, {"bad", "second"}});
  turn();
  end(0, how::refused, "400");
  const std::string large(64 << 10U, 'x');
  std::vector<std::pair<std::string, std::string>> more;
  for (int i = 0; i < 400; ++i) more.emplace_back("bad", large);
  more.emplace_back("good", "behind all");
  put(more);
  to_.answers = true;
  for (int i = 0; i < 20; ++i) turn();
  EXPECT_THAT(to_.values(), ElementsAre("first", "behind all"));
  pass(sink_sender::k_stuck_pause);
  for (int i = 0; i < 1000; ++i) turn();
  const auto last = to_.values();
  ASSERT_EQ(last.size(), 402U) << "and none of it is lost";
  EXPECT_EQ(last[0], "first");
  EXPECT_EQ(last[1], "second");
  EXPECT_EQ(to_.sent.back().headers.front().first, "ce_specversion");
  EXPECT_TRUE(sender().idle());
}

TEST_F(a_sink, that_is_away_holds_up_neither_kafka_nor_its_trimming) {
  fake_publisher kafka;
  outbox_sender topics{store_, kafka, silent_log()};
  for (int i = 0; i < 3; ++i) {
    put({{"p1", "s"}});
    put({{"p1", "k" + std::to_string(i)}}, "t");
    topics.wrote(store_.last_step(), store_.outbox().next);
    turn();
    if (!to_.under_way.empty()) end(to_.under_way.front(), how::again, "away");
    ASSERT_TRUE(topics.turn(now_));
    kafka.end_all();
    ASSERT_TRUE(topics.turn(now_));
    step_batch batch;
    batch.step = store_.last_step() + 1;
    batch.outbox = topics.trim();
    EXPECT_EQ(batch.outbox.trimmed_rows, 1U);
    ASSERT_TRUE(store_.write(batch));
    topics.trimmed();
  }
  EXPECT_THAT(kafka.values(), ElementsAre("k0", "k1", "k2"));
  EXPECT_EQ(store_.outbox().rows(), 0U);
  EXPECT_EQ(lane().rows(), 3U);
}

}  // namespace
}  // namespace ratchet::testing
