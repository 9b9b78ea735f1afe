// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "ports/slot_log.hpp"
#include "ratchet/config.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

struct kafka_slot_log_options {
  std::string compression{"lz4"};  ///< none, lz4 or zstd
  /// slot_log::has_room() is false while more than this waits for its report.
  std::size_t queue_bytes{std::size_t{64} << 20};
  /// librdkafka's own lines, with syslog's levels. Called on any thread, while the log lives.
  std::function<void(int level, std::string_view text)> log;
};

/// A slot's log in a partition of a Kafka topic: an idempotent producer (acks=all) and a reader of that
/// partition alone, which are made at once and connect in the background. The group of the config is not
/// joined. The topic is not made.
/// Errors: config_invalid, with librdkafka's own text.
[[nodiscard]] reported<std::unique_ptr<slot_log>> make_kafka_slot_log(const kafka_config&,
                                                                      const topic_partition&,
                                                                      const kafka_slot_log_options& = {});

}  // namespace ratchet
