// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kafka/client.hpp"
#include "kafka/queue_signal.hpp"
#include "ports/slot_log.hpp"

namespace ratchet {

class log_deliveries;

/// Appends to one partition with the idempotent producer: the half of slot_log that writes. A client that
/// cannot go on is replaced, and the new one sends again, in order, what was not reported. Records are not
/// copied: they stay here until they are reported, and with a client that was given up until it is gone.
/// Thread-safety: one owner thread.
class log_writer {
 public:
  /// So often at most is a client made, as one may fail at once for as long as somebody refuses it.
  static constexpr std::chrono::milliseconds k_between_clients{250};

  /// `queue_bytes`: has_room() is false above it. `signal` must outlive the writer.
  /// Errors: config_invalid, with librdkafka's own text.
  [[nodiscard]] static reported<std::unique_ptr<log_writer>> make(kafka_properties settings,
                                                                  topic_partition where,
                                                                  std::size_t queue_bytes, kafka_log,
                                                                  queue_signal& signal);
  log_writer(const log_writer&) = delete;
  log_writer& operator=(const log_writer&) = delete;
  /// Gives up what is under way.
  ~log_writer();

  // As in slot_log.
  void append(replicate::append_request);
  [[nodiscard]] bool has_room() const { return queued_bytes_ < queue_bytes_; }
  void give_up();
  [[nodiscard]] std::vector<append_report> reports();
  [[nodiscard]] std::optional<complaint> take_complaint();

  /// How many clients were made.
  [[nodiscard]] unsigned clients() const { return clients_; }

 private:
  struct queued_record {
    replicate::append_ticket ticket;
    std::shared_ptr<const std::string> bytes;
    std::optional<append_report> ended;
  };

  log_writer(kafka_properties settings, topic_partition where, std::size_t queue_bytes, kafka_log log,
             queue_signal& signal)
      : settings_{std::move(settings)},
        where_{std::move(where)},
        queue_bytes_{queue_bytes},
        log_{std::move(log)},
        signal_{signal} {}

  [[nodiscard]] reported<void> open();
  void leave_client();
  void send();
  void take_deliveries();
  void end(queued_record&, std::error_code failed, std::optional<std::int64_t> offset);

  kafka_properties settings_;
  topic_partition where_;
  std::size_t queue_bytes_;
  kafka_log log_;
  queue_signal& signal_;

  std::shared_ptr<log_deliveries> deliveries_;
  std::shared_ptr<kafka_client> client_;  ///< null: the next one is due at next_client_
  kafka_handle<rd_kafka_queue_t> main_queue_;
  unsigned clients_{0};
  std::chrono::steady_clock::time_point next_client_;
  bool knows_no_topic_{false};  ///< the client; it may go on not knowing it for minutes

  std::uint64_t writer_{0};           ///< of the records that are queued
  std::deque<queued_record> queued_;  ///< not reported yet, in order
  std::uint64_t first_serial_{0};     ///< of them
  std::size_t sent_{0};               ///< how many of them the client was given
  bool must_wake_{false};             ///< the next record is the first of a client, or of an attempt
  std::size_t queued_bytes_{0};
};

}  // namespace ratchet
