// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What becomes of exceptions beside and below the Kafka client, which is written in C.
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>

#include "kafka/callback_edge.hpp"
#include "kafka/client.hpp"

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

}  // namespace
}  // namespace ratchet
