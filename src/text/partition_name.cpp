// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "text/partition_name.hpp"

namespace ratchet {

std::string to_string(const topic_partition& where) {
  return where.topic + "/" + std::to_string(static_cast<std::int32_t>(where.partition));
}

std::string to_string(const topic_partition& where, event_place place) {
  return to_string(where) + "@" + to_text(place);
}

}  // namespace ratchet
