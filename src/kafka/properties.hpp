// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ratchet {

/// Why a librdkafka property may not be set by a user of Ratchet (with this value); none where it may.
/// Ratchet owns what its guarantees rest on. Whether a property exists at all is for librdkafka to say.
[[nodiscard]] std::optional<std::string> refused_property(std::string_view name, std::string_view value);

/// True for a property whose value must never be shown: passwords, private keys, client secrets. By its name,
/// so that one which a newer librdkafka brings is one too.
[[nodiscard]] bool is_secret_property(std::string_view name) noexcept;

/// What librdkafka says of one property by itself. How properties go together it says of the whole, when a
/// client is made.
enum class property_verdict : std::uint8_t {
  fine,
  unknown,      ///< there is no property of that name
  bad_value,    ///< it does not take this value
  no_consumer,  ///< it is a producer's, and does nothing in Ratchet
};
struct property_check {
  property_verdict verdict{property_verdict::fine};
  std::string why;  ///< of a bad value; never holds the value of a secret property
};
[[nodiscard]] property_check check_property(const std::string& name, const std::string& value);

/// True for a property that librdkafka's producers do not know.
[[nodiscard]] bool is_consumer_only(const std::string& name);

/// The names that a user may set, in librdkafka's order; alive for ever.
[[nodiscard]] const std::vector<std::string_view>& settable_properties();

}  // namespace ratchet
