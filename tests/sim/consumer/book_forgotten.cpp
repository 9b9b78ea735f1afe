// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Rows: where they move to, and how they go.
#include <string>

#include "sim/consumer/book_messages.hpp"
#include "sim/consumer/step_book.hpp"

namespace ratchet::sim {

/// What is forgotten goes at some time, and nobody sees when.
void step_book::take_away(step& s, const step_part& part) {
  for (const aggregate_change& gone : part.change->rows) {
    must_be(!gone.row.has_last && !gone.row.waits, "a row is written where rows are taken away");
    operation o{.what = operation::kind::take_away, .stream = static_cast<std::uint32_t>(part.stream)};
    o.aggregate = number_of(part.plan->aggregates.at(gone.aggregate));
    (void)add(s, o);
  }
}

/// What was handled last of an aggregate only moves forward, as long as it is remembered.
void step_book::check_rows(const step_part& part, const stream_rows& before) const {
  const plain_oracle& oracle = oracles_[static_cast<std::size_t>(part.stream)];
  const auto number = [](std::optional<timestamp> t) { return t ? t->time_since_epoch().count() : -1; };
  const retention_state& found = part.change->after.retention;
  if (number(found.before) != oracle.forgets_before().value_or(-1) ||
      number(found.since) != oracle.counts_from().value_or(-1))
    throw broken("forgotten is what was handled before " + std::to_string(number(found.before)) +
                 ", and what has no time counts from " + std::to_string(number(found.since)) +
                 "; but the oracle has " + std::to_string(oracle.forgets_before().value_or(-1)) + " and " +
                 std::to_string(oracle.counts_from().value_or(-1)));
  const auto& anew = oracle.began_anew();
  for (const aggregate_change& row : part.change->rows) {
    const auto at = before.rows.find(part.plan->aggregates.at(row.aggregate));
    if (at == before.rows.end() || !at->second.has_last) continue;
    if (anew.contains(number_of(at->first))) continue;
    const bool is_ahead = row.row.has_last && at->second.last < row.row.last;
    const bool is_other = at->second.waits != row.row.waits || at->second.seen != row.row.seen;
    const bool only_beside =
        row.row.has_last && at->second.last == row.row.last && row.keeps_snapshot && is_other;
    must_be(is_ahead || only_beside, "the last-handled sequence of an aggregate did not move forward");
  }
}

bool step_book::has_taken_away(const simulated_disk::contents& found) const {
  constexpr std::int64_t k_walks = 16;  // for each time that a retention passes
  for (std::size_t i = 0; i < oracles_.size(); ++i) {
    const auto retention = running_->retention.at(i);
    if (!retention) continue;
    for (const auto& [number, a] : oracles_[i].aggregates()) {
      const std::string name = "a" + std::to_string(number);
      if (found.streams[i].rows.contains(name) && oracles_[i].is_long_forgotten(a, *retention / k_walks))
        return false;
    }
  }
  return true;
}

std::uint64_t step_book::forgotten() const {
  std::uint64_t sum = 0;
  for (const plain_oracle& oracle : oracles_) sum += oracle.forgotten();
  return sum;
}

std::uint64_t step_book::old_decided() const {
  std::uint64_t sum = 0;
  for (const plain_oracle& oracle : oracles_) sum += oracle.old_decided();
  return sum;
}

}  // namespace ratchet::sim
