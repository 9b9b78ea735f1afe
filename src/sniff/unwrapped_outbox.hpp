// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sniff/sniffed_record.hpp"

namespace ratchet::sniff {

/// Records of an outbox as `format: debezium-outbox` reads them: without what converters put around their
/// keys, headers and values. Pointers of a config lead into these values.
struct unwrapped_outbox {
  std::vector<sniffed_record> records;
  std::size_t wrapped{0};  ///< in how many there was something to take off
};

/// Pure.
[[nodiscard]] unwrapped_outbox unwrap_outbox(std::span<const sniffed_record>);

}  // namespace ratchet::sniff
