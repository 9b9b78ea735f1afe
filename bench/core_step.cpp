// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/reducers.hpp"
#include "core/step.hpp"
#include "core_workload.hpp"

// Items are events. The rows that a store would have are looked up beforehand and not timed.

namespace ratchet::bench {
namespace {

constexpr std::size_t k_step = 5000;
const timestamp k_now{std::chrono::milliseconds{1'800'000'000'000}};

/// One step's input, with the state that the steps before it left.
struct prepared {
  std::span<const decoded_event> events;
  stream_state before;
  step_plan plan;
  step_rows rows;
};

/// Runs the whole stream once and keeps the input of each step.
std::vector<prepared> prepare(const workload& w, const stream_rules& rules, const reducer& reduce) {
  std::vector<prepared> out;
  std::unordered_map<std::string_view, aggregate_row> rows;
  std::set<std::tuple<std::string_view, std::uint64_t, std::uint64_t>> ids;
  stream_state state;
  for (std::size_t at = 0; at < w.events.size(); at += k_step) {
    prepared p;
    p.events = std::span{w.events}.subspan(at, std::min(k_step, w.events.size() - at));
    p.before = state;
    p.plan = plan_step(rules, reduce.traits(), p.events);
    for (const std::string_view aggregate : p.plan.aggregates) {
      const auto known = rows.find(aggregate);
      p.rows.aggregates.push_back(known == rows.end() ? std::nullopt : std::optional{known->second});
      if (!p.plan.needs_snapshots && p.rows.aggregates.back()) p.rows.aggregates.back()->snapshot.clear();
    }
    for (const id_of_aggregate& id : p.plan.ids) {
      const auto key = std::tuple{p.plan.aggregates[id.aggregate], id.id.high, id.id.low};
      p.rows.id_stored.push_back(ids.contains(key) ? 1 : 0);
    }
    const auto change = run_step(rules, reduce, state, p.events, p.plan, p.rows, k_now);
    for (const aggregate_change& row : change.rows) rows[p.plan.aggregates[row.aggregate]] = row.row;
    for (const id_of_aggregate& id : change.ids) {
      ids.emplace(p.plan.aggregates[id.aggregate], id.id.high, id.id.low);
    }
    state = change.after;
    out.push_back(std::move(p));
  }
  return out;
}

workload stream_of(benchmark::State& state) {
  return workload{{.events = 40 * k_step, .duplicate_pct = static_cast<int>(state.range(0))}};
}

void bm_plan_step(benchmark::State& state) {
  const workload w = stream_of(state);
  const stream_rules rules = bench_rules();
  for (auto _ : state) {
    for (std::size_t at = 0; at < w.events.size(); at += k_step) {
      benchmark::DoNotOptimize(
          plan_step(rules, replace_reducer::traits, std::span{w.events}.subspan(at, k_step)));
    }
  }
  state.SetItemsProcessed(state.iterations() * std::ssize(w.events));
}
BENCHMARK(bm_plan_step)->ArgName("duplicate_pct")->Arg(20)->Unit(benchmark::kMillisecond);

void run_steps(benchmark::State& state, order o, const reducer& reduce, bool plans) {
  const workload w = stream_of(state);
  stream_rules rules = bench_rules();
  rules.gate.order = o;
  const auto steps = prepare(w, rules, reduce);
  counters last;
  for (auto _ : state) {
    for (const prepared& p : steps) {
      if (plans) {
        const step_plan plan = plan_step(rules, reduce.traits(), p.events);
        const auto change = run_step(rules, reduce, p.before, p.events, plan, p.rows, k_now);
        benchmark::DoNotOptimize(change.rows.data());
        last = change.after.counters;
      } else {
        const auto change = run_step(rules, reduce, p.before, p.events, p.plan, p.rows, k_now);
        benchmark::DoNotOptimize(change.rows.data());
        last = change.after.counters;
      }
    }
  }
  state.SetItemsProcessed(state.iterations() * std::ssize(w.events));
  const auto share = [&last](std::uint64_t n) {
    return static_cast<double>(n) / static_cast<double>(last.consumed);
  };
  state.counters["applied"] = share(last.applied);
  state.counters["superseded"] = share(last.superseded);
  state.counters["duplicate"] = share(last.duplicate);
}

void bm_run_step(benchmark::State& state) {
  run_steps(state, order::latest, replace_reducer{}, false);
}
BENCHMARK(bm_run_step)->ArgName("duplicate_pct")->Arg(0)->Arg(20)->Arg(90)->Unit(benchmark::kMillisecond);

void bm_plan_and_run_step(benchmark::State& state) {
  run_steps(state, order::latest, replace_reducer{}, true);
}
BENCHMARK(bm_plan_and_run_step)->ArgName("duplicate_pct")->Arg(20)->Unit(benchmark::kMillisecond);

struct copies {
  outcome apply(const event& e, ratchet::state& s, effects&) const {
    s.assign(e.payload);
    return done();
  }
};

void bm_run_step_folding(benchmark::State& state) {
  const reducer_traits traits{.name = "copies", .version = 1, .full_state = false, .has_effects = false};
  run_steps(state, order::arrival, reducer{traits, copies{}}, false);
}
BENCHMARK(bm_run_step_folding)->ArgName("duplicate_pct")->Arg(20)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ratchet::bench
