// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace ratchet {

/// What a stream's stored state depends on: a list of (config key, value), in a fixed order. A store refuses
/// a stream whose meaning changed, and lists the lines that differ; a stream of which nothing would be lost
/// starts over instead.
struct stream_meaning {
  std::string name;
  std::vector<std::pair<std::string, std::string>> lines;
  std::vector<std::string> topics{};  ///< that it reads; they may change, but not over to another stream
};

}  // namespace ratchet
