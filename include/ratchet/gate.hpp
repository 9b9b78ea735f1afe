// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "ratchet/types.hpp"

namespace ratchet {

/// The first number of an aggregate in strict order. `any`: the lowest that comes, by the rule for gaps.
enum class first_number : std::uint8_t { zero, one, any };

/// Whether the first number of a higher epoch is a successor, too.
enum class epoch_change : std::uint8_t { park, accept };

/// The settings of a stream that the gate depends on.
struct gate_rules {
  ratchet::order order{order::latest};
  first_number first{first_number::one};
  ratchet::epoch_change epoch_change{epoch_change::park};
  /// `latest`: several events of one aggregate may have the same sequence, for example one log position or
  /// one second. The one that comes last is the newest. A partition delivers events in the order of its
  /// offsets.
  bool ties_by_offset{false};
  /// `latest`: sequences are whole numbers, in epoch 0, or text, in higher epochs. Neither kind has an order
  /// among the other.
  bool numbers_or_text{false};
  friend constexpr bool operator==(const gate_rules&, const gate_rules&) = default;
};

/// The waiting event, if any, that claims the sequence of the incoming one (in arrival order: its id).
enum class claim : std::uint8_t { none, same_id, other_id };

/// The facts of one event and its aggregate that the gate needs. The caller looks them up first. They hold
/// no bytes, so decide() is constexpr, and its tests are the table that it implements.
struct gate_facts {
  bool below_position{false};  ///< the record's offset is below the position of its partition
  claim waiting{claim::none};
  std::optional<sequence> last{};  ///< L, the last one applied or skipped; none for a new aggregate
  bool last_was_skipped{false};
  sequence incoming{};         ///< ignored in arrival order
  bool has_id{true};           ///< false: `dedup: off`, or an envelope without an id
  bool id_seen{false};         ///< an entry for (aggregate, id) at or above the floor
  bool id_below_floor{false};  ///< the time of the id is before the window
  bool same_id_as_last{false};
  bool same_payload_as_last{false};
  bool in_skipped_gap{false};
  bool older_than_retention{false};
  bool blocked{false};      ///< earlier events of the aggregate wait
  bool below_first{false};  ///< `first: any`: below the number that was taken as the first
  /// `strict`: the first number of an event that covers a range of numbers. `incoming` is the last number of
  /// that range.
  std::optional<std::uint64_t> begins_at{};
};

/// True if strict order begins an epoch with `next`, by the first number of the config.
[[nodiscard]] constexpr bool is_first(sequence next, const gate_rules& rules,
                                      std::optional<std::uint64_t> begins_at = {}) noexcept {
  if (rules.first == first_number::any) return false;
  const std::uint64_t first = rules.first == first_number::one ? 1 : 0;
  return begins_at.value_or(next.number) <= first && first <= next.number;
}

/// True if `next` is the successor of `last` in strict order.
[[nodiscard]] constexpr bool is_successor(sequence last, sequence next, const gate_rules& rules,
                                          std::optional<std::uint64_t> begins_at = {}) noexcept {
  if (next.epoch == last.epoch) {
    if (next <= last) return false;
    const std::uint64_t begin = begins_at.value_or(next.number);
    return begin == 0 || begin - 1 <= last.number;
  }
  if (rules.epoch_change != epoch_change::accept || next.epoch < last.epoch) return false;
  return is_first(next, rules, begins_at);
}

namespace gate_detail {

constexpr decision k_applied{verdict::applied, reject_reason::none};
constexpr decision k_parked{verdict::parked, reject_reason::none};
constexpr decision k_duplicate{verdict::duplicate, reject_reason::none};
constexpr decision k_stale{verdict::stale, reject_reason::none};
constexpr decision rejected(reject_reason reason) noexcept {
  return {verdict::rejected, reason};
}

/// True for a number that no epoch of strict order has, unless an operator lets it in.
constexpr bool is_below_first(const gate_rules& rules, sequence s) noexcept {
  return rules.order == order::strict && rules.first == first_number::one && s.number == 0;
}

/// The first event of an aggregate (row 6).
constexpr decision decide_first(const gate_rules& rules, const gate_facts& facts) noexcept {
  if (rules.order == order::latest) return k_applied;
  if (facts.in_skipped_gap) return rejected(reject_reason::late);
  if (rules.first == first_number::any) {
    if (facts.below_first) return k_stale;
    // The rule for gaps decides. An event that names its predecessor may begin at any number.
    return facts.begins_at && !facts.blocked ? k_applied : k_parked;
  }
  if (is_below_first(rules, facts.incoming)) return rejected(reject_reason::below_first);
  return is_first(facts.incoming, rules, facts.begins_at) && !facts.blocked ? k_applied : k_parked;
}

/// True if one of them is a number and the other one is text.
constexpr bool are_of_two_kinds(const gate_rules& rules, sequence last, sequence next) noexcept {
  return rules.numbers_or_text && (last.epoch == 0) != (next.epoch == 0);
}

/// An event that claims the number of the last one (row 7).
constexpr decision decide_equal(const gate_rules& rules, const gate_facts& facts) noexcept {
  if (facts.last_was_skipped) return rejected(reject_reason::late);
  if (facts.same_payload_as_last || (facts.has_id && facts.same_id_as_last)) return k_duplicate;
  if (!rules.ties_by_offset) return rejected(reject_reason::conflict);
  return facts.has_id && facts.id_seen ? k_duplicate : k_applied;
}

}  // namespace gate_detail

/// Returns the verdict of one event: the first row of the table that matches. Total over its inputs, without
/// side effects. `verdict::applied` means that the reducer gets the event.
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
  if (are_of_two_kinds(rules, *facts.last, facts.incoming))
    return seen ? k_duplicate : rejected(reject_reason::sequence_mixed);
  if (facts.incoming < *facts.last) {
    if (seen) return k_duplicate;
    if (facts.in_skipped_gap) return rejected(reject_reason::late);
    return is_below_first(rules, facts.incoming) ? rejected(reject_reason::below_first) : k_stale;
  }
  if (seen) return rejected(reject_reason::id_reused);
  if (rules.order == order::latest) return k_applied;
  if (facts.in_skipped_gap) return rejected(reject_reason::late);
  const bool takes_epochs = rules.epoch_change == epoch_change::accept;
  if (takes_epochs && is_below_first(rules, facts.incoming)) return rejected(reject_reason::below_first);
  return is_successor(*facts.last, facts.incoming, rules, facts.begins_at) && !facts.blocked ? k_applied
                                                                                             : k_parked;
}

}  // namespace ratchet
