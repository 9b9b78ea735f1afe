// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <random>

#include "scratch.hpp"
#include "store/rocks_store.hpp"

namespace ratchet {
namespace {

constexpr std::size_t k_step_events = 5000;
constexpr std::uint64_t k_aggregates = 200'000;
constexpr std::size_t k_snapshot_bytes = 300;

/// One step's keys and changes, made outside of the timing. Ids are fresh UUIDv7s, a little out of order.
struct prepared_step {
  std::vector<std::string> names;
  step_plan plan;
  stream_change change;
};

void prepare(prepared_step& out, std::mt19937_64& random, std::uint64_t& event, bool needs_snapshots) {
  out.plan = {};
  out.change = {};
  out.names.clear();
  out.plan.needs_snapshots = needs_snapshots;
  for (std::size_t i = 0; i < k_step_events; ++i) {
    char name[32];
    std::snprintf(name, sizeof name, "payment-%08llu",
                  static_cast<unsigned long long>(random() % k_aggregates));
    out.names.emplace_back(name);
  }
  std::sort(out.names.begin(), out.names.end());
  out.names.erase(std::unique(out.names.begin(), out.names.end()), out.names.end());
  std::shuffle(out.names.begin(), out.names.end(), random);
  for (std::uint32_t i = 0; i < k_step_events; ++i) {
    const auto aggregate = static_cast<std::uint32_t>(i % out.names.size());
    const std::uint64_t milliseconds = 1'700'000'000'000 + event++ / 500 + random() % 100;
    const event_id id{milliseconds << 16U | 0x7000U | (random() & 0xFFFU), random()};
    out.plan.ids.push_back({aggregate, id});
    out.change.ids.push_back({aggregate, id});
  }
  for (std::uint32_t i = 0; i < out.names.size(); ++i) {
    out.plan.add(out.names[i]);
    aggregate_row row;
    row.last = seq(event);
    row.id = out.plan.ids[i].id;
    row.snapshot = std::string(k_snapshot_bytes, static_cast<char>('a' + i % 26));
    out.change.rows.push_back({i, row});
  }
}

/// Null, with the reason told, where it cannot be opened.
std::unique_ptr<store> open_scratch(const scratch& room, benchmark::State& state) {
  store_options options;
  options.path = room.path;
  options.streams = {{"payments", {}}};
  auto opened = open_store(options);
  if (opened) return std::move(*opened);
  state.SkipWithError(opened.error().message.c_str());
  return nullptr;
}

void bm_step(benchmark::State& state) {
  const scratch room;
  const auto opened = open_scratch(room, state);
  if (!opened) return;
  store& s = *opened;
  const stream_id stream = s.id_of("payments");
  std::mt19937_64 random{42};
  std::uint64_t event = 0;
  prepared_step step;
  step_rows rows;
  for (auto _ : state) {
    state.PauseTiming();
    prepare(step, random, event, state.range(0) != 0);
    step.change.after.counters.applied = event;
    step.change.after.counters.consumed = event;
    state.ResumeTiming();
    if (!s.lookup(stream, step.plan, rows)) state.SkipWithError("lookup failed");
    step_batch batch;
    batch.step = s.last_step() + 1;
    batch.parts.push_back({stream, &step.plan, &step.change, {}});
    if (!s.write(batch)) state.SkipWithError("write failed");
    if (batch.step % 20 == 0) s.request_sync();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(k_step_events));  // items are events
}
BENCHMARK(bm_step)->ArgName("snapshots_read")->Arg(0)->Arg(1)->Iterations(400)->Unit(benchmark::kMillisecond);

void bm_lookup(benchmark::State& state) {
  const scratch room;
  const auto opened = open_scratch(room, state);
  if (!opened) return;
  store& s = *opened;
  const stream_id stream = s.id_of("payments");
  std::mt19937_64 random{42};
  std::uint64_t event = 0;
  prepared_step step;
  step_rows rows;
  for (int i = 0; i < 100; ++i) {
    prepare(step, random, event, false);
    step_batch batch;
    batch.step = s.last_step() + 1;
    batch.parts.push_back({stream, &step.plan, &step.change, {}});
    if (!s.write(batch)) state.SkipWithError("write failed");
  }
  prepare(step, random, event, false);
  for (auto _ : state) {
    if (!s.lookup(stream, step.plan, rows)) state.SkipWithError("lookup failed");
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(k_step_events));  // items are events
}
BENCHMARK(bm_lookup)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ratchet
