// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "telemetry/slot_status.hpp"

namespace ratchet {

std::string instance_text(std::string_view instance, std::string_view advertise) {
  std::string text = "`" + std::string{instance} + "`";
  if (!advertise.empty()) text += " at " + std::string{advertise};
  return text;
}

}  // namespace ratchet
