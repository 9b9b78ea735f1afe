// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "ports/publisher.hpp"
#include "ratchet/config.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

struct kafka_publisher_options {
  /// librdkafka's own lines, with syslog's levels. Called on any thread, while the publisher lives.
  std::function<void(int level, std::string_view text)> log;
};

/// Sends to Kafka with the idempotent producer (acks=all, lz4). A key goes to the partition that Java's
/// clients would choose. It goes on trying for as long as the brokers are away. A client that cannot go on is
/// replaced; what it had under way ends with `again`. Closing gives up what is under way.
/// Errors: config_invalid, with librdkafka's own text.
[[nodiscard]] reported<std::unique_ptr<publisher>> make_kafka_publisher(const kafka_config&,
                                                                        kafka_publisher_options = {});

}  // namespace ratchet
