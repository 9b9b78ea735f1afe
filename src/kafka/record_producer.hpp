// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/record.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

/// Sends records with the idempotent producer (acks=all, lz4, a few milliseconds of linger): in order, and
/// once, per partition. Thread-safety: one owner thread.
class record_producer {
 public:
  /// `properties` override the defaults. Errors: config_invalid, with librdkafka's own text.
  [[nodiscard]] static reported<std::unique_ptr<record_producer>> make(
      const std::string& brokers, const std::map<std::string, std::string>& properties = {});
  record_producer(const record_producer&) = delete;
  record_producer& operator=(const record_producer&) = delete;
  /// Does not wait for what was not flushed.
  ~record_producer();

  /// Copies the record into a bounded queue and waits while that is full. No time: now.
  /// Errors: that of an earlier record whose delivery failed, told once; this record is not sent then.
  [[nodiscard]] result<void> send(const std::string& topic, partition_id, std::optional<std::string_view> key,
                                  std::optional<std::string_view> value, std::optional<timestamp> = {},
                                  std::span<const header> headers = {});

  /// Waits until every record was delivered or failed. Errors: source_unavailable at the time-out; that of a
  /// record whose delivery failed, told once.
  [[nodiscard]] result<void> flush(std::chrono::milliseconds timeout);

 private:
  struct implementation;
  explicit record_producer(std::unique_ptr<implementation>);
  std::unique_ptr<implementation> self_;
};

}  // namespace ratchet
