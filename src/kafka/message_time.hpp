// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <librdkafka/rdkafka.h>

#include <chrono>
#include <cstdint>
#include <optional>

#include "ratchet/types.hpp"

/// For src/kafka's own .cpp files: it includes the library's header.
namespace ratchet {

/// When the record was made or appended, as its producer or the brokers say; none: nobody does.
[[nodiscard]] inline std::optional<timestamp> time_of(const rd_kafka_message_t& message) {
  rd_kafka_timestamp_type_t type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
  const std::int64_t time = rd_kafka_message_timestamp(&message, &type);
  if (type == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE || time < 0) return std::nullopt;
  return timestamp{std::chrono::milliseconds{time}};
}

}  // namespace ratchet
