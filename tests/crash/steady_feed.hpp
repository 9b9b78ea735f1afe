// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include "broker/workload_main_job.hpp"
#include "kafka/record_producer.hpp"

namespace ratchet::testing {

/// The producer cannot go on. An idempotent one may not, after its broker was killed with a request under
/// way: it cannot tell what was written. Nor can anybody say then what the state should be.
struct feed_gave_up : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Sends a made-up stream without a pause, from a thread of its own, whatever becomes of the broker; the
/// oracle has seen what was sent. Thread-safety: one thread calls it.
class steady_feed {
 public:
  steady_feed(const kafka_target& target, workload_dials dials)
      : target_{target}, stream_{must(workload_stream::make(dials))}, oracle_{stream_} {
    start();
  }
  ~steady_feed() { halt(); }
  steady_feed(const steady_feed&) = delete;
  steady_feed& operator=(const steady_feed&) = delete;

  void start() {
    if (!producer_) producer_ = must(record_producer::make(target_.brokers, {}));
    stop_ = false;
    thread_ = std::thread{[this] {
      try {
        send();
      } catch (const std::exception& e) {
        why_ = e.what();
        gave_up_ = true;
      }
    }};
  }
  /// To be called now and then. Throws feed_gave_up where nothing is sent any more.
  void must_send() {
    if (!gave_up_) return;
    halt();
    throw feed_gave_up{why_};
  }
  /// Stops, and waits until the broker has everything.
  void stop() {
    halt();
    must_send();
    if (const auto done = producer_->flush(k_flush_limit); !done) throw feed_gave_up{done.error().message()};
  }
  /// While it stands: from now on into so many partitions.
  void use_partitions(std::uint32_t partitions) {
    target_.partitions = partitions;
    producer_.reset();  // a new client asks for the topic anew
  }
  /// While it stands.
  [[nodiscard]] const workload_oracle& oracle() const { return oracle_; }
  [[nodiscard]] std::uint32_t partitions() const { return target_.partitions; }

 private:
  static constexpr std::chrono::milliseconds k_pause{5};
  static constexpr int k_burst = 8;  // 1,600 records a second at most
  static constexpr std::chrono::minutes k_flush_limit{1};

  void halt() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  void send() {
    workload_record record;
    while (!stop_) {
      for (int i = 0; i < k_burst && stream_.next(record); ++i) put(record);
      std::this_thread::sleep_for(k_pause);
    }
  }
  void put(const workload_record& record) {
    value_.clear();
    stream_.render(record.event, value_);
    oracle_.observe(record);
    const std::string key = workload_stream::key(record.event);
    const auto partition = static_cast<std::int32_t>(workload_partition(key, target_.partitions));
    const auto sent = producer_->send(target_.topic, partition_id{partition}, key, value_, record.time);
    if (!sent) throw std::system_error{sent.error()};
  }

  kafka_target target_;
  workload_stream stream_;
  workload_oracle oracle_;
  std::unique_ptr<record_producer> producer_;
  std::string value_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> gave_up_{false};
  std::string why_;  // of the thread, before gave_up_
  std::thread thread_;
};

}  // namespace ratchet::testing
