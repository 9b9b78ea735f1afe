// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What operators decide, and what a step made of it.
#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "sim/consumer/step_book.hpp"

namespace ratchet::sim {

namespace {

/// Says that the event had failed already when it was to be tried again.
[[nodiscard]] bool tells_of_failed(const std::vector<audit_row>& found, std::uint32_t aggregate,
                                   const ruling& decided) {
  const std::string name = "`a" + std::to_string(aggregate) + "`";
  const std::string number = std::to_string(decided.number.second) + ", ";
  return std::any_of(found.begin(), found.end(), [&](const audit_row& row) {
    const bool is_of_it = row.kind == "waiting_replayed" && row.text.find(name) != std::string::npos;
    return is_of_it && (row.text.find(number + name_of(waiting_state::dead)) != std::string::npos ||
                        row.text.find(number + name_of(waiting_state::retrying)) != std::string::npos);
  });
}

/// Says that the event was parked still when that was decided about it.
[[nodiscard]] bool tells_of_parked(const std::vector<audit_row>& found, std::uint32_t aggregate,
                                   const ruling& decided) {
  const auto& [epoch, number] = decided.number;
  const std::string told = "`a" + std::to_string(aggregate) + "`: event " +
                           (epoch == 0 ? "" : std::to_string(epoch) + ".") + std::to_string(number) + ", " +
                           name_of(waiting_state::parked) + " (";
  return std::any_of(found.begin(), found.end(), [&](const audit_row& row) {
    return row.kind.starts_with("waiting_") && row.text.find(told) != std::string::npos;
  });
}

}  // namespace

void step_book::expect(std::uint32_t stream, std::vector<std::pair<std::uint32_t, ruling>> by_aggregate) {
  expected_ = expected{stream, std::move(by_aggregate)};
  answers_.clear();
}

std::vector<waiting_answer> step_book::take_answers() {
  expected_.reset();
  return std::exchange(answers_, {});
}

void step_book::bind(step& s, std::uint32_t stream, std::uint32_t aggregate, plain_oracle::place first) {
  const auto& known = oracles_[stream].aggregates();
  const auto of = known.find(aggregate);
  operation o{.what = operation::kind::bind, .stream = stream};
  o.aggregate = aggregate;
  o.first = first;
  if (of != known.end() && of->second.bound) o.first = std::min(first, *of->second.bound);
  (void)add(s, o);
}

/// What an operator decided, and nothing else.
void step_book::run_commands(step& s, const step_part& part, const stream_rows& before, const cluster& c,
                             std::int64_t now, const std::vector<audit_row>& found) {
  const expected wanted = *std::exchange(expected_, std::nullopt);
  take_bounds(s, part, before);
  const bool is_deferred = history_->streams[wanted.stream].deferred;  // a decision runs one event alone then
  for (std::size_t i = 0; i < wanted.by_aggregate.size(); ++i) {
    const auto& [aggregate, decided] = wanted.by_aggregate[i];
    const auto later = std::span{wanted.by_aggregate}.subspan(i + 1);
    const auto stops_at =
        is_deferred ? later.end()
                    : std::find_if(later.begin(), later.end(), [&, of = aggregate](const auto& other) {
                        return other.first == of && tells_of_parked(found, of, other.second);
                      });
    // How much one step releases is its own choice. What it left parked is gone by a later decision.
    if (stops_at != later.end()) bind(s, wanted.stream, aggregate, stops_at->second.number);
    operation o{.what = operation::kind::run_commands,
                .stream = wanted.stream,
                .now = now,
                .mended = running_->mended};
    o.aggregate = aggregate;
    o.decided = decided;
    // The step ended before this one, but an earlier decision of the step had let it run once.
    const bool stands_there = oracles_[wanted.stream].is_bound(aggregate, decided.number);
    if (stands_there && tells_of_failed(found, aggregate, decided)) {
      operation once = o;
      once.what = operation::kind::run_bound;
      (void)add(s, once);
    }
    answers_.push_back(static_cast<waiting_answer>(add(s, o)));
    if (stops_at != later.end()) take_bounds(s, part, before);
  }
  check_stops(wanted.stream, *part.change, {}, c);
}

}  // namespace ratchet::sim
