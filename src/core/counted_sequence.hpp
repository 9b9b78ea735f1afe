// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/decoded_event.hpp"
#include "ratchet/types.hpp"

namespace ratchet {

/// The last one handled of an aggregate that may begin again, as far as its next event is counted by it.
struct last_counted {
  sequence number;
  bool was_delete{false};
};

/// The highest number that an aggregate begins again with: producers count from 0 or from 1.
constexpr std::uint64_t k_highest_new_beginning = 1;

/// The sequence that an event has in an aggregate that may begin again (stream_rules::restarts): its number,
/// in the epoch that the aggregate is in; or in the next one, where the aggregate was deleted and this is a
/// first number that is no news to it. `seen`: its id was handled, so that it is a repeat from before.
[[nodiscard]] inline sequence counted_sequence(const last_counted& last, const decoded_event& e,
                                               bool seen) noexcept {
  const sequence here{last.number.epoch, e.sequence.number};
  const bool is_first = e.kind == decoded_kind::event && e.sequence.number <= k_highest_new_beginning;
  const bool begins_again = last.was_delete && is_first && here <= last.number && !seen;
  return begins_again ? sequence{here.epoch + 1, here.number} : here;
}

}  // namespace ratchet
