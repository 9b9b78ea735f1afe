// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "telemetry/slot_status.hpp"

#include "core/shown_text.hpp"

namespace ratchet {

std::string owner_text(const slot_status& s) {
  if (!s.owner) return "not known yet";
  std::string text = "`" + shown_text(s.owner->instance) + "`";
  if (!s.owner->advertise.empty()) text += " at " + shown_text(s.owner->advertise);
  return text;
}

}  // namespace ratchet
