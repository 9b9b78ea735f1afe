// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ratchet {

/// Why a librdkafka property may not be set by a user of Ratchet (with this value); none where it may.
/// Ratchet owns what its guarantees rest on. Whether a property exists at all is for librdkafka to say.
[[nodiscard]] std::optional<std::string> refused_property(std::string_view name, std::string_view value);

}  // namespace ratchet
