// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ratchet/types.hpp"

namespace ratchet::sniff {

/// One record that is looked at, in memory of its own. Lines of a file that are no records of kcat's have a
/// value alone.
struct sniffed_record {
  topic_partition where;
  std::int64_t offset{0};
  std::optional<timestamp> time;
  std::optional<std::string> key;
  std::vector<std::pair<std::string, std::optional<std::string>>> headers;
  std::optional<std::string> value;
  /// Of one of several events: the record's value without their list, which is an object. Else none.
  std::optional<std::string> around{};
};

}  // namespace ratchet::sniff
