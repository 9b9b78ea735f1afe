// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/step.hpp"
#include "model/core_facts.hpp"
#include "model/core_histories.hpp"
#include "model/core_oracle.hpp"
#include "support/core_print.hpp"
#include "support/core_world.hpp"

namespace ratchet::testing {

/// How a history is run: cut into steps, with crashes and with records delivered again.
struct schedule {
  std::vector<int> cuts;      ///< sizes of the steps, over and over
  std::vector<int> events;    ///< behind each step: 0 sync, 1 crash, else nothing
  std::vector<int> rewind;    ///< behind each step: so many records are delivered again first
  std::vector<int> turns{};   ///< behind each step: of each aggregate so many deferred events are run at most
  std::vector<int> sweeps{};  ///< behind each step: 0 takes away what is forgotten
};

[[nodiscard]] int at_or(const std::vector<int>& v, std::size_t i, int otherwise) {
  return i < v.size() ? v[i] : otherwise;
}

/// What a consumer does around the heart: delivers from the stored offsets on, and nothing of partitions that
/// are stopped.
class runner {
 public:
  runner(world w, const std::vector<spec>& history)
      : world_{std::move(w)}, durable_{world_}, history_{history} {}

  world run(const schedule& how) {
    for (std::size_t step = 0; at_ < history_.size(); ++step) {
      const int back = at_or(how.rewind, step, 0);
      at_ -= std::min(at_, static_cast<std::size_t>(back));
      const int size = how.cuts.empty() ? 1 : how.cuts[step % how.cuts.size()];
      deliver(static_cast<std::size_t>(size + back));
      const int run = at_or(how.turns, step, 0);
      if (run > 0) {
        world_.most_queued = static_cast<std::size_t>(run);
        world_.resume();
      }
      if (at_or(how.sweeps, step, 9) == 0) world_.remove_forgotten();
      const int event = at_or(how.events, step, 9);
      if (event == 0) durable_ = world_;
      if (event == 1) crash();
    }
    if (world_.rules.deferred) world_.work_off();
    return world_;
  }

  /// By position: the verdicts.
  [[nodiscard]] const std::map<std::string, std::string>& said() const { return said_; }

 private:
  void deliver(std::size_t size) {
    std::vector<spec> batch;
    for (; at_ < history_.size() && batch.size() < size; ++at_) {
      const spec& e = history_[at_];
      if (stopped_.contains(e.partition)) continue;
      const auto resumed = resumed_.find({e.topic, static_cast<partition_id>(e.partition)});
      const event_place here{e.offset, e.index};
      if (resumed != resumed_.end() && here < resumed->second.next()) continue;
      batch.push_back(e);
    }
    const stream_change change = world_.step(batch);
    for (const partition_stop& stop : change.stops) {
      stopped_.insert(static_cast<int>(stop.where.partition));
    }
    for (std::size_t i = 0; i < batch.size(); ++i) note(batch[i], change.decisions[i]);
  }

  /// Which events a newer one of their step made needless depends on the cut.
  void note(const spec& e, decision d) {
    if (d.verdict == verdict::unhandled) return;
    if (d.verdict == verdict::superseded) d.verdict = verdict::applied;
    const std::string reason = d.reason == reject_reason::none ? "" : std::string{" "} + name_of(d.reason);
    said_[std::to_string(e.partition) + "@" + to_text(event_place{e.offset, e.index})] +=
        name_of(d.verdict) + reason + ";";
  }

  void crash() {
    world_ = durable_;
    resumed_ = world_.state.partitions;
    stopped_.clear();
    at_ = 0;
  }

  std::map<std::string, std::string> said_;
  world world_;
  world durable_;
  const std::vector<spec>& history_;
  std::size_t at_{0};
  std::set<int> stopped_;
  std::map<topic_partition, partition_state> resumed_;
};

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
};
constexpr setting k_settings[] = {
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
    {.name = "strict_checking_deferred",
     .order = order::strict,
     .folds = true,
     .epochs = epoch_change::accept,
     .gap_timeout = 300,
     .deferred = true,
     .checks_times = true},
};

/// An event that waits and then says stop stays, and is tried again: that is not the oracle's to know.
std::vector<spec> without_stops(std::vector<spec> history) {
  for (spec& e : history) {
    if (e.payload == "!") e.payload = "#";
  }
  return history;
}

/// In the middle no records come for a while: those behind it bear each other out.
void be_quiet_for_a_while(std::vector<spec>& history) {
  for (std::size_t i = history.size() / 2; i < history.size(); ++i) {
    if (history[i].time) *history[i].time += 7'000;
  }
}

std::vector<spec> history_for(const setting& s, const std::vector<raw_event>& raw, bool may_fail) {
  auto history = to_specs(raw, s.folds && may_fail);
  if (s.checks_times) be_quiet_for_a_while(history);
  return s.order == order::latest ? history : without_stops(std::move(history));
}

/// The same events, some of them in one record with those before them in their partition: each takes that
/// record's place and time. An offset that the log does not hold stays one.
std::vector<spec> in_records(std::vector<spec> history, const std::vector<int>& sizes) {
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

constexpr std::uint32_t k_poison = 3;

/// A look-up loads few.waiting events, so that small histories meet that bound.
world fresh(const setting& s) {
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
  if (s.retention) w.rules.retention = std::chrono::milliseconds{*s.retention};
  if (s.gap_timeout) w.rules.gap = {gap_policy::skip, std::chrono::milliseconds{*s.gap_timeout}};
  return w;
}

oracle told(const setting& s, const std::vector<spec>& history) {
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
            .retention = s.retention}};
  for (const spec& e : history) o.feed(e);
  o.finish();
  return o;
}

namespace {

/// Aggregates as readers see them, where all has been read.
facts seen_in(world w) {
  w.remove_forgotten();
  facts out;
  for (const auto& [what, how] : state_of(w)) {
    const bool is_of_aggregate = what.starts_with("aggregate") || what.starts_with("published");
    if (is_of_aggregate) out.emplace(what, how);
  }
  return out;
}

std::vector<raw_event> some_history() {
  return *rc::gen::scale(1.5, rc::gen::arbitrary<std::vector<raw_event>>()).as("history");
}
std::vector<int> some_ints(int low, int high, const char* name) {
  return *rc::gen::container<std::vector<int>>(rc::gen::inRange(low, high)).as(name);
}

/// How much of what is deferred is run between the steps: nothing, or a few events.
std::vector<int> some_turns(const setting& s) {
  return s.deferred ? some_ints(0, 4, "run") : std::vector<int>{};
}

/// Ten times rapidcheck's default, unless the caller says otherwise; read by the first check.
const int k_more_of_it = setenv("RC_PARAMS", "max_success=1000", 0);

class step_model : public ::testing::TestWithParam<setting> {};
INSTANTIATE_TEST_SUITE_P(orders, step_model, ::testing::ValuesIn(k_settings),
                         [](const auto& tested) { return std::string{tested.param.name}; });

std::vector<setting> those_that_forget() {
  std::vector<setting> out;
  std::copy_if(std::begin(k_settings), std::end(k_settings), std::back_inserter(out),
               [](const setting& s) { return s.retention.has_value(); });
  return out;
}
class forgetting_model : public ::testing::TestWithParam<setting> {};
INSTANTIATE_TEST_SUITE_P(orders, forgetting_model, ::testing::ValuesIn(those_that_forget()),
                         [](const auto& tested) { return std::string{tested.param.name}; });

TEST_P(step_model, is_the_oracles_state_for_any_cut_into_steps) {
  const setting& s = GetParam();
  EXPECT_TRUE(rc::check("any cut", [&s] {
    const auto history = history_for(s, some_history(), true);
    const oracle want = told(s, history);
    const world got = runner{fresh(s), history}.run({some_ints(1, 12, "cuts"), {}, {}, some_turns(s)});
    RC_ASSERT(state_of(got) == state_of(want));
    RC_ASSERT(counts_of(got) == counts_of(want));
    RC_ASSERT(got.state.counters.accounted() == got.state.counters.consumed);
  }));
}

/// What an oracle that forgets record by record leaves, whenever rows are taken away.
TEST_P(forgetting_model, is_the_same_whenever_forgotten_rows_are_taken_away) {
  const setting& s = GetParam();
  EXPECT_TRUE(rc::check("sweeps", [&s] {
    const auto history = history_for(s, some_history(), true);
    oracle want = told(s, history);
    want.remove_forgotten();
    runner kept{fresh(s), history};
    (void)kept.run({{1}, {}, {}});
    runner swept{fresh(s), history};
    world got = swept.run({some_ints(1, 12, "cuts"), {}, {}, {}, some_ints(0, 3, "sweeps")});
    got.remove_forgotten();
    RC_ASSERT(state_of(got) == state_of(want));
    RC_ASSERT(counts_of(got) == counts_of(want));
    RC_ASSERT(swept.said() == kept.said());
  }));
}

/// Each partition has aggregates of its own, and its records have times: then it makes no difference how far
/// the others are.
TEST_P(forgetting_model, forgets_the_same_in_whatever_turn_partitions_are_read) {
  setting s = GetParam();
  s.gap_timeout.reset();  // all partitions together say how old a gap is
  if (s.first == first_number::any) GTEST_SKIP() << "which needs gaps to be skipped";
  EXPECT_TRUE(rc::check("turns", [&s] {
    auto history = history_for(s, some_history(), true);
    std::erase_if(history, [](const spec& e) { return !e.time; });
    world begin = fresh(s);
    for (int p = 0; p < k_partitions; ++p)  // as an assignment enters them
      begin.state.partitions[{"t", static_cast<partition_id>(p)}].next_offset = k_from_log_start;
    for (spec& e : history) {
      e.aggregate += std::to_string(e.partition);
      e.id.reset();  // whether ids are remembered the slowest partition says
    }
    auto read_anew = history;
    std::stable_sort(read_anew.begin(), read_anew.end(),
                     [](const spec& a, const spec& b) { return a.partition < b.partition; });
    const world live = runner{begin, history}.run({some_ints(1, 12, "cuts"), {}, {}});
    const world rebuilt = runner{begin, read_anew}.run({some_ints(1, 12, "cuts"), {}, {}});
    RC_ASSERT(seen_in(live) == seen_in(rebuilt));
  }));
}

/// But for what waits behind an event that failed.
TEST_P(step_model, is_the_same_state_whether_events_are_deferred_or_not) {
  if (!GetParam().deferred) GTEST_SKIP() << "nothing is deferred";
  setting direct = GetParam();
  direct.deferred = false;
  EXPECT_TRUE(rc::check("deferred", [&direct] {
    const setting& s = GetParam();
    const auto history = history_for(s, some_history(), false);
    const world want = runner{fresh(direct), history}.run({{1}, {}, {}});
    const world got = runner{fresh(s), history}.run({some_ints(1, 12, "cuts"), {}, {}, some_turns(s)});
    RC_ASSERT(state_of(got) == state_of(want));
    RC_ASSERT(counts_of(got) == counts_of(want));
  }));
}

TEST_P(step_model, says_the_same_of_each_record_for_any_cut_into_steps) {
  const setting& s = GetParam();
  EXPECT_TRUE(rc::check("verdicts", [&s] {
    const auto history = history_for(s, some_history(), true);
    runner one_by_one{fresh(s), history};
    const world want = one_by_one.run({{1}, {}, {}});
    runner cut{fresh(s), history};
    const world got = cut.run({some_ints(1, 12, "cuts"), {}, {}, some_turns(s)});
    RC_ASSERT(cut.said() == one_by_one.said());
    RC_ASSERT(got.fates == want.fates);
  }));
}

// No failing events where there are crashes: one that is tried again after others were handled may have
// become stale meanwhile, which is another interleaving.

TEST_P(step_model, is_the_same_state_after_crashes) {
  const setting& s = GetParam();
  EXPECT_TRUE(rc::check("crashes", [&s] {
    const auto history = history_for(s, some_history(), false);
    const oracle want = told(s, history);
    const world got = runner{fresh(s), history}.run(
        {some_ints(1, 12, "cuts"), some_ints(0, 5, "sync or crash"), {}, some_turns(s)});
    RC_ASSERT(state_of(got) == state_of(want));
    RC_ASSERT(counts_of(got) == counts_of(want));
  }));
}

TEST_P(step_model, is_the_same_state_when_records_are_delivered_again) {
  const setting& s = GetParam();
  EXPECT_TRUE(rc::check("redelivery", [&s] {
    const auto history = history_for(s, some_history(), false);
    const oracle want = told(s, history);
    const world got =
        runner{fresh(s), history}.run({some_ints(1, 12, "cuts"), some_ints(0, 5, "sync or crash"),
                                       some_ints(0, 7, "delivered again"), some_turns(s)});
    RC_ASSERT(state_of(got) == state_of(want));
    facts got_counts = counts_of(got);
    facts want_counts = counts_of(want);
    got_counts.erase("duplicate");
    want_counts.erase("duplicate");
    RC_ASSERT(got_counts == want_counts);
    RC_ASSERT(got.state.counters.accounted() == got.state.counters.consumed);
  }));
}

TEST_P(step_model, is_the_oracles_state_where_records_hold_several_events) {
  const setting& s = GetParam();
  EXPECT_TRUE(rc::check("several events in a record", [&s] {
    const auto history =
        in_records(history_for(s, some_history(), true), some_ints(0, 4, "more in a record"));
    const oracle want = told(s, history);
    const world got = runner{fresh(s), history}.run({some_ints(1, 12, "cuts"), {}, {}, some_turns(s)});
    RC_ASSERT(state_of(got) == state_of(want));
    RC_ASSERT(counts_of(got) == counts_of(want));
  }));
}

TEST_P(step_model, is_the_same_state_after_crashes_within_records) {
  const setting& s = GetParam();
  EXPECT_TRUE(rc::check("crashes within records", [&s] {
    const auto history =
        in_records(history_for(s, some_history(), false), some_ints(0, 4, "more in a record"));
    const oracle want = told(s, history);
    const world got =
        runner{fresh(s), history}.run({some_ints(1, 12, "cuts"), some_ints(0, 5, "sync or crash"),
                                       some_ints(0, 7, "delivered again"), some_turns(s)});
    RC_ASSERT(state_of(got) == state_of(want));
    facts got_counts = counts_of(got);
    facts want_counts = counts_of(want);
    got_counts.erase("duplicate");
    want_counts.erase("duplicate");
    RC_ASSERT(got_counts == want_counts);
    RC_ASSERT(got.state.counters.accounted() == got.state.counters.consumed);
  }));
}

/// What the design promises: with unique sequences the newest wins, in whatever order and however often they
/// come. Here the oracle is one line.
TEST(step_model, lets_the_newest_win_whatever_the_interleaving) {
  EXPECT_TRUE(rc::check("interleaving", [] {
    const auto drawn = *rc::gen::container<std::vector<std::pair<int, int>>>(
        rc::gen::pair(rc::gen::inRange(0, 4), rc::gen::inRange(0, 9)));
    std::map<std::string, std::uint64_t> newest;
    std::vector<spec> history;
    std::map<int, std::int64_t> next;
    for (const auto& [aggregate, number] : drawn) {
      spec e;
      e.aggregate = std::string(1, static_cast<char>('a' + aggregate));
      e.sequence = seq(static_cast<std::uint64_t>(number));
      e.id = id_at(k_base, static_cast<std::uint64_t>(aggregate * 100 + number));
      e.payload = std::to_string(number);
      e.time = k_base;
      e.partition = *rc::gen::inRange(0, k_partitions);
      e.offset = next[e.partition]++;
      history.push_back(e);
      newest[e.aggregate] = std::max(newest[e.aggregate], e.sequence.number);
    }
    const world got = runner{fresh(k_settings[0]), history}.run(
        {some_ints(1, 12, "cuts"), some_ints(0, 5, "sync or crash"), some_ints(0, 7, "delivered again")});
    RC_ASSERT(got.rows.size() == newest.size());
    for (const auto& [aggregate, number] : newest) {
      RC_ASSERT(got.snapshot(aggregate) == std::to_string(number));
      RC_ASSERT(got.rows.at(aggregate).last == seq(number));
    }
  }));
}

/// Each id is applied once, whatever the interleaving: in arrival order the number of an aggregate counts
/// them.
TEST(step_model, applies_each_id_inside_the_window_once) {
  EXPECT_TRUE(rc::check("once", [] {
    const auto drawn = *rc::gen::container<std::vector<std::pair<int, int>>>(
        rc::gen::pair(rc::gen::inRange(0, 3), rc::gen::inRange(0, 12)));
    std::map<std::string, std::set<int>> unique;
    std::vector<spec> history;
    for (const auto& [aggregate, n] : drawn) {
      spec e;
      e.aggregate = std::string(1, static_cast<char>('a' + aggregate));
      e.id = id_at(k_base, static_cast<std::uint64_t>(n));
      e.time = k_base;
      e.offset = std::ssize(history);
      history.push_back(e);
      unique[e.aggregate].insert(n);
    }
    const world got = runner{fresh(k_settings[4]), history}.run(
        {some_ints(1, 12, "cuts"), some_ints(0, 5, "sync or crash"), some_ints(0, 7, "delivered again")});
    RC_ASSERT(got.rows.size() == unique.size());
    for (const auto& [aggregate, ids] : unique) {
      RC_ASSERT(got.rows.at(aggregate).last == seq(ids.size()));
      RC_ASSERT(got.snapshot(aggregate).size() == 2 * ids.size());
    }
  }));
}

/// A generator that never reaches a branch proves nothing about it.
TEST(step_model, meets_every_verdict_in_its_histories) {
  std::map<std::string, int> met;
  int histories = 0;
  EXPECT_TRUE(rc::check("coverage", [&] {
    ++histories;
    const auto history = to_specs(some_history(), true);
    for (const setting& s : k_settings) {
      const oracle o = told(s, history);
      for (const auto& [what, n] : o.counts) ++met[what];
      if (!o.stopped.empty()) ++met["stopped"];
    }
  }));
  constexpr int k_usual = 100;
  if (histories < k_usual) GTEST_SKIP() << "a few histories need not meet everything";
  for (const char* what : {"applied", "duplicate", "stale", "ignored", "malformed", "conflict", "too_old",
                           "id_reused", "stopped"}) {
    EXPECT_GT(met[what], 0) << what;
  }
}

}  // namespace
}  // namespace ratchet::testing
