// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "text/sequence_text.hpp"

namespace ratchet {

json_writer& write_sequence(json_writer& json, const sequence_spelling& spelling, sequence s) {
  if (spelling.is_pair(s)) return json.sequence(s);
  return spelling.is_number(s) ? json.raw(spelling.text(s)) : json.string(spelling.text(s));
}

std::string sequence_word(const sequence_spelling& spelling, sequence s) {
  return spelling.is_pair(s) ? std::to_string(s.epoch) + ":" + std::to_string(s.number) : spelling.text(s);
}

}  // namespace ratchet
