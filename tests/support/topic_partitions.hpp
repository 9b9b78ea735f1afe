// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ratchet/types.hpp"

namespace ratchet::testing {

inline topic_partition at(const std::string& topic, int partition) {
  return {topic, partition_id{partition}};
}

inline const topic_partition k_p0 = at("t", 0);
inline const topic_partition k_p1 = at("t", 1);

}  // namespace ratchet::testing
