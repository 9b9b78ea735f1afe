// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What the writer of a slot's log makes of what brokers and librdkafka say of its records.
#include "kafka/log_writer.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "kafka/embedded_broker.hpp"
#include "kafka/settings.hpp"
#include "support/kafka_testing.hpp"

namespace ratchet::testing {
namespace {

constexpr std::int16_t k_produce = 0;
constexpr int k_too_large = 10;
constexpr int k_out_of_order = 45;
constexpr int k_duplicate = 46;

class a_log_writer : public ::testing::Test {
 protected:
  a_log_writer() {
    EXPECT_TRUE(broker_->create_topic("log", 1));
    auto made = log_writer::make(log_writer_settings({{broker_->bootstrap()}, "", {}}, "none"), at("log", 0),
                                 k_room, {}, signal_);
    EXPECT_TRUE(made) << to_text(made.error());
    writer_ = std::move(made).value();
  }
  void append(std::uint64_t step, std::uint64_t by = 7) {
    writer_->append({{by, step, 0}, "w" + std::to_string(by) + "s" + std::to_string(step)});
  }
  /// Until so many have come.
  void hear(std::size_t count) {
    const auto deadline = std::chrono::steady_clock::now() + k_patience;
    while (heard_.size() < count && std::chrono::steady_clock::now() < deadline) {
      for (const append_report& each : writer_->reports()) heard_.push_back(each);
      if (heard_.size() < count) signal_.wait(20ms);
    }
    ASSERT_EQ(heard_.size(), count);
  }
  /// Of all that were heard.
  std::vector<std::uint64_t> steps() const {
    std::vector<std::uint64_t> all;
    for (const append_report& each : heard_) all.push_back(each.ticket.step);
    return all;
  }
  std::vector<std::string> values() const {
    auto reader = open_source(config_of(broker_->bootstrap(), "g"));
    collected seen;
    EXPECT_TRUE(reader->assign(std::vector<position>{{at("log", 0), 0}}));
    EXPECT_TRUE(poll_until(*reader, seen, [&] { return seen.has<notice::end_of_partition>(); }));
    return seen.values(at("log", 0));
  }

  static constexpr std::size_t k_room = std::size_t{1} << 20;
  std::unique_ptr<embedded_broker> broker_ = embedded_broker::start().value();
  queue_signal signal_;
  std::unique_ptr<log_writer> writer_;
  std::vector<append_report> heard_;
};

TEST_F(a_log_writer, goes_on_over_an_outage_with_one_client) {
  append(0);
  hear(1);
  ASSERT_TRUE(broker_->set_down());
  for (std::uint64_t step = 1; step < 5; ++step) append(step);
  EXPECT_TRUE(writer_->reports().empty());
  ASSERT_TRUE(broker_->set_up());
  hear(5);
  EXPECT_EQ(steps(), (std::vector<std::uint64_t>{0, 1, 2, 3, 4}));
  for (const append_report& each : heard_) {
    EXPECT_FALSE(each.failed);
    EXPECT_EQ(each.offset, static_cast<std::int64_t>(each.ticket.step));
  }
  EXPECT_EQ(writer_->clients(), 1U);
}

TEST_F(a_log_writer, does_not_make_up_offsets_where_the_brokers_say_none) {
  // The log is so long that an offset that is counted on from -1 is below every true one.
  constexpr std::uint64_t k_before = 8;
  for (std::uint64_t step = 0; step < k_before; ++step) append(step);
  hear(k_before);
  ASSERT_TRUE(broker_->set_led("log", 0, false));
  for (std::uint64_t step = k_before; step < k_before + 3; ++step) append(step);
  broker_->answer_with(k_produce, k_duplicate, 1);
  ASSERT_TRUE(broker_->set_led("log", 0, true));
  hear(k_before + 3);
  // The client may send the three in one batch or in several: the first batch alone is answered so.
  EXPECT_EQ(heard_[k_before].offset, std::nullopt);
  for (std::size_t i = k_before; i < k_before + 3; ++i) {
    EXPECT_FALSE(heard_[i].failed);
    EXPECT_GE(heard_[i].offset.value_or(k_before), std::int64_t{k_before}) << "of step " << i;
  }
  append(k_before + 3);
  hear(k_before + 4);
  EXPECT_TRUE(heard_[k_before + 3].offset.has_value());
}

TEST_F(a_log_writer, replaces_a_client_that_cannot_go_on_and_sends_again_in_order) {
  append(0);
  hear(1);
  broker_->answer_with(k_produce, k_out_of_order, 1);
  for (std::uint64_t step = 1; step < 6; ++step) append(step);
  hear(6);
  EXPECT_EQ(steps(), (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5}));
  for (const append_report& each : heard_) EXPECT_FALSE(each.failed) << each.failed.message();
  EXPECT_EQ(writer_->clients(), 2U);
  const auto log = values();
  ASSERT_GE(log.size(), 6U);
  // The last occurrences are in order, whatever the first client had brought there.
  EXPECT_EQ((std::vector<std::string>{log.end() - 5, log.end()}),
            (std::vector<std::string>{"w7s1", "w7s2", "w7s3", "w7s4", "w7s5"}));
}

TEST_F(a_log_writer, reports_a_record_that_the_brokers_do_not_take) {
  broker_->answer_with(k_produce, k_too_large, 1);
  append(0);
  hear(1);
  EXPECT_TRUE(heard_[0].failed);
  EXPECT_EQ(heard_[0].offset, std::nullopt);
  append(0, 8);
  hear(2);
  EXPECT_FALSE(heard_[1].failed) << heard_[1].failed.message();
}

TEST_F(a_log_writer, keeps_its_client_for_a_new_writer_where_nothing_is_under_way) {
  append(0);
  hear(1);
  append(0, 8);
  hear(2);
  EXPECT_EQ(writer_->clients(), 1U);
  ASSERT_TRUE(broker_->set_led("log", 0, false));
  append(1, 8);
  append(0, 9);
  ASSERT_TRUE(broker_->set_led("log", 0, true));
  hear(3);
  EXPECT_EQ(heard_[2].ticket.writer, 9U);
  EXPECT_EQ(writer_->clients(), 2U);
  append(2, 9);
  writer_->give_up();
  append(3, 9);
  hear(4);
  EXPECT_EQ(heard_[3].ticket.step, 3U);
}

TEST_F(a_log_writer, says_why_it_does_not_go_on) {
  ASSERT_TRUE(broker_->set_down());
  append(0);
  std::optional<complaint> said;
  const auto deadline = std::chrono::steady_clock::now() + k_patience;
  while (!said && std::chrono::steady_clock::now() < deadline) {
    EXPECT_TRUE(writer_->reports().empty());
    said = writer_->take_complaint();
    signal_.wait(20ms);
  }
  ASSERT_TRUE(said);
  EXPECT_FALSE(said->text.empty());
  EXPECT_FALSE(said->access);
}

}  // namespace
}  // namespace ratchet::testing
