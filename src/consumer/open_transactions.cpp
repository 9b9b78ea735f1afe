// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/open_transactions.hpp"

namespace ratchet {

void open_transactions::note(const topic_partition& where, const log_bounds& found, std::int64_t next_offset,
                             time_point since) {
  const bool is_held_back = found.end < found.high && found.end <= next_offset;
  if (!is_held_back) return leave(where);
  open_transaction& known =
      open_.try_emplace(where, open_transaction{found.end, found.high, since}).first->second;
  if (known.offset != found.end) known = {found.end, found.high, since};
  known.high = found.high;
}

}  // namespace ratchet
