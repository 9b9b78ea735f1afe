// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Topics that refuse some messages, however many: the others go on, keep their order, and come once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kafka/learned_limit.hpp"
#include "outbox/outbox_sender.hpp"
#include "support/fake_publisher.hpp"
#include "unit/outbox/lane_world.hpp"

namespace ratchet::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using how = delivery::how;

/// Has so much under way at most, cuts it into batches as librdkafka does, and ends it at its owner's next
/// turn. As brokers do, it takes a batch or none of it: it does not take one that is larger than its `limit`,
/// nor one with a message of an aggregate that begins with "bad", unless it tells which one is meant.
class choosy_topic final : public publisher {
 public:
  [[nodiscard]] sending send(const output_row& row) override {
    const std::size_t bytes = size_of(row);
    if (learned.is_hopeless(bytes) && !under_way_.empty()) return sending::doubtful;
    if (under_way_.size() >= room) return sending::full;
    if (!learned.has_room(under_way_.size())) return sending::topic_waits;
    if (!under_way_.empty() && sent_with_ != learned.batch_bytes()) return sending::topic_waits;
    sent_with_ = learned.batch_bytes();
    if (is_bad(row) && under_way_.empty()) ++alone;
    learned.sent(bytes, under_way_.size());
    under_way_.push_back(row);
    return sending::taken;
  }
  [[nodiscard]] std::vector<delivery> delivered() override {
    std::vector<delivery> all;
    for (auto at = under_way_.begin(); at != under_way_.end();) {
      auto end = at;
      std::size_t bytes = 0;
      for (; end != under_way_.end() && (end == at || bytes + size_of(*end) <= sent_with_); ++end)
        bytes += size_of(*end);
      end_batch(at, end, all);
      at = end;
    }
    under_way_.clear();
    return all;
  }
  void wait(milliseconds) override {}
  void on_progress(std::function<void()>) override {}
  [[nodiscard]] bool is_busy() const { return !under_way_.empty(); }

  std::size_t room{1'000};
  std::size_t limit{1'000'000'000};
  bool mended{false};
  bool tells_which{false};
  std::uint64_t fails_one_in{0};
  learned_limit learned{1'000'000};
  std::map<std::uint64_t, std::string> came;
  std::size_t twice{0};
  std::size_t with_value{0};
  std::size_t alone{0};  ///< bad ones
  std::size_t batches{0};
  std::size_t refused_batches{0};
  std::map<std::string, std::uint64_t> last_of;
  std::size_t out_of_order{0};

 private:
  using rows = std::vector<output_row>;
  [[nodiscard]] bool is_bad(const output_row& row) const {
    return !mended && row.aggregate.starts_with("bad");
  }
  [[nodiscard]] static std::size_t size_of(const output_row& row) {
    return row.value ? row.value->size() : 0;
  }
  /// Zeros get smaller on their way.
  [[nodiscard]] static std::size_t sent_size_of(const output_row& row) {
    return row.value && row.value->starts_with('0') ? size_of(row) / 10 : size_of(row);
  }
  void end_batch(rows::const_iterator at, rows::const_iterator end, std::vector<delivery>& all) {
    ++batches;
    std::size_t bytes = 0;
    std::for_each(at, end, [&bytes](const output_row& row) { bytes += sent_size_of(row); });
    const bool is_large = bytes > limit;
    const bool has_bad = std::any_of(at, end, [this](const output_row& row) { return is_bad(row); });
    const bool is_refused = is_large || (has_bad && !tells_which);
    if (is_refused) ++refused_batches;
    for (; at != end; ++at) {
      delivery d = end_one(*at, is_refused);
      if (d.ended == how::done) learned.taken(size_of(*at), sent_with_);
      if (d.ended == how::refused && is_large && learned.refused(size_of(*at), sent_with_))
        d.ended = how::unfit;
      all.push_back(std::move(d));
    }
  }
  delivery end_one(const output_row& row, bool is_refused) {
    if (fails_one_in > 0 && random_() % fails_one_in == 0) return {row.position, how::again, "away"};
    if (is_refused || is_bad(row)) return {row.position, how::refused, "too large"};
    if (!came.emplace(row.position, row.aggregate).second) ++twice;
    if (row.value) ++with_value;
    std::uint64_t& last = last_of[row.aggregate];
    if (row.position < last) ++out_of_order;
    last = std::max(last, row.position);
    return {row.position, how::done, {}};
  }
  rows under_way_;
  std::size_t sent_with_{0};
  std::mt19937_64 random_{11};
};

struct refused_by_topics : lane_world<outbox_sender, choosy_topic> {
  refused_by_topics() : lane_world{"t", ""} { refused_by_topics::restart(); }
  void turn() {
    ASSERT_TRUE(sender_->turn(now_));
    now_ += milliseconds{5};
    if (++turns_ % 20 == 0) trim();
  }
  using lane_world::drain;
  void drain(milliseconds later) override {
    now_ += later;
    const std::size_t limit = turns_ + 200'000;
    do {
      turn();
    } while ((!sender_->is_drained() || to_.is_busy()) && turns_ < limit);
    EXPECT_LT(turns_, limit) << "it comes to rest";
    trim();
  }
  void restart() override { sender_.emplace(store_, to_, silent_log()); }
  [[nodiscard]] std::size_t refused_count() const override { return sender_->refused(now_, 100).size(); }

  std::size_t turns_{0};
};

TEST_F(refused_by_topics, one_message_does_not_end_a_lane_that_goes_on) {
  put(1, bad);
  const std::uint64_t bytes = lane().bytes;
  for (int i = 0; i < 20; ++i) {
    put(2'500, good);
    drain();
  }
  EXPECT_EQ(to_.came.size(), 50'000U);
  EXPECT_EQ(lane(), (outbox_state{0, 50'001, bytes, 50'000})) << "what was delivered is not unsent";
  EXPECT_FALSE(sender_->is_away());
  EXPECT_TRUE(sender_->trouble());
}

TEST_F(refused_by_topics, messages_leave_room_however_large_they_are) {
  put(100, bad, std::string(900'000, 'x'));
  put(5, good);
  drain();
  EXPECT_EQ(to_.came.size(), 5U);
  EXPECT_EQ(sender_->refused(now_, 1'000).size(), 100U);
  EXPECT_FALSE(sender_->idle());
}

TEST_F(refused_by_topics, one_in_a_hundred_leaves_the_others_their_speed) {
  to_.limit = 20'000;
  const std::size_t all = messages();
  const auto value = [&](std::size_t i) {
    return std::string(i % 100 == 0 ? 3 * to_.limit : std::size_t{300}, 'x');
  };
  for (std::size_t n = 0; n < all; n += 10'000) {
    put_sized(10'000, good, value);
    // So many turns at 1,000 messages each, with nothing refused; twice as many where some are.
    for (int i = 0; i < 2 * 10; ++i) turn();
  }
  EXPECT_GT(to_.came.size(), all * 97 / 100);
  drain();
  EXPECT_EQ(to_.came.size(), all / 100 * 99);
  EXPECT_EQ(to_.twice, 0U);
  EXPECT_LT(to_.batches, all * 300 / to_.limit * 5) << "which are a quarter of the limit at least";
  EXPECT_LT(to_.refused_batches, all / 1'000) << "one that is as large as one that was refused is not sent";
  EXPECT_EQ(lane().rows(), all / 100);
  EXPECT_EQ(sender_->refused(now_, all).size(), all / 100);
  to_.limit *= 100;
  drain(outbox_sender::k_longest_stuck_pause);
  while (to_.came.size() < all && turns_ < 4 * all) turn();
  EXPECT_EQ(to_.came.size(), all);
  EXPECT_EQ(to_.twice, 0U);
  trim();
  EXPECT_EQ(lane(), (outbox_state{all, all, 0}));
  EXPECT_TRUE(sender_->idle());
  EXPECT_FALSE(sender_->trouble());
}

TEST_F(refused_by_topics, batches_larger_than_their_limit_get_smaller_and_none_is_refused_any_more) {
  to_.limit = 20'000;
  const std::string value(300, 'x');
  put(10'000, good, value);
  drain();
  const std::size_t refused = to_.refused_batches;
  EXPECT_LT(refused, 30U);
  EXPECT_EQ(to_.came.size(), 10'000U);
  put(10'000, good, value);
  drain();
  EXPECT_EQ(to_.came.size(), 20'000U);
  EXPECT_EQ(to_.refused_batches, refused);
  EXPECT_LT(to_.batches, 2 * 10'000 * value.size() / to_.limit * 5);
  EXPECT_EQ(refused_count(), 0U);
  EXPECT_TRUE(sender_->idle());
}

/// As by a policy of the brokers: size says nothing of it.
TEST_F(refused_by_topics, one_in_a_hundred_for_what_it_is_costs_as_many_sends_as_a_batch_can_be_halved) {
  const std::size_t all = messages() / 5;
  put(all, one_in_a_hundred_bad);
  drain();
  EXPECT_EQ(to_.came.size(), all / 100 * 99);
  EXPECT_EQ(to_.twice, 0U);
  EXPECT_EQ(sender_->refused(now_, all).size(), all / 100);
  EXPECT_LT(to_.batches, all / 100 * 20) << "and not a hundred, as each alone were";
}

TEST_F(refused_by_topics, messages_that_are_tried_again_leave_the_others_half_of_the_time) {
  to_.tells_which = true;
  put(5'000, bad);
  drain();
  now_ += outbox_sender::k_longest_stuck_pause;  // as each has had its turn, all pauses are long
  to_.alone = 0;
  for (int i = 0; i < 100; ++i) {
    put(1'000, good);
    for (int n = 0; n < 2; ++n) turn();
  }
  EXPECT_GT(to_.came.size(), 90'000U);
  EXPECT_GT(to_.alone, 20U) << "and go on";
}

struct doubtful_messages : refused_by_topics {
  static constexpr std::size_t k_limit = 1'000'000;
  doubtful_messages() {
    to_.limit = k_limit;
    put_one("first", std::string(k_limit + 200'000, 'x'));
    drain();
    EXPECT_EQ(refused_count(), 1U);
  }
  void put_one(const std::string& aggregate, const std::string& value) {
    put(
        1, [&](std::size_t) { return aggregate; }, value);
  }
  void put_letter(std::string value) {
    step_batch batch;
    batch.step = store_.last_step() + 1;
    output_row& row = batch.outbox.puts.emplace_back();
    row.topic = "t";
    row.value = std::move(value);
    batch.outbox.number(store_.outboxes(), 7);
    write(batch);
    sender_->wrote(batch.step, lane().next);
  }
  [[nodiscard]] std::uint32_t attempts_of(const std::string& aggregate) const {
    for (const refused_message& m : sender_->refused(now_, 100)) {
      if (m.row.aggregate == aggregate) return m.attempts;
    }
    return 0;
  }
};

/// A letter is tried once, so that nothing but an answer may cost it its value.
TEST_F(doubtful_messages, that_are_letters_go_whole_if_they_are_taken) {
  put_one("small", "v");
  put_letter(std::string(2 * k_limit, '0'));
  put_letter(std::string(3 * k_limit, '0'));
  put_one("small", "v");
  drain();
  EXPECT_EQ(to_.came.size(), 4U);
  EXPECT_EQ(to_.with_value, 4U);
  EXPECT_EQ(to_.out_of_order, 0U);
  EXPECT_THAT(sender_->take_given_up(), IsEmpty());
}

TEST_F(doubtful_messages, that_are_letters_lose_their_value_if_they_are_not) {
  put_one("small", "v");
  put_letter(std::string(2 * k_limit, 'x'));
  put_one("small", "v");
  drain();
  EXPECT_EQ(to_.came.size(), 3U);
  EXPECT_EQ(to_.with_value, 2U);
  EXPECT_THAT(sender_->take_given_up(), IsEmpty());
}

TEST_F(doubtful_messages, are_not_overtaken_by_their_aggregate) {
  put_one("small", "v");
  put_one("a", std::string(2 * k_limit, '0'));
  put_one("a", "v");
  drain();
  EXPECT_EQ(to_.came.size(), 1U);
  drain(outbox_sender::k_stuck_pause);
  EXPECT_EQ(to_.came.size(), 3U);
  EXPECT_EQ(to_.out_of_order, 0U);
}

TEST_F(doubtful_messages, are_each_asked_about_when_they_are_due) {
  put_one("small", "v");
  put_one("second", std::string(k_limit * 5 / 2, 'x'));
  put_one("third", std::string(k_limit + 200'000, 'x'));
  put_one("fourth", std::string(k_limit * 3, '0'));
  drain();
  EXPECT_EQ(refused_count(), 4U);
  to_.limit = 2 * k_limit;
  // The first one is taken, so that what is known of the others begins anew with the second.
  drain(outbox_sender::k_stuck_pause);
  for (int i = 0; i < 20; ++i) turn();
  EXPECT_GE(attempts_of("second"), 2U);
  EXPECT_EQ(refused_count(), 1U) << "and it is the only one that is still too large";
}

TEST_F(doubtful_messages, count_as_tried_only_where_they_were) {
  to_.limit = k_limit * 11 / 10;
  put_one("small", "v");
  put_one("large", std::string(k_limit * 3, 'x'));
  put_one("larger", std::string(k_limit * 4, 'x'));
  put_one("fits", std::string(k_limit * 11, '0'));
  drain();
  EXPECT_EQ(refused_count(), 4U);
  drain(outbox_sender::k_stuck_pause);
  for (int i = 0; i < 20; ++i) turn();
  EXPECT_EQ(attempts_of("fits"), 0U) << "it came";
  for (const char* aggregate : {"first", "large", "larger"}) EXPECT_GE(attempts_of(aggregate), 2U);
}

TEST_F(doubtful_messages, have_their_turn_however_often_the_first_one_is_due) {
  for (const char* aggregate : {"second", "third"}) put_one(aggregate, std::string(2 * k_limit, 'x'));
  drain();
  EXPECT_EQ(refused_count(), 3U);
  now_ += outbox_sender::k_stuck_pause;
  for (int i = 0; i < 20; ++i) {
    turn();
    (void)sender_->retry(0);
  }
  EXPECT_GT(attempts_of("first"), 3U);
  EXPECT_EQ(attempts_of("second"), 2U);
  EXPECT_EQ(attempts_of("third"), 2U);
}

TEST_F(refused_by_topics, messages_do_not_make_a_restart_send_the_others_again) {
  expect_that_a_restart_sends_no_other_again();
}

TEST_F(refused_by_topics, messages_can_be_skipped_with_holes_behind_them) {
  expect_that_all_can_be_skipped_with_holes_behind_them();
}

TEST_F(refused_by_topics, messages_do_not_hide_one_that_is_lost) {
  expect_that_one_that_is_lost_is_seen();
}

TEST_F(refused_by_topics, aggregates_keep_their_order_with_what_waits_behind) {
  put(1, bad);
  drain();
  put(20'000, [](std::size_t) { return std::string{"bad0"}; });
  put(1, good);
  drain();
  EXPECT_EQ(to_.came.size(), 1U);
  to_.mended = true;
  drain(outbox_sender::k_stuck_pause);
  EXPECT_EQ(to_.came.size(), 20'002U);
  EXPECT_EQ(to_.out_of_order, 0U);
  EXPECT_TRUE(sender_->idle());
  EXPECT_EQ(lane(), (outbox_state{20'002, 20'002, 0}));
}

/// Whole batches refused for one message, failures that pass, restarts, operators: all come, and none that
/// follows one of its aggregate before it, but what was under way with it.
TEST_F(refused_by_topics, messages_and_all_else_that_fails_come_to_rest_with_everything_delivered) {
  std::mt19937_64 random{5};
  to_.room = 7;
  to_.fails_one_in = 40;
  for (int round = 0; round < 200; ++round) {
    put(random() % 20,
        [&](std::size_t) { return (random() % 10 == 0 ? "bad" : "p") + std::to_string(random() % 8); });
    for (std::uint64_t n = random() % 30; n > 0; --n) {
      now_ += milliseconds{random() % 400};
      turn();
    }
    if (random() % 10 == 0) restart();
    if (random() % 5 == 0) {
      for (const refused_message& m : sender_->refused(now_, 3)) EXPECT_TRUE(sender_->retry(m.row.position));
    }
  }
  to_.mended = true;
  to_.fails_one_in = 0;
  drain(outbox_sender::k_longest_stuck_pause);
  for (int i = 0; i < 1'000 && !sender_->idle(); ++i) drain(seconds{60});
  trim();
  EXPECT_TRUE(sender_->idle());
  EXPECT_EQ(to_.came.size(), put_);
  EXPECT_EQ(lane(), (outbox_state{put_, put_, 0}));
}

/// With a topic of which the test says what becomes of each message.
struct refused_beside_others : ::testing::Test {
  void put(const std::vector<std::string>& aggregates, output_kind kind = output_kind::published,
           const std::string& topic = "t") {
    step_batch batch;
    batch.step = store_.last_step() + 1;
    for (const std::string& aggregate : aggregates) {
      output_row& row = batch.outbox.puts.emplace_back();
      row.kind = kind;
      row.topic = topic;
      row.aggregate = aggregate;
      row.value = aggregate;
    }
    batch.outbox.number(store_.outboxes(), 7);
    ASSERT_TRUE(store_.write(batch));
    ASSERT_TRUE(store_.sync());
    sender_.wrote(batch.step, store_.outbox().next);
    turn();
  }
  void turn() { ASSERT_TRUE(sender_.turn(now_)); }
  void pass(milliseconds time) {
    now_ += time;
    turn();
  }
  void end(std::uint64_t position, how ended) {
    to_.end(position, ended, "because");
    turn();
  }
  /// Of `aggregates`, all but the last one, each alone; what was under way beside them is through.
  void put_refused(const std::vector<std::string>& aggregates) {
    put(aggregates);
    const std::uint64_t last = to_.under_way.back();
    while (to_.under_way.size() > 1) to_.end(to_.under_way.front(), how::refused);
    end(last, how::done);
    while (!to_.under_way.empty()) end(to_.under_way.front(), how::refused);
    EXPECT_EQ(sender_.refused(now_, 100).size(), aggregates.size() - 1);
    (void)to_.values();
  }
  [[nodiscard]] std::uint32_t attempts() const { return sender_.refused(now_, 1).at(0).attempts; }

  memory_store store_{{"s"}};
  fake_publisher to_;
  outbox_sender::time_point now_{std::chrono::hours{1}};
  outbox_sender sender_{store_, to_, silent_log()};
};

TEST_F(refused_beside_others, message_waits_for_one_that_never_ends_and_then_the_others_go_on) {
  put_refused({"bad", "p1"});
  put({"never"});
  pass(outbox_sender::k_stuck_pause);
  put({"p2"});
  EXPECT_THAT(to_.values(), ElementsAre("never")) << "the refused one is due, and is to be alone";
  pass(outbox_sender::k_longest_quiet - milliseconds{1});
  EXPECT_THAT(to_.values(), IsEmpty());
  pass(milliseconds{1});
  EXPECT_THAT(to_.values(), ElementsAre("p2"));
  end(3, how::done);
  pass(outbox_sender::k_longest_quiet - milliseconds{1});
  put({"p3"});
  EXPECT_THAT(to_.values(), ElementsAre("p3")) << "the others have as long";
  end(4, how::done);
  end(2, how::done);
  pass(milliseconds{1});
  EXPECT_THAT(to_.values(), ElementsAre("bad"));
  end(0, how::done);
  EXPECT_TRUE(sender_.idle());
}

TEST_F(refused_beside_others, message_that_never_ends_itself_does_not_hold_them_up) {
  put_refused({"bad", "p1"});
  pass(outbox_sender::k_stuck_pause);
  put({"p2", "bad"});
  EXPECT_THAT(to_.values(), ElementsAre("bad"));
  pass(outbox_sender::k_longest_quiet);
  EXPECT_THAT(to_.values(), ElementsAre("p2")) << "but what is behind it";
  EXPECT_FALSE(sender_.skip(0)) << "it is under way";
  to_.end(2, how::done);
  end(0, how::refused);
  EXPECT_EQ(attempts(), 1U) << "by now it was not alone";
  pass(outbox_sender::k_longest_quiet);
  EXPECT_THAT(to_.values(), ElementsAre("bad"));
  pass(outbox_sender::k_longest_quiet);
  end(0, how::done);
  EXPECT_THAT(to_.values(), ElementsAre("bad")) << "the next one of its aggregate";
  end(3, how::done);
  EXPECT_TRUE(sender_.idle());
}

TEST_F(refused_beside_others, dead_letter_is_not_given_up_for_them) {
  put({"dead", "p1"}, output_kind::dead_letter);
  to_.end(0, how::refused);
  end(1, how::done);
  end(0, how::refused);
  (void)to_.values();
  pass(outbox_sender::k_longest_quiet);
  put({"p2"});
  end(0, how::refused);
  EXPECT_THAT(sender_.take_given_up(), IsEmpty());
  end(2, how::done);
  end(0, how::refused);
  EXPECT_EQ(sender_.take_given_up().size(), 1U) << "alone";
}

TEST_F(refused_beside_others, message_that_ends_at_once_is_not_overtaken_by_its_aggregate) {
  to_.ends_at_once = how::unfit;
  put({"a", "a", "p1"});
  EXPECT_THAT(to_.values(), ElementsAre("a"));
  to_.ends_at_once.reset();
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("p1"));
  end(2, how::done);
  pass(outbox_sender::k_stuck_pause);
  end(0, how::done);
  EXPECT_THAT(to_.values(), ElementsAre("a", "a"));
  end(1, how::done);
  EXPECT_TRUE(sender_.idle());
}

struct topics_that_wait : refused_beside_others {
  void put_to(const std::string& topic, const std::vector<std::string>& aggregates) {
    put(aggregates, output_kind::published, topic);
  }
};

TEST_F(topics_that_wait, do_not_hold_up_others_and_keep_their_own_order) {
  put_to("t", {"t1"});
  to_.topics_that_wait = {"t"};
  put_to("t", {"t2"});
  put_to("u", {"u1"});
  put_to("t", {"t3"});
  put_to("u", {"u2"});
  EXPECT_THAT(to_.values(), ElementsAre("t1", "u1", "u2"));
  end(3, how::done);
  to_.topics_that_wait.clear();
  put_to("t", {"t4"});
  EXPECT_THAT(to_.values(), IsEmpty()) << "it does not overtake t2";
  end(0, how::done);
  EXPECT_THAT(to_.values(), ElementsAre("t2", "t3", "t4"));
  to_.end_all();
  turn();
  EXPECT_TRUE(sender_.idle());
}

TEST_F(topics_that_wait, leave_the_others_the_room_that_there_is) {
  put_to("t", {"never"});
  to_.topics_that_wait = {"t"};
  put_to("t", std::vector<std::string>(5'000, "t"));
  for (int i = 0; i < 20; ++i) {
    put_to("u", std::vector<std::string>(900, "u"));
    while (to_.under_way.size() > 1) to_.end(to_.under_way.back(), how::done);
    turn();
  }
  EXPECT_EQ(to_.sent.size(), 18'001U);
}

TEST_F(topics_that_wait, do_so_for_what_the_one_before_this_sender_sent) {
  put_to("t", {"t1"});
  outbox_sender next{store_, to_, silent_log()};
  to_.topics_that_wait = {"t"};
  ASSERT_TRUE(next.turn(now_));
  to_.topics_that_wait.clear();
  (void)to_.values();
  to_.end(99, how::done);
  ASSERT_TRUE(next.turn(now_));
  EXPECT_THAT(to_.values(), ElementsAre("t1"));
}

TEST_F(refused_beside_others, message_that_fails_leaves_them_their_turn) {
  put_refused({"bad1", "bad2", "p1"});
  pass(outbox_sender::k_stuck_pause);
  EXPECT_THAT(to_.values(), ElementsAre("bad1"));
  put({"p2"});
  end(0, how::again);  // its topic is gone
  EXPECT_THAT(*sender_.trouble(), ::testing::HasSubstr("takes no messages"));
  pass(milliseconds{500});
  EXPECT_THAT(to_.values(), ElementsAre("p2"));
  end(3, how::done);
  pass(milliseconds{500});
  EXPECT_THAT(to_.values(), ElementsAre("bad2"));
  EXPECT_TRUE(sender_.is_away()) << "the first one's topic is";
  end(1, how::done);
  EXPECT_THAT(to_.values(), ElementsAre("bad1"));
  end(0, how::done);
  EXPECT_FALSE(sender_.trouble());
  EXPECT_TRUE(sender_.idle());
}

TEST_F(refused_beside_others, message_under_way_once_more_keeps_nobody_from_stopping) {
  put_refused({"bad", "p1"});
  EXPECT_TRUE(sender_.is_drained());
  pass(outbox_sender::k_stuck_pause);
  EXPECT_THAT(to_.values(), ElementsAre("bad"));
  EXPECT_TRUE(sender_.is_drained());
  put({"p2"});
  EXPECT_FALSE(sender_.is_drained());
}

}  // namespace
}  // namespace ratchet::testing
