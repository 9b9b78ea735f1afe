// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/slot_source.hpp"

#include <algorithm>
#include <utility>

#include "core/success.hpp"

namespace ratchet {

namespace {

constexpr std::chrono::milliseconds k_query_timeout{10'000};

}  // namespace

result<void> slot_source::join(std::span<const std::string> topics) {
  RATCHET_TRY(inputs_, of_.partitions(topics, k_query_timeout));
  return success();
}

result<void> slot_source::unassign() {
  given_back_ = given_back_ || is_revoked_;
  return of_.unassign();
}

result<polled> slot_source::poll(std::size_t max_records, std::chrono::milliseconds timeout) {
  if (has_moved_ || !turn_()) return errc::source_fatal;
  if (!inputs_.empty() && !std::exchange(is_told_, true)) return polled{nullptr, {notice::assigned{inputs_}}};
  RATCHET_TRY(auto got, of_.poll(max_records, timeout));
  for (source_notice& n : got.notices) {
    if (auto* const taken = std::get_if<notice::revoked>(&n)) {
      is_revoked_ = true;
      is_lost_ = is_lost_ || taken->lost;
      taken->partitions = inputs_;
    }
    if (auto* const given = std::get_if<notice::assigned>(&n)) {
      RATCHET_TRY(take_back(*given));
    }
  }
  if (has_moved_ || is_lost_) return errc::source_fatal;  // a lost member that answered would join again
  return got;
}

/// The rebalance is over.
result<void> slot_source::take_back(notice::assigned& given) {
  if (std::find(given.partitions.begin(), given.partitions.end(), slot_) == given.partitions.end()) {
    has_moved_ = true;
    return of_.assign({});
  }
  is_revoked_ = given_back_ = false;
  given.partitions = inputs_;
  return success();
}

}  // namespace ratchet
