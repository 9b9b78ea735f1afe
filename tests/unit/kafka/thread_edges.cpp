// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What becomes of exceptions beside and below the Kafka client, which is written in C.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "kafka/bounds_asker.hpp"
#include "kafka/callback_edge.hpp"
#include "kafka/client.hpp"
#include "support/no_more_threads.hpp"

namespace ratchet {
namespace {

using namespace std::chrono_literals;

class throwing_callbacks final : public client_callbacks {
 public:
  void on_error(rd_kafka_t*, rd_kafka_resp_err_t, const char*) override {
    ++called;
    throw std::runtime_error{"out of a callback"};
  }
  int called{0};
};

TEST(an_exception_of_a_callback, goes_on_where_it_was_polled_for) {
  auto callbacks = std::make_shared<throwing_callbacks>();
  auto made = kafka_client::make(RD_KAFKA_PRODUCER, {{"bootstrap.servers", "127.0.0.1:1"}}, callbacks);
  ASSERT_TRUE(made) << to_text(made.error());
  EXPECT_NO_THROW(rethrow_kept());
  for (int i = 0; i < 200 && callbacks->called == 0; ++i) rd_kafka_poll(made.value()->get(), 100);
  ASSERT_GT(callbacks->called, 0) << "nobody listens there";
  EXPECT_THROW(rethrow_kept(), std::runtime_error);
  EXPECT_NO_THROW(rethrow_kept()) << "once";
}

TEST(work_with_a_bound, that_throws_has_not_ended_well_and_is_waited_for_no_longer) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(run_bounded([] { throw std::runtime_error{"no"}; }, 30s));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
  EXPECT_TRUE(run_bounded([] {}, 30s));
}

TEST(where_no_more_threads_can_be_had, a_question_has_no_answer_and_can_be_asked_again) {
  const kafka_properties nobody{{"bootstrap.servers", "127.0.0.1:1"}};
  const auto make = [&nobody] {
    return kafka_client::make(RD_KAFKA_PRODUCER, nobody, std::make_shared<client_callbacks>());
  };
  auto made = make();
  ASSERT_TRUE(made) << to_text(made.error());
  const std::shared_ptr<kafka_client> client = std::move(*made);
  const topic_partition where{"t", partition_id{0}};
  bounds_asker asker;
  {
    const testing::no_more_threads none;
    EXPECT_FALSE(run_bounded([] {}, 30s));
    EXPECT_FALSE(make()) << "it has threads of its own";
    asker.ask(client, nullptr, {{where, std::nullopt}});
  }
  EXPECT_TRUE(run_bounded([] {}, 30s));
  asker.ask(client, nullptr, {{where, std::nullopt}});
  std::vector<notice::bounds_told> told;
  for (int i = 0; i < 6'000 && told.empty(); ++i) {
    std::this_thread::sleep_for(10ms);
    told = asker.take();
  }
  ASSERT_EQ(told.size(), 1U) << "the question that had no thread does not count as asked";
  EXPECT_TRUE(told.front().code);
}

}  // namespace
}  // namespace ratchet
