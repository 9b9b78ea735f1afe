// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "outbox/held_aggregates.hpp"

namespace ratchet {

bool held_aggregates::holds(const output_row& row) const {
  if (all_.empty() || row.kind != output_kind::published) return false;
  const auto at = all_.find(of(row));
  if (at == all_.end()) return false;
  const held& h = at->second;
  return row.position > (h.refused ? *h.refused : h.behind.front());
}

void held_aggregates::push(const output_row& row) {
  all_.at(of(row)).behind.insert(row.position);
}

held_aggregates::verdict held_aggregates::refuse(const output_row& row) {
  const auto at = all_.try_emplace(of(row)).first;
  held& h = at->second;
  const bool waits_itself =
      h.refused ? row.position > *h.refused : !h.behind.empty() && row.position > h.behind.front();
  verdict out{!waits_itself, std::nullopt};
  if (waits_itself) {
    h.behind.insert(row.position);
  } else {
    out.was_first = std::exchange(h.refused, row.position);
    if (out.was_first) h.behind.insert(*out.was_first);
  }
  update_ready(at);
  return out;
}

void held_aggregates::release(const output_row& row) {
  const auto at = all_.find(of(row));
  at->second.refused.reset();
  update_ready(at);
}

std::optional<std::uint64_t> held_aggregates::next() const {
  return ready_.empty() ? std::nullopt : std::optional{ready_.begin()->first};
}

void held_aggregates::take() {
  const auto at = ready_.begin()->second;
  at->second.behind.pop();
  ++at->second.taken;
  update_ready(at);
}

void held_aggregates::ended(const output_row& row) {
  const auto at = all_.find(of(row));
  // None: nothing of it waited any more. What was taken before it waited anew is not counted twice.
  if (at == all_.end() || at->second.taken == 0) return;
  --at->second.taken;
  update_ready(at);
}

/// Whether its next one may be taken, and whether anything waits at all.
void held_aggregates::update_ready(aggregates::iterator at) {
  held& h = at->second;
  if (h.ready) ready_.erase(*h.ready);
  h.ready.reset();
  if (h.refused) return;
  if (h.behind.empty()) {
    all_.erase(at);
    return;
  }
  if (h.taken >= k_most_taken) return;
  h.ready = h.behind.front();
  ready_.emplace(*h.ready, at);
}

}  // namespace ratchet
