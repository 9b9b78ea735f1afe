// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ratchet/types.hpp"

namespace ratchet {

struct header {
  std::string_view name;
  std::optional<std::string_view> value;
};

/// One record as its source delivered it. All views are borrowed from the batch that it came in.
struct record {
  const topic_partition* where{
      nullptr};  ///< interned by the source; one address for one partition, while it lives
  std::int64_t offset{0};
  std::optional<timestamp> time;  ///< none where Kafka says -1
  std::optional<std::string_view> key;
  std::optional<std::string_view> value;  ///< none: a tombstone
  std::span<const header> headers;        ///< filled only where an envelope reads headers
  /// Of a record that holds several events, its value is one of them: which, from 0, and whether another one
  /// follows. All of them are of one step.
  std::uint32_t index{0};
  bool more{false};
};

}  // namespace ratchet
