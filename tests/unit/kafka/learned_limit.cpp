// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "kafka/learned_limit.hpp"

#include <gtest/gtest.h>

#include "kafka/embedded_broker.hpp"
#include "kafka/kafka_publisher.hpp"
#include "support/kafka_testing.hpp"

namespace ratchet::testing {
namespace {

TEST(learned_limit, makes_batches_smaller_once_for_all_that_were_refused_with_one_size) {
  learned_limit limit{1'000'000};
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(limit.refused(300, 1'000'000));
  EXPECT_EQ(limit.batch_bytes(), 250'000U);
  EXPECT_FALSE(limit.refused(300, 250'000));
  EXPECT_EQ(limit.batch_bytes(), 62'500U);
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(limit.refused(100, limit.batch_bytes()));
  EXPECT_EQ(limit.batch_bytes(), learned_limit::k_smallest_batch);
}

TEST(learned_limit, leaves_batches_as_they_are_for_a_message_that_was_alone_in_its_own) {
  learned_limit limit{1'000'000};
  EXPECT_TRUE(limit.refused(2'000'000, 1'000'000));
  EXPECT_TRUE(limit.refused(1'000'000 - learned_limit::k_framing + 1, 1'000'000));
  EXPECT_EQ(limit.batch_bytes(), 1'000'000U);
  EXPECT_FALSE(limit.refused(1'000'000 - learned_limit::k_framing, 1'000'000)) << "it has company";
}

TEST(learned_limit, holds_what_is_as_large_as_one_that_was_refused_until_one_is_taken) {
  learned_limit limit{1'000};
  EXPECT_FALSE(limit.is_hopeless(5'000));
  EXPECT_TRUE(limit.refused(5'000, 1'000));
  EXPECT_TRUE(limit.refused(6'000, 1'000));
  EXPECT_TRUE(limit.is_hopeless(5'000));
  EXPECT_FALSE(limit.is_hopeless(4'999));
  EXPECT_FALSE(limit.taken(4'999, 1'000));
  EXPECT_TRUE(limit.is_hopeless(5'000));
  limit.taken(5'000, 1'000);
  EXPECT_FALSE(limit.is_hopeless(5'000));
}

TEST(learned_limit, tries_one_batch_of_a_new_size_before_others_follow) {
  learned_limit limit{2'000};
  limit.sent(2'000, 0);
  EXPECT_TRUE(limit.has_room(1)) << "nothing was refused yet";
  EXPECT_FALSE(limit.refused(300, 2'000));
  limit.sent(200, 0);
  EXPECT_TRUE(limit.has_room(1));
  limit.sent(310, 1);
  EXPECT_FALSE(limit.has_room(2));
  EXPECT_TRUE(limit.has_room(0)) << "whatever became of them";
  limit.sent(600, 0);
  EXPECT_FALSE(limit.has_room(1));
  EXPECT_FALSE(limit.taken(10, 2'000)) << "of the old size";
  EXPECT_FALSE(limit.has_room(1));
  EXPECT_TRUE(limit.taken(10, 500));
  EXPECT_TRUE(limit.has_room(1));
  EXPECT_FALSE(limit.taken(10, 500)) << "it is told once";
}

struct batches_that_are_refused : ::testing::Test {
  static constexpr std::int16_t k_produce = 0;
  static constexpr int k_too_large = 10;
  batches_that_are_refused() {
    EXPECT_TRUE(broker->create_topic("t", 1));
    kafka_publisher_options options;
    options.on_smaller_batches = [this](const std::string& text) { told += text; };
    to = make_kafka_publisher(config_of(broker->bootstrap(), "g"), options).value();
  }
  /// Sends one of so many bytes after the others, and says what became of it.
  delivery sent(std::size_t bytes) {
    output_row row;
    row.topic = "t";
    row.position = next++;
    row.value = std::string(bytes, 'x');
    const auto deadline = std::chrono::steady_clock::now() + k_patience;
    for (bool is_under_way = false; std::chrono::steady_clock::now() < deadline;) {
      is_under_way = is_under_way || is_taken(to->send(row));
      to->wait(20ms);
      for (delivery& d : to->delivered()) {
        if (d.position == row.position) return d;
      }
    }
    ADD_FAILURE() << "it did not end";
    return {};
  }
  std::unique_ptr<embedded_broker> broker = embedded_broker::start().value();
  std::string told;
  std::unique_ptr<publisher> to;
  std::uint64_t next{1};
};

TEST_F(batches_that_are_refused, get_smaller_until_one_is_taken_and_that_is_told) {
  broker->answer_with(k_produce, k_too_large, 2);
  for (int i = 0; i < 2; ++i) {
    const delivery d = sent(1'000);
    EXPECT_EQ(d.ended, delivery::how::refused);
  }
  EXPECT_EQ(told, "");
  EXPECT_EQ(sent(1'000).ended, delivery::how::done);
  EXPECT_NE(told.find("62500 bytes at most now"), std::string::npos) << told;
  told.clear();
  EXPECT_EQ(sent(1'000).ended, delivery::how::done);
  EXPECT_EQ(told, "");
}

TEST_F(batches_that_are_refused, hold_up_no_other_topic) {
  ASSERT_TRUE(broker->create_topic("u", 1));
  broker->answer_with(k_produce, k_too_large, 1);
  EXPECT_EQ(sent(1'000).ended, delivery::how::refused);
  output_row row;
  row.topic = "t";
  row.value = std::string(300'000, 'x');
  ASSERT_EQ(to->send(row), sending::taken);
  ++row.position;
  EXPECT_EQ(to->send(row), sending::topic_waits) << "whether a batch of the new size is taken";
  row.topic = "u";
  EXPECT_EQ(to->send(row), sending::taken);
}

TEST_F(batches_that_are_refused, for_one_message_alone_are_for_that_and_others_as_large_are_not_asked_about) {
  broker->answer_with(k_produce, k_too_large, 1);
  const delivery d = sent(1'500'000);
  EXPECT_EQ(d.ended, delivery::how::unfit);
  output_row small;
  small.topic = "t";
  small.value = "x";
  small.position = next++;
  output_row large = small;
  large.value = std::string(1'500'000, 'x');
  large.position = next++;
  ASSERT_TRUE(is_taken(to->send(small)));
  EXPECT_EQ(to->send(large), sending::doubtful);
  while (to->delivered().empty()) to->wait(20ms);
  EXPECT_EQ(sent(1'500'000).ended, delivery::how::done) << "alone, they are asked";
  EXPECT_EQ(told, "");
}

}  // namespace
}  // namespace ratchet::testing
