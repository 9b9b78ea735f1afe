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
  /// Which batches a topic does not take, for people. Called on the owner's thread.
  std::function<void(const std::string& text)> on_smaller_batches{};
};

/// Sends to Kafka with the idempotent producer (acks=all, lz4). A key goes to the partition that Java's
/// clients would choose. It goes on trying for as long as the brokers are away. A client that cannot go on is
/// replaced; what it had under way ends with `again`. Closing gives up what is under way. Where a topic takes
/// no batches as large as they are, its batches get smaller; see learned_limit. A message as large as one
/// that was refused for its own size is doubtful. Errors: config_invalid, with librdkafka's own text.
[[nodiscard]] reported<std::unique_ptr<publisher>> make_kafka_publisher(const kafka_config&,
                                                                        kafka_publisher_options = {});

}  // namespace ratchet
