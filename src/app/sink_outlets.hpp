// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/output.hpp"
#include "outbox/sink_sender.hpp"
#include "ports/publisher.hpp"
#include "ports/store.hpp"
#include "ratchet/config.hpp"
#include "ratchet/error.hpp"
#include "ratchet/sinks.hpp"
#include "streams/stream_definition.hpp"

namespace ratchet {

/// Whether config and program name the same callbacks. Errors: config_invalid.
[[nodiscard]] std::optional<problem> check_sinks(const config&, const sinks& own);

/// Whether every message that waits has a sink to go to. Errors: sink_missing.
[[nodiscard]] std::optional<problem> check_lanes(const config&, const outbox_lanes&);

/// Throws away what waits for sinks that the config says to discard, in a durable step of its own for each,
/// with an audit row. Errors: of store::write() and sync().
[[nodiscard]] std::optional<problem> discard_lanes(const config&, store&, timestamp now, const log_ptr&);

/// What takes messages to the config's sinks, while it lives.
struct open_sinks {
  std::vector<std::unique_ptr<publisher>> publishers;
  std::vector<sink_outlet> outlets;  ///< borrow the publishers
};
/// Errors: config_invalid; io, where certificates cannot be read.
[[nodiscard]] reported<open_sinks> open_all_sinks(const config&, const sinks& own);

}  // namespace ratchet
