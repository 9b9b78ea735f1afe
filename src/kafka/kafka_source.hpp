// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include "ports/source.hpp"
#include "ratchet/config.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

struct kafka_source_options {
  /// For records that were fetched and not yet given out. librdkafka counts their keys and values, and may
  /// overshoot by one fetch per broker; what it keeps beside each record (taken as 350 bytes) comes on top.
  std::size_t memory_bytes{std::size_t{256} << 20};
  bool wants_headers{false};
  /// librdkafka's own lines, with syslog's levels (3 error, 4 warning, 6 info). Called on any thread, until
  /// close() returns.
  std::function<void(int level, std::string_view text)> log;
};

/// A source over a consumer group of dynamic members (eager protocol, `range` unless the properties say
/// roundrobin). Makes the client; connects in the background, joins at join().
///
/// What is beyond the port's contract:
/// - Records that librdkafka has fetched but not given out when a rebalance begins are dropped by it, and are
///   read again by the next owner; what poll() has collected by then is returned before the notice.
/// - A commit may still land after commit_and_wait() has timed out.
/// - Batches share ownership of the client: the last of them frees it, and may then wait some seconds.
/// - After notice::fatal every call fails with source_fatal or librdkafka's own error: close it, make a new
/// one.
///
/// Errors: config_invalid, with a diagnostic for every property that may not be set, or librdkafka's own
/// text.
[[nodiscard]] reported<std::unique_ptr<source>> make_kafka_source(const kafka_config&,
                                                                  const kafka_source_options& = {});

}  // namespace ratchet
