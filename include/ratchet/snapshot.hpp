// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "ratchet/types.hpp"

namespace ratchet {

/// The stored state of an aggregate that is not deleted.
struct snapshot {
  ratchet::sequence sequence;     ///< the last one handled
  std::optional<event_id> id;     ///< of the last event applied
  std::optional<timestamp> time;  ///< of that event
  std::string value;
};

}  // namespace ratchet
