// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "model/core_histories.hpp"
#include "model/core_oracle.hpp"
#include "support/core_world.hpp"

/// The rules that histories are run under, and what each of them makes of a history.
namespace ratchet::testing {

struct setting {
  const char* name;
  ratchet::order order;
  bool folds;
  first_number first{first_number::one};
  epoch_change epochs{epoch_change::park};
  std::optional<std::int64_t> gap_timeout{};  ///< then gaps are skipped
  std::uint64_t may_wait{1'000'000};
  bool has_ties{false};
  bool opaque{false};
  bool deferred{false};
  bool checks_times{false};
  std::optional<std::int64_t> retention{};  ///< then aggregates are forgotten
  bool parks_too_old{false};
};
inline constexpr setting k_settings[] = {
    {"latest_full_state", order::latest, false},
    {"latest_folding", order::latest, true},
    {"latest_limited", order::latest, true, first_number::one, epoch_change::park, {}, 2},
    {"arrival_full_state", order::arrival, false},
    {"arrival_folding", order::arrival, true},
    {"arrival_limited", order::arrival, true, first_number::one, epoch_change::park, {}, 2},
    {"strict_waiting", order::strict, true},
    {"strict_full_state", order::strict, false, first_number::zero, epoch_change::accept},
    {"strict_skipping", order::strict, true, first_number::one, epoch_change::accept, 1500},
    {"strict_skipping_soon", order::strict, false, first_number::zero, epoch_change::park, 300},
    {"strict_adopting", order::strict, true, first_number::any, epoch_change::park, 800},
    {"strict_limited", order::strict, true, first_number::one, epoch_change::accept, 4000, 3},
    {"latest_full_state_ties",
     order::latest,
     false,
     first_number::one,
     epoch_change::park,
     {},
     1'000'000,
     true},
    {"latest_folding_ties", order::latest, true, first_number::one, epoch_change::park, {}, 1'000'000, true},
    {"latest_limited_ties", order::latest, true, first_number::one, epoch_change::park, {}, 2, true},
    {.name = "latest_full_state_opaque", .order = order::latest, .folds = false, .opaque = true},
    {.name = "latest_folding_opaque", .order = order::latest, .folds = true, .opaque = true},
    {.name = "arrival_full_state_opaque", .order = order::arrival, .folds = false, .opaque = true},
    {.name = "arrival_folding_opaque", .order = order::arrival, .folds = true, .opaque = true},
    {.name = "arrival_limited_opaque", .order = order::arrival, .folds = true, .may_wait = 2, .opaque = true},
    {.name = "strict_waiting_opaque", .order = order::strict, .folds = true, .opaque = true},
    {.name = "strict_skipping_opaque",
     .order = order::strict,
     .folds = true,
     .epochs = epoch_change::accept,
     .gap_timeout = 1500,
     .opaque = true},
    {.name = "strict_deferred", .order = order::strict, .folds = true, .deferred = true},
    {.name = "strict_full_state_deferred",
     .order = order::strict,
     .folds = false,
     .first = first_number::zero,
     .epochs = epoch_change::accept,
     .deferred = true},
    {.name = "strict_skipping_deferred",
     .order = order::strict,
     .folds = true,
     .epochs = epoch_change::accept,
     .gap_timeout = 1500,
     .opaque = true,
     .deferred = true},
    {.name = "strict_skipping_soon_deferred",
     .order = order::strict,
     .folds = false,
     .first = first_number::zero,
     .gap_timeout = 300,
     .deferred = true},
    {.name = "strict_adopting_deferred",
     .order = order::strict,
     .folds = true,
     .first = first_number::any,
     .gap_timeout = 800,
     .deferred = true},
    {.name = "strict_limited_deferred",
     .order = order::strict,
     .folds = true,
     .epochs = epoch_change::accept,
     .gap_timeout = 4000,
     .may_wait = 2,
     .deferred = true},
    {.name = "arrival_deferred", .order = order::arrival, .folds = true, .may_wait = 1, .deferred = true},
    {.name = "arrival_opaque_deferred",
     .order = order::arrival,
     .folds = true,
     .opaque = true,
     .deferred = true},
    {.name = "latest_checking", .order = order::latest, .folds = true, .opaque = true, .checks_times = true},
    {.name = "arrival_checking",
     .order = order::arrival,
     .folds = true,
     .opaque = true,
     .checks_times = true},
    {.name = "strict_checking",
     .order = order::strict,
     .folds = true,
     .epochs = epoch_change::accept,
     .gap_timeout = 1500,
     .opaque = true,
     .checks_times = true},
    {.name = "latest_forgetting", .order = order::latest, .folds = true, .retention = 1200},
    {.name = "latest_full_state_forgetting", .order = order::latest, .folds = false, .retention = 2000},
    {.name = "latest_forgetting_opaque",
     .order = order::latest,
     .folds = true,
     .opaque = true,
     .checks_times = true,
     .retention = 1100},
    {.name = "latest_limited_forgetting",
     .order = order::latest,
     .folds = true,
     .may_wait = 2,
     .has_ties = true,
     .retention = 1200},
    {.name = "arrival_forgetting", .order = order::arrival, .folds = true, .may_wait = 2, .retention = 1100},
    {.name = "arrival_forgetting_opaque",
     .order = order::arrival,
     .folds = false,
     .opaque = true,
     .checks_times = true,
     .retention = 1200},
    {.name = "strict_forgetting", .order = order::strict, .folds = true, .retention = 1200},
    {.name = "strict_skipping_forgetting",
     .order = order::strict,
     .folds = true,
     .epochs = epoch_change::accept,
     .gap_timeout = 300,
     .opaque = true,
     .retention = 1100},
    {.name = "strict_adopting_forgetting",
     .order = order::strict,
     .folds = false,
     .first = first_number::any,
     .gap_timeout = 800,
     .checks_times = true,
     .retention = 1500},
    {.name = "latest_parking_old",
     .order = order::latest,
     .folds = true,
     .has_ties = true,
     .retention = 1200,
     .parks_too_old = true},
    {.name = "latest_limited_parking_old",
     .order = order::latest,
     .folds = false,
     .may_wait = 2,
     .opaque = true,
     .retention = 1100,
     .parks_too_old = true},
    {.name = "arrival_parking_old",
     .order = order::arrival,
     .folds = true,
     .retention = 1200,
     .parks_too_old = true},
    {.name = "arrival_limited_parking_old",
     .order = order::arrival,
     .folds = false,
     .may_wait = 2,
     .opaque = true,
     .parks_too_old = true},
    {.name = "strict_parking_old",
     .order = order::strict,
     .folds = true,
     .retention = 1200,
     .parks_too_old = true},
    {.name = "strict_skipping_parking_old",
     .order = order::strict,
     .folds = true,
     .first = first_number::zero,
     .epochs = epoch_change::accept,
     .gap_timeout = 300,
     .opaque = true,
     .retention = 1100,
     .parks_too_old = true},
    {.name = "strict_adopting_parking_old",
     .order = order::strict,
     .folds = false,
     .first = first_number::any,
     .gap_timeout = 800,
     .may_wait = 3,
     .retention = 1500,
     .parks_too_old = true},
    {.name = "strict_checking_deferred",
     .order = order::strict,
     .folds = true,
     .epochs = epoch_change::accept,
     .gap_timeout = 300,
     .deferred = true,
     .checks_times = true},
};

/// An event that waits and then says stop stays, and is tried again: that is not the oracle's to know.
inline std::vector<spec> without_stops(std::vector<spec> history) {
  for (spec& e : history) {
    if (e.payload == "!") e.payload = "#";
  }
  return history;
}

/// In the middle no records come for a while: those behind it bear each other out.
inline void be_quiet_for_a_while(std::vector<spec>& history) {
  for (std::size_t i = history.size() / 2; i < history.size(); ++i) {
    if (history[i].time) *history[i].time += 7'000;
  }
}

inline std::vector<spec> history_for(const setting& s, const std::vector<raw_event>& raw, bool may_fail) {
  auto history = to_specs(raw, s.folds && may_fail);
  if (s.checks_times) be_quiet_for_a_while(history);
  return s.order == order::latest ? history : without_stops(std::move(history));
}

/// The same events, some of them in one record with those before them in their partition: each takes that
/// record's place and time. An offset that the log does not hold stays one.
inline std::vector<spec> in_records(std::vector<spec> history, const std::vector<int>& sizes) {
  std::map<int, std::size_t> last;  // by partition
  std::map<int, std::int64_t> fewer;
  std::map<int, int> room;
  std::size_t next = 0;
  for (std::size_t i = 0; i < history.size(); ++i) {
    spec& e = history[i];
    e.offset -= fewer[e.partition];
    const auto before = last.find(e.partition);
    if (room[e.partition] > 0 && before != last.end() && history[before->second].offset + 1 == e.offset) {
      spec& b = history[before->second];
      b.more = true;
      e.offset = b.offset;
      e.time = b.time;
      e.index = b.index + 1;
      ++fewer[e.partition];
      --room[e.partition];
    } else {
      room[e.partition] = sizes.empty() ? 0 : sizes[next++ % sizes.size()];
    }
    last[e.partition] = i;
  }
  return history;
}

inline constexpr std::uint32_t k_poison = 3;

/// A look-up loads few.waiting events, so that small histories meet that bound.
inline world fresh(const setting& s) {
  world w{s.folds ? reducer{folding{}} : reducer{replacing{}}, s.order};
  w.now = at_ms(k_now);
  w.rules.poison_limit = k_poison;
  w.rules.gate.first = s.first;
  w.rules.gate.epoch_change = s.epochs;
  w.rules.waiting.per_aggregate = s.may_wait;
  w.rules.gate.ties_by_offset = s.has_ties;
  w.rules.opaque_ids = s.opaque;
  w.rules.deferred = s.deferred;
  w.rules.checks_times = s.checks_times;
  if (!s.has_ties) w.queue_events = 2;  // a tie with an event that was not loaded is decided otherwise
  w.rules.parks_too_old = s.parks_too_old;
  if (s.retention) w.rules.retention = std::chrono::milliseconds{*s.retention};
  if (s.gap_timeout) w.rules.gap = {gap_policy::skip, std::chrono::milliseconds{*s.gap_timeout}};
  return w;
}

inline oracle told(const setting& s, const std::vector<spec>& history) {
  oracle o{{.is_arrival = s.order == order::arrival,
            .folds = s.folds,
            .now = k_now,
            .poison = k_poison,
            .is_strict = s.order == order::strict,
            .first = s.first == first_number::any   ? -1
                     : s.first == first_number::one ? 1
                                                    : 0,
            .accepts_epochs = s.epochs == epoch_change::accept,
            .gap_timeout = s.gap_timeout,
            .may_wait = s.may_wait,
            .has_ties = s.has_ties,
            .opaque = s.opaque,
            .deferred = s.deferred,
            .checks_times = s.checks_times,
            .retention = s.retention,
            .parks_too_old = s.parks_too_old}};
  for (const spec& e : history) o.feed(e);
  o.finish();
  return o;
}

}  // namespace ratchet::testing
