// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/step/store_changes.hpp"

#include <algorithm>

#include "store/layout/layout.hpp"

namespace ratchet {

catalog known_after(const catalog& known, const store_change& change) {
  catalog after = known;
  if (change.outbox_epoch) after.outbox_epoch = std::max(*change.outbox_epoch, known.outbox_epoch + 1);
  if (after.copy) after.copy->opened |= change.note_copy_opened;
  if (change.lift_copy_mark) after.copy.reset();
  if (change.cluster_id) after.identity->cluster_id = *change.cluster_id;
  after.incarnations.insert(after.incarnations.end(), change.taken_over.begin(), change.taken_over.end());
  std::stable_sort(after.incarnations.begin(), after.incarnations.end(),
                   [](const incarnation& a, const incarnation& b) { return a.counter < b.counter; });
  return after;
}

void put_store_change(row_sink& to, const catalog& known, const catalog& after, const store_change& change) {
  if (after.outbox_epoch != known.outbox_epoch) {
    to.put(family::standard, layout::outbox_epoch_key(), layout::encode_outbox_epoch(after.outbox_epoch));
  }
  if (!after.copy && known.copy) {
    to.erase(family::standard, layout::copy_mark_key());
  } else if (after.copy != known.copy) {
    to.put(family::standard, layout::copy_mark_key(), layout::encode_copy_mark(*after.copy));
  }
  if (change.cluster_id) {
    to.put(family::standard, layout::identity_key(), layout::encode_identity(*after.identity));
  }
  for (const incarnation& i : change.taken_over) {
    to.put(family::standard, layout::incarnation_key(i), layout::encode_presence());
  }
}

}  // namespace ratchet
