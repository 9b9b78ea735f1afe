// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "broker/workload_main_job.hpp"
#include "kafka/record_producer.hpp"

namespace ratchet::testing {

/// Sends records into a job's topic. Errors are exceptions: a test has none to handle.
class topic_feed {
 public:
  explicit topic_feed(const main_job& job, const std::map<std::string, std::string>& properties = {})
      : topic_{job.target().topic},
        producer_{must(record_producer::make(job.target().brokers, properties))} {}

  void send(int partition, std::optional<std::string_view> key, std::optional<std::string_view> value,
            std::span<const header> headers = {}, std::optional<timestamp> time = {}) {
    const auto sent = producer_->send(topic_, partition_id{partition}, key, value, time, headers);
    if (!sent) throw std::system_error{sent.error()};
  }
  /// Waits until all of it is in the log.
  void flush() {
    if (const auto done = producer_->flush(k_patience); !done) throw std::system_error{done.error()};
  }

 private:
  std::string topic_;
  std::unique_ptr<record_producer> producer_;
};

}  // namespace ratchet::testing
