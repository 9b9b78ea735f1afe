// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "outbox/outbox_sender.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_publisher.hpp"
#include "testing/memory_store.hpp"

namespace ratchet::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using how = delivery::how;

class outbox_sender_test : public ::testing::Test {
 protected:
  void put(const std::vector<std::string>& values, output_kind kind = output_kind::rejection) {
    step_batch batch;
    batch.step = store_.last_step() + 1;
    for (const std::string& value : values) {
      output_row& row = batch.outbox.puts.emplace_back();
      row.position = store_.outbox().next + batch.outbox.puts.size() - 1;
      row.kind = kind;
      row.topic = "t";
      row.value = value;
    }
    ASSERT_TRUE(store_.write(batch));
    if (sender_) sender_->wrote(batch.step, store_.outbox().next);
  }
  void put_published(const std::vector<std::pair<std::string, std::string>>& of_aggregates) {
    step_batch batch;
    batch.step = store_.last_step() + 1;
    for (const auto& [aggregate, value] : of_aggregates) {
      output_row& row = batch.outbox.puts.emplace_back();
      row.position = store_.outbox().next + batch.outbox.puts.size() - 1;
      row.kind = output_kind::published;
      row.id = {0x7000, std::uint64_t{1} << 63U};
      row.topic = "t";
      row.aggregate = aggregate;
      row.value = value;
      row.type = "paid";
      row.source = "/ratchet/g/s";
      row.sequence = {1, 7};
    }
    ASSERT_TRUE(store_.write(batch));
    if (sender_) sender_->wrote(batch.step, store_.outbox().next);
  }
  void offer(std::uint64_t position, const std::vector<std::string>& values) {
    std::vector<output_row> rows;
    for (const std::string& value : values) {
      output_row& row = rows.emplace_back();
      row.position = position++;
      row.kind = output_kind::rejection;
      row.topic = "t";
      row.value = value;
    }
    sender().offer(std::move(rows));
  }
  outbox_sender& sender() {
    if (!sender_) sender_.emplace(store_, to_, silent_log());
    return *sender_;
  }
  void turn() { ASSERT_TRUE(sender().turn(now_)); }
  /// Of p1 a message that is refused, also alone; and one of p2, which is not.
  void refuse_first_of_p1() {
    put_published({{"p1", "large"}, {"p2", "b"}});
    ASSERT_TRUE(store_.sync());
    turn();
    to_.end(0, how::refused, "too large");
    to_.end(1, how::done);
    turn();
    EXPECT_THAT(to_.values(), ElementsAre("large", "b", "large")) << "once more, alone";
    EXPECT_THAT(sender().refused(now_, 10), IsEmpty()) << "it may be for what went with it";
    to_.end(0, how::refused, "too large");
  }
  void trim() {
    step_batch batch;
    batch.step = store_.last_step() + 1;
    batch.outbox = sender().trim();
    ASSERT_TRUE(store_.write(batch));
    sender().trimmed();
  }

  memory_store store_{{"s"}};
  fake_publisher to_;
  outbox_sender::time_point now_{std::chrono::hours{1}};
  std::optional<outbox_sender> sender_;
};

TEST_F(outbox_sender_test, sends_in_order_and_only_what_is_durable) {
  (void)sender();
  put({"a", "b"});
  turn();
  EXPECT_THAT(to_.values(), IsEmpty()) << "a power cut could take it back";
  EXPECT_TRUE(sender().waits_for_sync());
  ASSERT_TRUE(store_.sync());
  put({"c"});
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("a", "b"));
  ASSERT_TRUE(store_.sync());
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("c"));
  EXPECT_FALSE(sender().waits_for_sync());
  EXPECT_FALSE(sender().idle());
  to_.end_all();
  turn();
  EXPECT_TRUE(sender().idle());
  EXPECT_EQ(sender().sent(), 3U);
}

TEST_F(outbox_sender_test, sends_what_it_was_offered_without_reading_it_again) {
  (void)sender();
  put({"a", "b"});
  offer(0, {"a, offered", "b, offered"});
  turn();
  EXPECT_THAT(to_.values(), IsEmpty()) << "a power cut could take it back";
  ASSERT_TRUE(store_.sync());
  put({"c"});
  offer(2, {"c, offered"});
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("a, offered", "b, offered")) << "c is not durable";
  ASSERT_TRUE(store_.sync());
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("c, offered"));
}

TEST_F(outbox_sender_test, reads_what_it_was_not_offered) {
  (void)sender();
  put({"a", "b", "c", "d", "e", "f"});
  offer(1, {"b, offered"});
  offer(3, {"d, behind a gap"});
  ASSERT_TRUE(store_.sync());
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("a", "b, offered", "c", "d", "e", "f"));
  offer(2, {"c, sent before"});
  put({"g"});
  offer(6, {"g, offered"});
  ASSERT_TRUE(store_.sync());
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("g, offered"));
}

TEST_F(outbox_sender_test, keeps_of_what_it_is_offered_what_it_has_room_for) {
  (void)sender();
  const std::string large(std::size_t{10} << 20U, 'x');
  put({large, large, "c"});
  EXPECT_FALSE(sender().is_behind());
  offer(0, {large});
  EXPECT_TRUE(sender().is_behind());
  offer(1, {large, large});
  ASSERT_TRUE(store_.sync());
  turn();
  EXPECT_THAT(to_.values(), ElementsAre(large, large, "c")) << "the third was read";
  EXPECT_FALSE(sender().is_behind());
}

TEST_F(outbox_sender_test, trims_the_lowest_rows_that_were_delivered) {
  put({"a", "b", "c"});
  const std::uint64_t bytes = store_.outbox().bytes;
  ASSERT_TRUE(store_.sync());
  turn();
  EXPECT_TRUE(sender().trim().empty());
  to_.end(1, how::done);
  turn();
  EXPECT_EQ(sender().trim().trimmed_rows, 0U) << "the first is not delivered";
  EXPECT_THAT(sender().trim().trimmed_behind, ElementsAre(output_range{1, 2})) << "and stays";
  to_.end(0, how::done);
  turn();
  EXPECT_EQ(sender().trim().trimmed_rows, 2U);
  trim();
  EXPECT_EQ(store_.outbox(), (outbox_state{2, 3, bytes / 3}));
  to_.end(2, how::done);
  turn();
  trim();
  EXPECT_EQ(store_.outbox(), (outbox_state{3, 3, 0}));
  EXPECT_TRUE(sender().trim().empty());
}

TEST_F(outbox_sender_test, sends_again_what_another_one_has_sent_and_not_trimmed) {
  put({"a", "b"});
  ASSERT_TRUE(store_.sync());
  turn();
  to_.end(0, how::done);
  turn();
  trim();
  ASSERT_TRUE(store_.sync());
  (void)to_.values();
  sender_.emplace(store_, to_, silent_log());
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("b"));
}

TEST_F(outbox_sender_test, goes_on_in_order_where_there_was_no_room) {
  to_.room = 2;
  put({"a", "b", "c", "d"});
  ASSERT_TRUE(store_.sync());
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("a", "b"));
  to_.end(1, how::done);
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("c"));
  to_.end_all();
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("d"));
}

TEST_F(outbox_sender_test, sends_what_failed_again_in_order_behind_a_growing_pause) {
  put({"a", "b", "c"});
  ASSERT_TRUE(store_.sync());
  turn();
  (void)to_.values();
  to_.end(1, how::again, "no leader");
  put({"d"});
  ASSERT_TRUE(store_.sync());
  turn();
  EXPECT_THAT(*sender().trouble(), ::testing::HasSubstr("no leader"));
  now_ += milliseconds{499};
  to_.end(0, how::done);
  to_.end(2, how::again, "no leader");
  turn();
  EXPECT_THAT(to_.values(), IsEmpty());
  now_ += milliseconds{1};
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("b", "c", "d")) << "and only then what is new";
  to_.end_all(how::again);
  turn();
  now_ += milliseconds{500};
  turn();
  EXPECT_THAT(to_.values(), IsEmpty()) << "twice as long";
  now_ += milliseconds{500};
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("b", "c", "d"));
  to_.end_all();
  turn();
  EXPECT_FALSE(sender().trouble());
  EXPECT_TRUE(sender().idle());
}

TEST_F(outbox_sender_test, sends_nothing_again_while_what_was_sent_with_it_is_under_way) {
  put({"a", "b"});
  ASSERT_TRUE(store_.sync());
  turn();
  (void)to_.values();
  to_.end(0, how::again, "no leader");
  turn();
  now_ += milliseconds{60'000};
  turn();
  EXPECT_THAT(to_.values(), IsEmpty()) << "b would come before it, and again behind it";
  to_.end(1, how::again, "no leader");
  turn();
  now_ += milliseconds{60'000};
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("a", "b"));
}

TEST_F(outbox_sender_test, sends_nothing_new_while_what_failed_has_company_under_way) {
  put({"a", "b"});
  ASSERT_TRUE(store_.sync());
  turn();
  (void)to_.values();
  to_.end(0, how::refused, "too large");
  put({"c"});
  ASSERT_TRUE(store_.sync());
  turn();
  EXPECT_THAT(to_.values(), IsEmpty()) << "b may have been in one batch with it";
  to_.end(1, how::done);
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("a")) << "alone";
  turn();
  EXPECT_THAT(to_.values(), IsEmpty());
  to_.end(0, how::done);
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("c"));
}

TEST_F(outbox_sender_test, leaves_out_the_value_of_a_dead_letter_that_is_refused_alone) {
  put({"large", "b"}, output_kind::dead_letter);
  ASSERT_TRUE(store_.sync());
  turn();
  to_.end_all(how::refused);
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("large", "b", "large"));
  to_.end_all(how::refused);
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("none"));
  EXPECT_THAT(to_.sent.back().headers.back(), ::testing::Pair("ratchet-value-left-out", "5 bytes"));
  to_.end_all();
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("b"));
  to_.end_all();
  turn();
  EXPECT_THAT(sender().take_given_up(), IsEmpty());
  EXPECT_TRUE(sender().idle());
}

TEST_F(outbox_sender_test,
       holds_what_an_aggregate_published_behind_a_message_that_is_refused_and_nothing_else) {
  refuse_first_of_p1();
  put_published({{"p1", "behind"}, {"p2", "c"}});
  put({"an answer"});
  ASSERT_TRUE(store_.sync());
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("c", "an answer"));
  EXPECT_THAT(*sender().trouble(), ::testing::HasSubstr("does not take a message of `p1`: too large"));
  to_.end_all();
  turn();
  EXPECT_THAT(sender().take_given_up(), IsEmpty());
  EXPECT_EQ(sender().trim().trimmed_rows, 0U);
  now_ += milliseconds{9'999};
  turn();
  EXPECT_THAT(to_.values(), IsEmpty());
  now_ += milliseconds{1};
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("large"));
  to_.end_all();  // the topic takes more now
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("behind"));
  to_.end_all();
  turn();
  EXPECT_FALSE(sender().trouble());
  EXPECT_TRUE(sender().idle());
  EXPECT_EQ(sender().trim().trimmed_rows, 5U);
}

class refused_by_its_topic : public outbox_sender_test {
 protected:
  /// Behind the message of p1 that is refused waits another one.
  void refuse_first() {
    refuse_first_of_p1();
    put_published({{"p1", "behind"}});
    ASSERT_TRUE(store_.sync());
    turn();
    (void)to_.values();
  }
  void skip_first() {
    const auto skipped = sender().skip(0);
    ASSERT_TRUE(skipped);
    step_batch batch;
    batch.step = store_.last_step() + 1;
    batch.outbox.skipped = *skipped;
    ASSERT_TRUE(store_.write(batch));
    ASSERT_TRUE(store_.sync());
    sender().wrote(batch.step, store_.outbox().next);
    sender().skipped(*skipped);
  }
};

TEST_F(refused_by_its_topic, is_told_with_its_reason_and_its_next_try) {
  refuse_first();
  now_ += milliseconds{4'000};
  const auto refused = sender().refused(now_, 10);
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(refused[0].row.aggregate, "p1");
  EXPECT_EQ(refused[0].row.position, 0U);
  EXPECT_EQ(refused[0].attempts, 1U);
  EXPECT_EQ(refused[0].next_try, milliseconds{6'000});
  EXPECT_EQ(refused[0].why, "too large");
  EXPECT_FALSE(sender().retry(1));
  EXPECT_FALSE(sender().skip(1)) << "that one was not refused";
}

TEST_F(refused_by_its_topic, is_sent_at_once_where_an_operator_says_so) {
  refuse_first();
  EXPECT_TRUE(sender().retry(0));
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("large"));
  EXPECT_FALSE(sender().skip(0)) << "it is under way";
  to_.end_all();
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("behind"));
  EXPECT_THAT(sender().refused(now_, 10), IsEmpty());
}

TEST_F(refused_by_its_topic, is_not_skipped_while_it_is_sent_behind_a_failure_either) {
  refuse_first();
  EXPECT_TRUE(sender().retry(0));
  turn();
  to_.end_all(how::again);  // the client went, and with it what was said of the message
  turn();
  now_ += milliseconds{60'000};
  (void)to_.values();
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("large")) << "alone, as it was refused before";
  EXPECT_FALSE(sender().skip(0)) << "it is under way";
  to_.end_all();
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("behind"));
  to_.end_all();
  turn();
  EXPECT_TRUE(sender().idle());
  EXPECT_THAT(sender().refused(now_, 10), IsEmpty());
}

TEST_F(refused_by_its_topic, is_refused_once_more_and_waits_again) {
  refuse_first();
  EXPECT_TRUE(sender().retry(0));
  turn();
  (void)to_.values();
  to_.end_all(how::refused);
  turn();
  turn();
  EXPECT_THAT(to_.values(), IsEmpty()) << "what is behind it waits";
  EXPECT_EQ(sender().refused(now_, 10).at(0).attempts, 2U);
}

TEST_F(refused_by_its_topic, is_passed_over_for_good_where_an_operator_skips_it) {
  refuse_first();
  skip_first();
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("behind"));
  EXPECT_FALSE(sender().trouble());
  to_.end_all();
  turn();
  EXPECT_TRUE(sender().idle());
  trim();
  EXPECT_EQ(store_.outbox().rows(), 0U);
  EXPECT_EQ(store_.outbox().bytes, 0U) << "what took its place is smaller";
}

TEST_F(refused_by_its_topic, and_skipped_is_not_sent_by_the_next_process_either) {
  refuse_first();
  skip_first();
  sender_.reset();
  turn();
  EXPECT_THAT(to_.values(), ElementsAre("b", "behind"));
  to_.end_all();
  turn();
  EXPECT_TRUE(sender().idle());
  trim();
  EXPECT_EQ(store_.outbox().rows(), 0U);
}

TEST_F(outbox_sender_test, sends_what_was_published_as_a_cloudevent) {
  put_published({{"p1", "a"}});
  ASSERT_TRUE(store_.sync());
  turn();
  using ::testing::Pair;
  EXPECT_THAT(
      to_.sent.back().headers,
      ElementsAre(Pair("ce_specversion", "1.0"), Pair("ce_id", "00000000-0000-7000-8000-000000000000"),
                  Pair("ce_source", "/ratchet/g/s"), Pair("ce_type", "paid"), Pair("ce_subject", "p1"),
                  Pair("ce_sequence", "18446744073709551623"), Pair("content-type", "application/json")));
  EXPECT_EQ(store_.outbox().bytes, store_.outputs({}, 0, 1, 1, 1000).value().front().bytes());
}

TEST_F(outbox_sender_test, gives_up_what_is_refused_even_so) {
  put({"a", "b"});
  const std::uint64_t bytes = store_.outbox().bytes;
  ASSERT_TRUE(store_.sync());
  turn();
  to_.end(0, how::refused, "too large");
  to_.end(1, how::done);
  turn();
  to_.end(0, how::refused, "too large");
  turn();
  const auto given_up = sender().take_given_up();
  ASSERT_EQ(given_up.size(), 1U);
  EXPECT_EQ(given_up[0].row.value, "a");
  EXPECT_EQ(given_up[0].why, "too large");
  EXPECT_TRUE(sender().idle());
  EXPECT_EQ(sender().trim().trimmed_rows, 2U);
  EXPECT_EQ(sender().trim().trimmed_bytes, bytes);
}

TEST_F(outbox_sender_test, takes_a_long_outbox_page_by_page) {
  constexpr std::size_t k_rows = 2'500;
  to_.room = k_rows;
  put(std::vector<std::string>(k_rows, "v"));
  ASSERT_TRUE(store_.sync());
  turn();
  EXPECT_EQ(to_.values().size(), k_rows);
  to_.end_all();
  turn();
  EXPECT_TRUE(sender().idle());
  EXPECT_EQ(sender().trim().trimmed_bytes, store_.outbox().bytes);
}

}  // namespace
}  // namespace ratchet::testing
