// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <system_error>

/// librdkafka's errors as std::error_code: the category "kafka" keeps the value of rd_kafka_resp_err_t. A
/// code compares equal to each source_condition that it means; classify() (ports/error_class.hpp) says what
/// follows.
namespace ratchet {

[[nodiscard]] const std::error_category& kafka_category() noexcept;

/// `code` is an rd_kafka_resp_err_t; 0 is no error.
[[nodiscard]] std::error_code kafka_error(int code) noexcept;

/// What people are told of it. The client counts the brokers that are down, an address of the config and the
/// broker behind it as two; nobody else does. `reason`: the client's own words.
[[nodiscard]] const char* words_of_error(const std::error_code&, const char* reason) noexcept;

/// The error that the source port promises: topic_missing, source_fatal or source_unavailable where the code
/// means that, otherwise the code itself.
[[nodiscard]] std::error_code to_port_error(const std::error_code&) noexcept;

}  // namespace ratchet
