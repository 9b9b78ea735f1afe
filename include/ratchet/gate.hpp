// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "ratchet/types.hpp"

namespace ratchet {

/// The first number of an aggregate in strict order. `any`: the lowest that arrives, adopted by the gap rule.
enum class first_number : std::uint8_t { zero, one, any };

/// Whether {e', first} of a higher epoch is a successor too.
enum class epoch_change : std::uint8_t { park, accept };

/// What of a stream's config the gate depends on.
struct gate_rules {
  ratchet::order order{order::latest};
  first_number first{first_number::one};
  ratchet::epoch_change epoch_change{epoch_change::park};
  /// `latest`: the sequence is a log position, which several events of one aggregate may have; the one that
  /// comes last is the newest. One partition delivers in the order of its offsets.
  bool ties_by_offset{false};
  friend constexpr bool operator==(const gate_rules&, const gate_rules&) = default;
};

/// Which waiting event claims the incoming one's sequence (in arrival order: its id).
enum class claim : std::uint8_t { none, same_id, other_id };

/// Everything that the gate needs to know of one event and of its aggregate, looked up beforehand. It holds
/// no bytes, so that decide() can be constexpr and its tests are the table it implements.
struct gate_facts {
  bool below_position{false};  ///< the record's offset is below what its partition has handled
  claim waiting{claim::none};
  std::optional<sequence> last{};  ///< L, the last one applied (or skipped); none for a new aggregate
  bool last_was_skipped{false};
  sequence incoming{};         ///< not looked at in arrival order
  bool has_id{true};           ///< false: `dedup: off`, or an envelope that has none
  bool id_seen{false};         ///< an entry for (aggregate, id) at or above the floor
  bool id_below_floor{false};  ///< the id's own time lies before the window
  bool same_id_as_last{false};
  bool same_payload_as_last{false};
  bool in_skipped_gap{false};
  bool older_than_retention{false};
  bool blocked{false};      ///< earlier events of the aggregate wait
  bool below_first{false};  ///< `first: any`: lower than the one that was adopted as the first
};

/// True where `next` is the event that strict order wants after `last`.
[[nodiscard]] constexpr bool is_successor(sequence last, sequence next, const gate_rules& rules) noexcept {
  if (next.epoch == last.epoch) {
    return last.number != std::numeric_limits<std::uint64_t>::max() && next.number == last.number + 1;
  }
  if (rules.epoch_change != epoch_change::accept || next.epoch < last.epoch) return false;
  return rules.first != first_number::any && next.number == (rules.first == first_number::one ? 1U : 0U);
}

namespace gate_detail {

constexpr decision k_applied{verdict::applied, reject_reason::none};
constexpr decision k_parked{verdict::parked, reject_reason::none};
constexpr decision k_duplicate{verdict::duplicate, reject_reason::none};
constexpr decision k_stale{verdict::stale, reject_reason::none};
constexpr decision rejected(reject_reason reason) noexcept {
  return {verdict::rejected, reason};
}

/// No epoch that strict order lets in by itself has such a number.
constexpr bool is_below_first(const gate_rules& rules, sequence s) noexcept {
  return rules.first == first_number::one && s.number == 0;
}

/// The first event of an aggregate (row 6).
constexpr decision decide_first(const gate_rules& rules, const gate_facts& facts) noexcept {
  if (rules.order == order::latest) return k_applied;
  if (rules.first == first_number::any) {
    return facts.below_first ? k_stale : k_parked;  // adopted by the gap rule
  }
  if (is_below_first(rules, facts.incoming)) return k_stale;
  const std::uint64_t first = rules.first == first_number::one ? 1 : 0;
  if (facts.incoming.number > first || facts.blocked) return k_parked;
  return k_applied;
}

/// An event that claims the number of the last one (row 7).
constexpr decision decide_equal(const gate_rules& rules, const gate_facts& facts) noexcept {
  if (facts.last_was_skipped) return rejected(reject_reason::late);
  if (rules.ties_by_offset) return facts.same_payload_as_last ? k_duplicate : k_applied;
  if (!facts.has_id || facts.same_id_as_last || facts.same_payload_as_last) return k_duplicate;
  return rejected(reject_reason::conflict);
}

}  // namespace gate_detail

/// Decides what becomes of one event. Total over its inputs, without side effects; the first row of the table
/// that fits decides. `verdict::applied` means: let it through to the reducer.
[[nodiscard]] constexpr decision decide(const gate_rules& rules, const gate_facts& facts) noexcept {
  using namespace gate_detail;
  if (facts.below_position) return k_duplicate;
  if (facts.waiting == claim::same_id) return k_duplicate;
  if (facts.waiting == claim::other_id) return rejected(reject_reason::conflict);
  if (rules.order == order::arrival) {
    if (facts.has_id && facts.id_seen) return k_duplicate;
    if (facts.has_id && facts.id_below_floor) return rejected(reject_reason::too_old);
    return facts.blocked ? k_parked : k_applied;
  }
  if (!facts.last) {
    return facts.older_than_retention ? rejected(reject_reason::too_old) : decide_first(rules, facts);
  }
  if (facts.incoming == *facts.last) return decide_equal(rules, facts);
  const bool seen = facts.has_id && facts.id_seen;
  if (facts.incoming < *facts.last) {
    if (seen) return k_duplicate;
    return facts.in_skipped_gap ? rejected(reject_reason::late) : k_stale;
  }
  if (seen) return rejected(reject_reason::id_reused);
  if (rules.order == order::latest) return k_applied;
  const bool takes_epochs = rules.epoch_change == epoch_change::accept;
  if (takes_epochs && is_below_first(rules, facts.incoming)) return k_stale;
  return is_successor(*facts.last, facts.incoming, rules) && !facts.blocked ? k_applied : k_parked;
}

}  // namespace ratchet
