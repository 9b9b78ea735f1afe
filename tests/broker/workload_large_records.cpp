// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Records as large as the brokers let them be.
#include "broker/workload_matrix.hpp"

namespace ratchet::testing {
namespace {

constexpr std::size_t k_mib = std::size_t{1} << 20;

/// A snapshot of so many bytes that no compression makes small.
std::string noise(std::size_t size) {
  std::string text = "\"";
  std::uint64_t state = size;
  while (text.size() < size - 1) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    text += static_cast<char>('0' + (state >> 33U) % 75);  // up to z
    if (text.back() == '\\') text.back() = '/';
  }
  return text + "\"";
}

TEST(large_records, are_handled_up_to_what_a_broker_takes_in_one_request) {
  if (std::getenv("RATCHET_TEST_BROKERS") != nullptr) GTEST_SKIP() << "a broker needs the memory for it";
  local_broker broker{"--heap 1500m"};
  main_job job{broker.bootstrap(), {{"max.message.bytes", "104857600"}}};
  job.write_config(k_plain_order);
  auto producer =
      must(record_producer::make(job.target().brokers, {{"message.max.bytes", "104857600"},
                                                        {"compression.type", "none"},
                                                        {"queue.buffering.max.kbytes", "400000"}}));
  // Brokers take requests of 100 MiB; more than librdkafka's own default for a response.
  const std::vector<std::size_t> sizes{20 * k_mib, 100 * k_mib - 4096};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto name = "a" + std::to_string(i);
    const auto sent =
        producer->send(job.target().topic, partition_id{0}, name, plain_event(name, 1, noise(sizes[i])));
    ASSERT_TRUE(sent) << sent.error().message();
    const auto done = producer->flush(k_patience);
    ASSERT_TRUE(done) << done.error().message();
  }
  const std::vector<std::string> roomy{"--set", "state.snapshot_bytes=128MiB"};
  const auto done = job.run_until_end(roomy);
  EXPECT_EQ(done.code, 0) << done.output.substr(0, 4096);
  EXPECT_EQ(done.json().get<int>("streams.payments.verdicts.applied"), 2);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto got = job.run({"get", "payments", "a" + std::to_string(i)});
    EXPECT_EQ(got.code, 0);
    EXPECT_TRUE(says(got.output, noise(sizes[i])))
        << "of " << sizes[i] << " bytes came " << got.output.size();
  }
  // The last one is compared with the log's once more.
  const auto again = job.run_until_end(roomy);
  EXPECT_EQ(again.code, 0) << again.output;
  EXPECT_EQ(again.json().get<int>("streams.payments.consumed"), 0);
  EXPECT_FALSE(says(again.output, "WARN")) << again.output;
  EXPECT_EQ(job.commit_fault(), "");
}

}  // namespace
}  // namespace ratchet::testing
