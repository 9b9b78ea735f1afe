// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What the reader of a slot's log makes of large records and of fetches that fail.
#include "kafka/log_reader.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kafka/embedded_broker.hpp"
#include "kafka/settings.hpp"
#include "support/kafka_testing.hpp"

namespace ratchet::testing {
namespace {

constexpr std::int16_t k_fetch = 1;
constexpr int k_corrupt = 2;
constexpr int k_storage_error = 56;

class a_log_reader : public ::testing::Test {
 protected:
  a_log_reader() {
    EXPECT_TRUE(broker_->create_topic("log", 1));
    auto made =
        log_reader::make(log_reader_settings({{broker_->bootstrap()}, "", {}}), at("log", 0), {}, signal_);
    EXPECT_TRUE(made) << to_text(made.error());
    reader_ = std::move(made).value();
  }
  /// The lengths of the records up to `last`, or the error that came.
  std::error_code read(std::int64_t first, std::int64_t last) {
    lengths_.clear();
    const auto deadline = std::chrono::steady_clock::now() + k_patience;
    while (first <= last && std::chrono::steady_clock::now() < deadline) {
      const auto got = reader_->read({first, last});
      if (!got) return got.error();
      for (const slot_record& each : got.value().entries) {
        EXPECT_EQ(each.offset, first);
        lengths_.push_back(each.bytes.size());
        first = each.offset + 1;
      }
      if (got.value().entries.empty()) signal_.wait(20ms);
    }
    EXPECT_GT(first, last) << "not all has come";
    return {};
  }

  std::unique_ptr<embedded_broker> broker_ = embedded_broker::start().value();
  queue_signal signal_;
  std::unique_ptr<log_reader> reader_;
  std::vector<std::size_t> lengths_;
};

TEST_F(a_log_reader, takes_records_of_a_mebibyte) {
  constexpr std::size_t k_mebibyte = std::size_t{1} << 20;
  auto made = record_producer::make(broker_->bootstrap(),
                                    {{"message.max.bytes", "2000000"}, {"compression.type", "none"}});
  ASSERT_TRUE(made) << to_text(made.error());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE((*made)->send("log", partition_id{0}, std::nullopt, std::string(k_mebibyte, 'x')));
  }
  ASSERT_TRUE((*made)->flush(k_patience));
  EXPECT_FALSE(read(0, 2));
  EXPECT_EQ(lengths_, (std::vector<std::size_t>(3, k_mebibyte)));
}

TEST_F(a_log_reader, gives_out_many_small_records_in_several_reads) {
  const auto count = static_cast<int>(log_reader::k_read_records) * 2 + 5;
  produce(broker_->bootstrap(), "log", 0, 0, count);
  EXPECT_FALSE(read(0, count - 1));
  EXPECT_EQ(lengths_.size(), static_cast<std::size_t>(count));
}

TEST_F(a_log_reader, says_that_nothing_can_be_made_of_a_batch_and_tries_again) {
  produce(broker_->bootstrap(), "log", 0, 0, 3);
  broker_->answer_with(k_fetch, k_corrupt, 1);
  const std::error_code failed = read(0, 2);
  EXPECT_TRUE(failed);
  EXPECT_NE(failed, errc::source_unavailable);
  EXPECT_NE(failed, errc::topic_missing);
  EXPECT_FALSE(read(0, 2));
  EXPECT_EQ(lengths_.size(), 3U);
}

TEST_F(a_log_reader, waits_while_fetches_fail_in_passing) {
  produce(broker_->bootstrap(), "log", 0, 0, 3);
  broker_->answer_with(k_fetch, k_storage_error, 3);
  EXPECT_FALSE(read(0, 2));
  EXPECT_EQ(lengths_.size(), 3U);
}

TEST_F(a_log_reader, waits_while_the_brokers_are_down) {
  produce(broker_->bootstrap(), "log", 0, 0, 3);
  EXPECT_FALSE(read(0, 2));
  ASSERT_TRUE(broker_->set_down());
  for (int i = 0; i < 10; ++i) {
    const auto got = reader_->read({3, {}});
    ASSERT_TRUE(got) << got.error().message();
    EXPECT_TRUE(got.value().entries.empty());
    signal_.wait(20ms);
  }
  ASSERT_TRUE(broker_->set_up());
  produce(broker_->bootstrap(), "log", 0, 3, 5);
  EXPECT_FALSE(read(3, 4));
  EXPECT_EQ(lengths_.size(), 2U);
}

}  // namespace
}  // namespace ratchet::testing
