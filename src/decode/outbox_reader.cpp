// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/outbox_reader.hpp"

namespace ratchet {

outbox_reader::outbox_reader(const decode_rules& rules) : fields_{rules}, reader_{rules, fields_} {}

void outbox_reader::read(const record& r, decoded_event& event, text_arena& texts) {
  if (!outbox_unwrapper::may_be_wrapped(r)) return reader_.read(r, event, texts);
  reader_.read(unwrapper_.unwrap(r, texts), event, texts);
  event.from = &r;
}

}  // namespace ratchet
