// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// The spellings of values in a config: names, addresses, sources of fields. Pure.
namespace ratchet {

/// Kafka's rule for topics, which streams share: 1 to 249 of [a-zA-Z0-9._-], but neither "." nor "..".
[[nodiscard]] bool is_topic_name(std::string_view) noexcept;

/// host or host:port, with or without a protocol before it; what librdkafka takes in bootstrap.servers.
[[nodiscard]] bool is_broker_address(std::string_view) noexcept;

struct listen_address {
  std::string host;
  std::uint16_t port{0};
};

/// HOST:PORT, the host a numeric IPv4 address, a numeric IPv6 address in brackets, or localhost, which is
/// 127.0.0.1.
[[nodiscard]] std::optional<listen_address> parse_listen_address(std::string_view);
/// True for an address that only this machine can reach.
[[nodiscard]] bool is_loopback(const std::string& host) noexcept;

/// What is wrong with a JSON Pointer (RFC 6901) that is not empty; nullptr where nothing is.
[[nodiscard]] const char* fault_of_pointer(std::string_view) noexcept;

/// What is wrong with `/pointer`, `key` or `header:NAME`; nullptr where nothing is.
[[nodiscard]] const char* fault_of_field_source(std::string_view) noexcept;

/// The known word that `word` is most likely a misspelling of; empty where none is near.
[[nodiscard]] std::string_view did_you_mean(std::string_view word, std::span<const std::string_view> known);

}  // namespace ratchet
