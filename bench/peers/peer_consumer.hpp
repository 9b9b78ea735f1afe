// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <librdkafka/rdkafka.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace peers {

struct message_deleter {
  void operator()(rd_kafka_message_t* m) const noexcept { rd_kafka_message_destroy(m); }
};
using message = std::unique_ptr<rd_kafka_message_t, message_deleter>;

/// A consumer of librdkafka with automatic commits off; set up to fetch as far ahead as the raw run of
/// `ratchet bench` does. What fails ends the program with a message: nobody has to recover here.
/// Thread-safety: one thread.
class consumer {
 public:
  consumer(const std::string& brokers, std::string topic, const std::string& group);
  ~consumer();
  consumer(const consumer&) = delete;
  consumer& operator=(const consumer&) = delete;

  void subscribe();
  /// Reads these partitions from these offsets, without the group.
  void assign(const std::vector<std::pair<std::int32_t, std::int64_t>>& from);
  [[nodiscard]] std::int32_t partitions() const;

  /// Up to so many messages, as soon as there is one; without errors among them.
  [[nodiscard]] std::vector<message> poll(std::size_t most, std::chrono::milliseconds wait);
  /// Commits what was polled so far.
  void commit();

 private:
  std::string topic_;
  rd_kafka_t* handle_;
  rd_kafka_queue_t* queue_;
  std::vector<std::int64_t> next_;  ///< by partition; -1: nothing was polled
};

/// Ends the program with this message.
[[noreturn]] void die(const std::string& what);

}  // namespace peers
