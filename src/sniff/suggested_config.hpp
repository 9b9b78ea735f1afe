// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sniff/likely.hpp"

namespace ratchet::sniff {

struct suggestion {
  std::string yaml;                 ///< a whole config, which load_config() accepts; empty: there is none
  std::vector<std::string> advice;  ///< what to look at, and what cannot be read
};

/// A config to start from. `topic` may be empty: then the stream is fed by `ratchet apply`. Pure.
[[nodiscard]] suggestion suggest(const likely&, const std::string& topic,
                                 const std::vector<std::string>& brokers);

}  // namespace ratchet::sniff
