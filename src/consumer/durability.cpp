// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/durability.hpp"

#include "core/success.hpp"

namespace ratchet {

namespace {

/// Syncs in the background that bring nothing for so long are followed by one that is waited for.
constexpr std::chrono::seconds k_sync_patience{10};

}  // namespace

result<void> durability::turn(time_point now) {
  const bool is_behind = of_.last_step() > covered();
  if (!is_behind || covered() != seen_) {
    seen_ = covered();
    moved_at_ = now;
  }
  if (!is_behind || now - last_sync_ < interval_) return success();
  last_sync_ = now;
  // A sync in the background fails without a word; one that is waited for says so.
  if (now - moved_at_ >= k_sync_patience) return of_.sync();
  of_.request_sync();
  return success();
}

}  // namespace ratchet
