// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ports/source.hpp"
#include "ratchet/config.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

/// "a:9092,b:9092".
[[nodiscard]] std::string names_of_brokers(const kafka_config&);

/// What brokers hold against this client, for a person: who was refused what, and what to type. `topics` are
/// those that it may be about, `topic` the one that it is about; empty: it does not say. The code is
/// access_denied.
[[nodiscard]] problem describe_refusal(access_kind, const std::string& text, const kafka_config&,
                                       std::span<const std::string> topics, const std::string& topic = {});

/// What topics are for.
enum class topic_use : std::uint8_t { read, written };

/// The same of topics alone.
[[nodiscard]] problem describe_refused_topics(topic_use, const std::string& text, const kafka_config&,
                                              std::span<const std::string> topics);

/// Why no broker could be asked within the time that the config gives it; `said` is what the client last
/// complained of. The code is source_unavailable.
[[nodiscard]] problem describe_unreachable(const std::optional<complaint>& said, const kafka_config&);

}  // namespace ratchet
