// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <rocksdb/db.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "replicate/chain.hpp"
#include "replicate/row_buffer.hpp"
#include "scratch.hpp"
#include "store/engine/pending_rows.hpp"
#include "store/layout/layout.hpp"
#include "store/replica.hpp"
#include "store/rocks_open.hpp"
#include "store/rocks_store.hpp"
#include "store/step/row_sink.hpp"
#include "store/step/step_writer.hpp"

/// What a replica's rows cost: while they are pending, and when they are applied. Keys have 40 bytes and
/// values 250, as those of aggregates with small snapshots.
namespace ratchet {
namespace {

constexpr std::size_t k_step_rows = 1000;
constexpr std::size_t k_keys = 200'000;

std::vector<std::string> make_keys() {
  std::vector<std::string> keys;
  keys.reserve(k_keys);
  for (std::size_t i = 0; i < k_keys; ++i) {
    std::string key;
    char name[40];
    std::snprintf(name, sizeof name, "payment-%012zu-abcdef01234", i * 7919 % k_keys);
    layout::append_aggregate_key(key, stream_id{1}, k_instance_slot, name);
    keys.push_back(std::move(key));
  }
  return keys;
}
const std::vector<std::string>& keys() {
  static const std::vector<std::string> made = make_keys();
  return made;
}

/// Steps of random keys, one behind the other, as often as wanted.
std::vector<pending_rows::step_bytes> make_steps(family f, std::size_t count) {
  std::vector<pending_rows::step_bytes> steps;
  std::mt19937_64 random{42};
  const std::string value(250, 'v');
  for (std::size_t n = 0; n < count; ++n) {
    replicate::row_buffer rows;
    for (std::size_t i = 0; i < k_step_rows; ++i)
      rows.put(static_cast<std::uint8_t>(f), keys()[random() % k_keys], value);
    steps.push_back(std::make_shared<const std::string>(rows.release()));
  }
  return steps;
}

/// Adds a step, asks for each of its rows, and lets the oldest go, with so many rows in flight.
void bm_pending(benchmark::State& state, family f, bool ordered) {
  const std::size_t in_flight = static_cast<std::size_t>(state.range(0)) / k_step_rows;
  const auto steps = make_steps(f, in_flight + 64);
  pending_rows rows;
  std::uint64_t number = 0;
  std::mt19937_64 random{7};
  std::vector<const std::string*> asked(k_step_rows);
  const auto add = [&] {
    rows.add(number, steps[number % steps.size()]);
    ++number;
  };
  while (rows.steps() < in_flight) add();
  if (ordered) benchmark::DoNotOptimize(rows.in_order(f).size());
  std::size_t found = 0;
  for (auto _ : state) {
    state.PauseTiming();
    for (const std::string*& key : asked) key = &keys()[random() % k_keys];
    state.ResumeTiming();
    for (const std::string* key : asked) found += rows.find(f, *key) ? 1U : 0U;
    add();
    rows.release_oldest();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(k_step_rows));  // items are rows
  state.counters["found"] =
      static_cast<double>(found) / static_cast<double>(state.iterations()) / static_cast<double>(k_step_rows);
}
BENCHMARK_CAPTURE(bm_pending, by_hash, family::sequences, false)->ArgName("rows")->Arg(8000)->Arg(64000);
BENCHMARK_CAPTURE(bm_pending, in_order, family::waiting, true)->ArgName("rows")->Arg(8000)->Arg(64000);

/// A row from one buffer to another: the least that a row costs.
void bm_row_buffer(benchmark::State& state) {
  const auto steps = make_steps(family::sequences, 64);
  std::uint64_t number = 0;
  replicate::row_buffer to;
  for (auto _ : state) {
    to.clear();
    replicate::row_cursor from{*steps[number++ % steps.size()]};
    for (replicate::row r; from.next(r);) to.put(r.family, r.key, r.value);
    benchmark::DoNotOptimize(to.bytes().data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(k_step_rows));  // items are rows
}
BENCHMARK(bm_row_buffer);

std::unique_ptr<store> open_scratch(const scratch& room, bool replicated, benchmark::State& state) {
  store_options options;
  options.path = room.path;
  options.streams = {{"payments", {}}};
  options.writes = write_on::owner_thread;
  options.replicated = replicated;
  auto opened = open_store(options);
  if (opened) return std::move(*opened);
  state.SkipWithError(opened.error().message.c_str());
  return nullptr;
}

/// The same rows into the database: put into a batch and written, as a store does without a log.
void bm_written_directly(benchmark::State& state) {
  const auto steps = make_steps(family::sequences, 64);
  const scratch room;
  const auto opened = open_scratch(room, false, state);
  if (!opened) return;
  database& db = database_of(*opened);
  std::uint64_t number = 0;
  rocksdb::WriteBatch batch;
  std::vector<std::vector<std::pair<std::string, std::string>>> rows;
  for (const auto& bytes : steps) {
    auto& of_step = rows.emplace_back();
    replicate::row_cursor from{*bytes};
    for (replicate::row r; from.next(r);) of_step.emplace_back(r.key, r.value);
  }
  for (auto _ : state) {
    batch.Clear();
    put_step(batch, db, ++number);
    row_sink to{db, batch};
    for (const auto& [key, value] : rows[number % rows.size()]) to.put(family::sequences, key, value);
    if (!db.db().Write({}, &batch).ok()) state.SkipWithError("write failed");
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(k_step_rows));  // items are rows
}
BENCHMARK(bm_written_directly)->Iterations(3000)->MeasureProcessCPUTime();

/// Confirmed steps, `at_once` in a write.
void bm_applied(benchmark::State& state) {
  const auto steps = make_steps(family::sequences, 64);
  const scratch room;
  const auto opened = open_scratch(room, true, state);
  if (!opened) return;
  replica& into = *replica_of(*opened);
  const auto at_once = static_cast<std::size_t>(state.range(0));
  replicate::log_position at;
  at.lineage = hash128{1, 2};
  at.epoch = {1, 0};
  at.writer = 1;
  at.chain = replicate::founding_chain(*at.lineage, 0);
  std::vector<confirmed_rows> confirmed;
  for (auto _ : state) {
    state.PauseTiming();
    confirmed.clear();
    for (std::size_t i = 0; i < at_once; ++i) {
      const std::string& rows = *steps[at.step % steps.size()];
      ++at.step;
      ++at.offset;
      at.chain = replicate::next_chain(at.chain, rows);
      confirmed.push_back({at, rows, layout::k_schema_version});
    }
    state.ResumeTiming();
    const auto refused = into.apply(confirmed);
    if (!refused || refused.assume_value()) state.SkipWithError("not applied");
  }
  state.SetItemsProcessed(state.iterations() *
                          static_cast<std::int64_t>(k_step_rows * at_once));  // items are rows
}
BENCHMARK(bm_applied)->ArgName("at_once")->Arg(1)->Iterations(3000)->MeasureProcessCPUTime();
BENCHMARK(bm_applied)->ArgName("at_once")->Arg(8)->Iterations(375)->MeasureProcessCPUTime();

}  // namespace
}  // namespace ratchet
