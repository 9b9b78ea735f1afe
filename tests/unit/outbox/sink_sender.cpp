// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "outbox/sink_sender.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "outbox/outbox_sender.hpp"
#include "support/fake_publisher.hpp"
#include "testing/memory_store.hpp"

namespace ratchet::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using how = delivery::how;

class a_sink : public ::testing::Test {
 protected:
  /// Aggregates with values, for one destination.
  void put(const std::vector<std::pair<std::string, std::string>>& of_aggregates,
           const std::string& to = "sink:receipts") {
    step_batch batch;
    batch.step = store_.last_step() + 1;
    for (const auto& [aggregate, value] : of_aggregates) {
      output_row& row = batch.outbox.puts.emplace_back();
      row.kind = output_kind::published;
      row.id = {0x7000, std::uint64_t{1} << 63U};
      row.topic = to;
      row.aggregate = aggregate;
      row.value = value;
      row.type = "paid";
      row.source = "/ratchet/g/s";
    }
    batch.outbox.number(store_.outboxes(), 7);
    ASSERT_TRUE(store_.write(batch));
    if (sender_) sender_->wrote(batch.step, lane().next);
    ASSERT_TRUE(store_.sync());
  }
  [[nodiscard]] outbox_state lane() const { return store_.outboxes().of("receipts"); }
  sink_sender& sender() {
    if (!sender_)
      sender_.emplace(sink_outlet{"receipts", &to_, milliseconds{500}, seconds{30}}, store_, silent_log());
    return *sender_;
  }
  void turn() { ASSERT_TRUE(sender().turn(now_)); }
  void pass(milliseconds time) {
    now_ += time;
    turn();
  }
  void trim() {
    step_batch batch;
    batch.step = store_.last_step() + 1;
    batch.outbox = sender().trim();
    ASSERT_TRUE(store_.write(batch));
    ASSERT_TRUE(store_.sync());
    sender().trimmed();
  }
  void end(std::uint64_t position, how ended, std::string why = {}) {
    to_.end(position, ended, std::move(why));
    turn();
  }

  memory_store store_{{"s"}};
  fake_publisher to_;
  sink_sender::time_point now_{std::chrono::hours{1}};
  std::optional<sink_sender> sender_;
};

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

/// What `bad` aggregates do to a sink that takes all others: they hang until their time is over, by rounds.
struct a_sink_with_bad_aggregates : a_sink {
  struct counts {
    std::size_t good{0};
    std::size_t bad{0};
    std::size_t rounds_without_good{0};  ///< none of the connections was free for them
  };
  static constexpr std::size_t k_connections = 8;

  void put_bad_and_good(std::size_t bad, std::size_t good) {
    std::vector<std::pair<std::string, std::string>> all;
    for (std::size_t i = 0; i < bad; ++i) all.emplace_back("bad" + std::to_string(i), "bad");
    for (std::size_t i = 0; i < good; ++i) all.emplace_back("good" + std::to_string(i), "good");
    put(all);
  }
  /// Good ones come through at once, as many as there are connections for; the bad ones end as their time is
  /// over, all together.
  counts run_round(milliseconds timeout, std::size_t most_good) {
    counts of;
    to_.room = k_connections;
    now_ += seconds{30};  // any pause is over
    const std::size_t before = to_.sent.size();
    for (std::size_t turns = 0; turns < most_good; ++turns) {
      turn();
      if (end_good(of) == 0) break;
    }
    of.bad = static_cast<std::size_t>(
        std::count_if(to_.sent.begin() + static_cast<std::ptrdiff_t>(before), to_.sent.end(),
                      [](const output_row& row) { return row.value == "bad"; }));
    of.rounds_without_good = of.good == 0 ? 1 : 0;
    now_ += timeout;
    to_.end_all(how::again);
    turn();
    end_good(of);
    return of;
  }
  std::size_t end_good(counts& of) {
    const auto under_way = to_.under_way;
    std::size_t ended = 0;
    for (const std::uint64_t position : under_way) {
      const auto row = std::find_if(to_.sent.rbegin(), to_.sent.rend(),
                                    [position](const output_row& r) { return r.position == position; });
      if (row->value == "bad") continue;
      to_.end(position, how::done);
      ++ended;
    }
    of.good += ended;
    return ended;
  }
};

TEST_F(a_sink_with_bad_aggregates, sends_the_others_while_those_hang) {
  put_bad_and_good(20, 1'000);
  counts all;
  for (int round = 0; round < 6; ++round) {
    const counts of = run_round(seconds{10}, 1'000);
    all.good += of.good;
    all.rounds_without_good += of.rounds_without_good;
  }
  EXPECT_EQ(all.good, 1'000U);
  EXPECT_LE(all.rounds_without_good, 3U) << "each of the twenty takes a connection once before it is known";
  // Whoever comes now meets free connections, however often those fail.
  for (int round = 0; round < 20; ++round) {
    put_bad_and_good(0, 50);
    EXPECT_EQ(run_round(seconds{10}, 1'000).good, 50U) << round;
  }
}

TEST_F(a_sink_with_bad_aggregates, keeps_to_their_pauses_whatever_comes_through) {
  put_bad_and_good(20, 0);
  std::size_t bad = 0;
  to_.room = k_connections;
  for (int ms = 0; ms < 20'000; ms += 10) {
    if (ms % 100 == 0) put({{"good" + std::to_string(ms), "good"}});
    pass(milliseconds{10});
    counts of;
    end_good(of);
    bad += to_.under_way.size();
    to_.end_all(how::again);
    turn();
  }
  EXPECT_LE(bad, 20U * 7U)
      << "0, 0.5, 1.5, 3.5, 7.5, 15.5 s: six tries of each, and none more for a good one";
  EXPECT_GE(bad, 20U * 4U) << "and they are tried";
  EXPECT_EQ(sender().sent(), 200U);
}

TEST_F(a_sink_with_bad_aggregates, tries_each_of_them_by_turns) {
  put_bad_and_good(20, 1);
  for (int round = 0; round < 5; ++round) (void)run_round(seconds{10}, 1'000);
  to_.sent.clear();
  for (int round = 0; round < 20; ++round) {
    put_bad_and_good(0, 1);
    (void)run_round(seconds{10}, 1'000);
  }
  std::set<std::string> tried;
  for (const output_row& row : to_.sent) {
    if (row.value == "bad") tried.insert(row.aggregate);
  }
  EXPECT_EQ(tried.size(), 20U) << "the first ones are no better than the last ones";
}

TEST_F(a_sink_with_bad_aggregates, does_not_go_away_for_those_that_are_known) {
  put_bad_and_good(20, 1);
  for (int round = 0; round < 8; ++round) {
    put_bad_and_good(0, 1);
    (void)run_round(seconds{10}, 1'000);
  }
  (void)run_round(seconds{30}, 1'000);  // nothing but bad ones
  put_bad_and_good(0, 1);
  turn();
  EXPECT_EQ(to_.sent.back().value, "good") << "at once";
}

TEST_F(a_sink_with_bad_aggregates, over_one_connection_sends_most_of_the_others_first) {
  put_bad_and_good(3, 100);
  to_.room = 1;
  sender_.emplace(sink_outlet{"receipts", &to_, milliseconds{500}, seconds{30}, 1}, store_, silent_log());
  std::size_t good = 0;
  std::size_t tries = 0;
  for (int i = 0; i < 500 && good < 100; ++i) {
    turn();
    counts of;
    good += end_good(of);
    tries += to_.under_way.size();
    if (!to_.under_way.empty()) now_ += seconds{10};
    to_.end_all(how::again);
  }
  EXPECT_EQ(good, 100U);
  EXPECT_LE(tries, 3U + 100U / sink_sender::k_fresh_between + 1U);
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
