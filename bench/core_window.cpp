// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <vector>

#include "core/window.hpp"

// Items are records. Every partition's time grows alike, which is the dear case: the floor moves all the
// time.

namespace ratchet {
namespace {

void bm_window(benchmark::State& state) {
  stream_state s;
  std::vector<partition_state*> partitions;
  partitions.reserve(static_cast<std::size_t>(state.range(0)));
  for (std::int32_t i = 0; i < state.range(0); ++i) {
    partitions.push_back(&s.partitions[{"payments", static_cast<partition_id>(i)}]);
  }
  window_floor floor{s, std::chrono::hours{24}};
  std::int64_t ms = 0;
  const timestamp cap{std::chrono::milliseconds{std::int64_t{1} << 50U}};
  for (auto _ : state) {
    for (partition_state* p : partitions) {
      floor.handled(*p, timestamp{std::chrono::milliseconds{++ms}}, cap);
      benchmark::DoNotOptimize(floor.is_below(timestamp{std::chrono::milliseconds{ms}}));
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(bm_window)->ArgName("partitions")->Arg(1)->Arg(8)->Arg(64)->Arg(512);

}  // namespace
}  // namespace ratchet
