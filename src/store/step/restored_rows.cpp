// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/step/restored_rows.hpp"

#include <array>
#include <string>

#include "store/layout/layout.hpp"
#include "store/layout/slot_row.hpp"

namespace ratchet {

namespace {

using layout::kind;

constexpr std::array k_erased{kind::outbox_epoch, kind::outbox,   kind::stream_state,
                              kind::partition,    kind::rejected, kind::audit};

/// Above every key: those of a stream begin with its number, and no stream has this one.
const std::string k_behind_all(32, '\xff');

}  // namespace

void put_begin_of_restore(row_sink& to, slot s, bool has_rows) {
  if (has_rows) {
    for (const kind k : k_erased) {
      const std::string prefix = layout::prefix_of(k);
      to.erase_range(family::standard, prefix, layout::end_of_prefix(prefix));
    }
    const std::string behind_step = layout::step_key(false) + '\0';
    for (const family f : k_step_families) {
      if (f != family::standard) to.erase_range(f, behind_step, k_behind_all);
    }
  }
  to.erase(family::standard, layout::slot_key(s));
  to.put(family::standard, layout::restore_key(), layout::encode_presence());
}

void put_end_of_restore(row_sink& to, slot s, const replicate::log_position& at) {
  to.erase(family::standard, layout::restore_key());
  to.put(family::standard, layout::slot_key(s), layout::encode_slot(at));
}

}  // namespace ratchet
