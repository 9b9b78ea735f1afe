// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ratchet/config.hpp"

/// What tests of configs begin with.
namespace ratchet::config_support {

/// The reference's example without what this version does not have.
inline constexpr const char* k_example = R"(version: 1
kafka:
  brokers: [localhost:9092]
  group: payments-read-model
  properties: {session.timeout.ms: 45000}
state: {path: /var/lib/ratchet, commit_interval: 100ms, sync: interval}
streams:
  - name: payments
    topics: [payment-status]
    start: earliest
    envelope: {format: json, event_id: /id, aggregate: /payment/id, sequence: /sequence, type: /type, time: /occurred_at}
    order: latest            # latest | strict | arrival
    step: {records: 5000}
    dedup: {ids: uuidv7, window: 24h, max_skew: 5m}
    reducer: {kind: replace, from: /payment}
memory_limit: 1GiB               # indexes, caches, memtables and the prefetch queue together
)";

/// All errors of a config as a person reads them.
inline std::string errors_of(const std::string& text, const config_overrides& overrides = {}) {
  const auto parsed = parse_config(text, "f.yaml", overrides);
  return parsed ? "no error" : to_text(parsed.error());
}

}  // namespace ratchet::config_support
