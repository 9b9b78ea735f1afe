// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "workload/workload_kafka.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "kafka/admin.hpp"
#include "kafka/kafka_source.hpp"
#include "kafka/record_producer.hpp"

namespace ratchet {
namespace {

/// The mock cluster keeps 5 MB of a partition as they were sent; lz4 halves these records at least, and that
/// is kept in reserve for the partitions that get more than others.
constexpr std::uint64_t k_embedded_partition_bytes = 5'000'000;
constexpr std::uint32_t k_fewest_partitions = 8;
constexpr std::chrono::minutes k_flush_limit{2};
constexpr std::chrono::seconds k_look_up_limit{10};

class kafka_sink final : public workload_sink {
 public:
  kafka_sink(std::unique_ptr<record_producer> producer, const kafka_target& target)
      : producer_{std::move(producer)}, topic_{target.topic}, partitions_{target.partitions} {}

  result<void> put(const workload_record& record, std::string_view key, std::string_view value) override {
    const auto partition = partition_id{static_cast<std::int32_t>(workload_partition(key, partitions_))};
    return producer_->send(topic_, partition, key, value, record.time);
  }
  result<void> finish() override { return producer_->flush(k_flush_limit); }

 private:
  std::unique_ptr<record_producer> producer_;
  std::string topic_;
  std::uint32_t partitions_;
};

}  // namespace

std::uint32_t embedded_partitions(const workload_dials& dials) noexcept {
  const auto needed = dials.events * dials.size / k_embedded_partition_bytes;
  return std::max(k_fewest_partitions, static_cast<std::uint32_t>(needed));
}

reported<std::map<std::string, std::string>> parse_properties(const std::vector<std::string>& given) {
  std::map<std::string, std::string> properties;
  for (const auto& text : given) {
    const auto equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return problem{
          errc::usage, "-X " + text + " is not NAME=VALUE", "write -X linger.ms=20, for example", {}};
    }
    properties[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return properties;
}

timestamp start_for_end_now(const workload_dials& dials) {
  const auto seconds = static_cast<double>(dials.events) / dials.rate;
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()) -
         std::chrono::milliseconds{static_cast<std::int64_t>(seconds * 1000.0)};
}

reported<std::unique_ptr<embedded_broker>> start_embedded(kafka_target& target) {
  const auto failed = [](std::error_code code) {
    return problem{code, "cannot start an embedded broker: " + code.message(), {}, {}};
  };
  auto broker = embedded_broker::start();
  if (!broker) return failed(broker.error());
  target.brokers = broker.value()->bootstrap();
  const auto created = broker.value()->create_topic(target.topic, static_cast<int>(target.partitions));
  if (!created) return failed(created.error());
  return std::move(broker).value();
}

reported<void> create_target(const kafka_target& target) {
  const auto created = create_topic(target.brokers, target.topic, static_cast<int>(target.partitions));
  if (!created) {
    return problem{
        created.error(),
        "cannot create topic " + target.topic + " on " + target.brokers + ": " + created.error().message(),
        {},
        {}};
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

reported<void> find_or_create_target(kafka_target& target) {
  RATCHET_TRY(const auto source, make_kafka_source({{target.brokers}, "ratchet-gen", {}}));
  const std::vector<std::string> topics{target.topic};
  const auto found = source->partitions(topics, k_look_up_limit);
  source->close(k_look_up_limit);
  if (found) {
    target.partitions = static_cast<std::uint32_t>(found.value().size());
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }
  if (found.error() == errc::topic_missing) return create_target(target);
  return problem{found.error(), "cannot reach " + target.brokers + ": " + found.error().message(), {}, {}};
}

reported<std::unique_ptr<workload_sink>> make_kafka_sink(const kafka_target& target) {
  RATCHET_TRY(auto producer, record_producer::make(target.brokers, target.properties));
  return std::make_unique<kafka_sink>(std::move(producer), target);
}

}  // namespace ratchet
