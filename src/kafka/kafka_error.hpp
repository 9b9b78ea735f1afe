// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <system_error>

#include "ports/source.hpp"

/// librdkafka's errors as std::error_code: the category "kafka" keeps the value of rd_kafka_resp_err_t.
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

/// The group no longer knows this member (or never did): what it tried to commit was refused. A commit is the
/// gate that tells a zombie; a revoke follows.
[[nodiscard]] bool is_not_a_member(const std::error_code&) noexcept;

/// Of a fetch: nothing can be made of what lies there. As a rule that does not pass.
[[nodiscard]] bool is_unreadable(const std::error_code&) noexcept;

/// The topic or partition does not exist.
[[nodiscard]] bool is_missing_topic(const std::error_code&) noexcept;

/// What the brokers hold against this client; none where the code says nothing of the kind.
[[nodiscard]] std::optional<access_kind> access_kind_of(const std::error_code&) noexcept;

/// The error that the source port promises: topic_missing, source_fatal or source_unavailable where the code
/// means that, otherwise the code itself.
[[nodiscard]] std::error_code to_port_error(const std::error_code&) noexcept;

}  // namespace ratchet
