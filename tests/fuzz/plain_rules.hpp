// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decode/decoder.hpp"

namespace ratchet::fuzz {

/// Of a stream in order `latest` whose fields have names of one letter.
inline decode_rules plain_rules() {
  decode_rules rules;
  rules.order = order::latest;
  rules.ids = id_kind::opaque;
  rules.envelope.event_id = "/i";
  rules.envelope.aggregate = "/a";
  rules.envelope.sequence = "/s";
  rules.envelope.type = "/t";
  return rules;
}

}  // namespace ratchet::fuzz
