// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/slot_source.hpp"

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
  if (given_back_ || !turn_()) return errc::source_fatal;
  if (!inputs_.empty() && !std::exchange(is_told_, true)) return polled{nullptr, {notice::assigned{inputs_}}};
  RATCHET_TRY(auto got, of_.poll(max_records, timeout));
  for (source_notice& n : got.notices) {
    auto* const taken = std::get_if<notice::revoked>(&n);
    if (taken == nullptr) continue;
    is_revoked_ = true;
    is_lost_ = is_lost_ || taken->lost;
    taken->partitions = inputs_;
  }
  if (is_lost_) return errc::source_fatal;  // to answer would be to join again
  return got;
}

}  // namespace ratchet
