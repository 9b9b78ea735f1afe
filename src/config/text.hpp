// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ratchet/config.hpp"

namespace ratchet {

/// A commented config with every key of this version, as `ratchet init` prints it. It is valid as it stands.
[[nodiscard]] std::string_view config_template() noexcept;

/// What a stream does, in one line.
[[nodiscard]] std::string describe(const stream_config&);

/// What a stream's choices cannot do, a sentence each.
[[nodiscard]] std::vector<std::string> limits_of(const stream_config&);

/// HOST:PORT, or [HOST]:PORT for IPv6.
[[nodiscard]] std::string to_text(const http_config&);

}  // namespace ratchet
