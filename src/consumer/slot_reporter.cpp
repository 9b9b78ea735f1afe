// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/slot_reporter.hpp"

#include <algorithm>
#include <utility>

namespace ratchet {

namespace {

using replicate::fate;
using replicate::owner_phase;
using std::chrono::milliseconds;

constexpr milliseconds k_interval{200};

}  // namespace

slot_role slot_reporter::role(bool is_leading) const {
  if (is_leading) return slot_role::owner;
  if (of_.slot.restored_bytes()) return slot_role::restoring;
  switch (of_.slot.phase()) {
    case owner_phase::claiming:
    case owner_phase::must_fence:
    case owner_phase::fencing:
    case owner_phase::leading:
      return slot_role::taking_over;
    case owner_phase::standby:
    case owner_phase::late:
    case owner_phase::stopped:
      break;
  }
  return slot_role::following;
}

void slot_reporter::turn(bool is_leading) {
  if (of_.status == nullptr) return;
  const slot_role now = role(is_leading);
  const auto at = of_.clock.steady();
  if (now == shown_ && at - shown_at_ < k_interval) return;
  if (now == slot_role::owner && shown_ != now) ++leads_;
  shown_ = now;
  shown_at_ = at;
  show(now);
}

void slot_reporter::show(slot_role as) {
  const slot_replica& slot = of_.slot;
  slot_status s;
  s.log = of_.log;
  s.instance = of_.instance;
  s.advertise = of_.advertise;
  s.role = as;
  s.owner = slot.owner();
  s.step = slot.position().step;
  s.log_bytes = slot.position().bytes;
  if (const auto& bounds = slot.bounds()) {
    s.log_first = bounds->first;
    s.log_end = bounds->end;
    s.records_behind =
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, bounds->end - slot.reader().next_offset()));
  }
  if (const auto complete = slot.complete_at()) {
    s.behind = std::chrono::duration_cast<milliseconds>(of_.clock.steady() - *complete);
  } else if (const auto read = slot.read_time()) {
    s.behind = std::max(milliseconds{0}, of_.clock.now() - *read);
  }
  s.restored = slot.restored_bytes();
  s.leads = leads_;
  s.fences = slot.attempt();
  s.ignored_records = slot.reader().count_of(fate::zombie) + slot.reader().count_of(fate::rival);
  s.gaps = slot.reader().count_of(fate::gap);
  s.bases = of_.bases.progress();
  s.digests = of_.digests.found();
  if (as == slot_role::owner) {
    const pending_use pending = of_.rows.pending();
    s.pending_steps = pending.steps;
    s.pending_bytes = pending.row_bytes;
    s.owner = slot_owner{slot.position().epoch, of_.instance, of_.advertise};
    s.records_behind = 0;
    s.behind.reset();
    s.log_since_base = of_.bases.log_since_base();
  } else if (!of_.bases.must_wait()) {  // another instance writes them now
    s.bases.newest.reset();
    s.bases.trouble.clear();
  }
  of_.status->set_slot(std::move(s));
}

}  // namespace ratchet
