// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <system_error>

/// librdkafka's errors as std::error_code: the category "kafka" keeps the value of rd_kafka_resp_err_t. Those
/// that the owner of a source tells apart compare equal to a source_condition.
namespace ratchet {

[[nodiscard]] const std::error_category& kafka_category() noexcept;

/// `code` is an rd_kafka_resp_err_t; 0 is no error.
[[nodiscard]] std::error_code kafka_error(int code) noexcept;

/// This client cannot go on: destroy it, make a new one and resume from the store.
[[nodiscard]] bool is_fatal(const std::error_code&) noexcept;

/// The brokers are away or busy; the same call may succeed later.
[[nodiscard]] bool is_retriable(const std::error_code&) noexcept;

/// No connection is left. The client goes on trying.
[[nodiscard]] bool is_all_brokers_down(const std::error_code&) noexcept;

/// What people are told of it. The client counts the brokers that are down, an address of the config and the
/// broker behind it as two; nobody else does. `reason`: the client's own words.
[[nodiscard]] const char* words_of_error(const std::error_code&, const char* reason) noexcept;

/// Of a fetch: nothing can be made of what lies there. As a rule that does not pass.
[[nodiscard]] bool is_unreadable(const std::error_code&) noexcept;

/// The topic or partition does not exist.
[[nodiscard]] bool is_missing_topic(const std::error_code&) noexcept;

/// The error that the source port promises: topic_missing, source_fatal or source_unavailable where the code
/// means that, otherwise the code itself.
[[nodiscard]] std::error_code to_port_error(const std::error_code&) noexcept;

}  // namespace ratchet
