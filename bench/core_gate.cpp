// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "ratchet/gate.hpp"

// Items are events.

namespace ratchet {
namespace {

std::vector<gate_facts> facts(std::size_t events, int duplicate_pct) {
  std::mt19937_64 random{42};
  std::vector<gate_facts> out(events);
  for (gate_facts& f : out) {
    const bool is_duplicate = static_cast<int>(random() % 100) < duplicate_pct;
    const std::uint64_t last = random() % 1000;
    f.last = seq(last);
    f.incoming = seq(is_duplicate ? last - random() % (last + 1) : last + 1);
    f.id_seen = is_duplicate;
    f.same_id_as_last = is_duplicate && f.incoming == *f.last;
  }
  return out;
}

void bm_gate(benchmark::State& state, order o) {
  const auto stream = facts(4096, static_cast<int>(state.range(0)));
  const gate_rules rules{.order = o};
  for (auto _ : state) {
    for (const gate_facts& f : stream) benchmark::DoNotOptimize(decide(rules, f));
  }
  state.SetItemsProcessed(state.iterations() * std::ssize(stream));
}
BENCHMARK_CAPTURE(bm_gate, latest, order::latest)->ArgName("duplicate_pct")->Arg(0)->Arg(20)->Arg(90);
BENCHMARK_CAPTURE(bm_gate, strict, order::strict)->ArgName("duplicate_pct")->Arg(0)->Arg(20)->Arg(90);
BENCHMARK_CAPTURE(bm_gate, arrival, order::arrival)->ArgName("duplicate_pct")->Arg(0)->Arg(20)->Arg(90);

}  // namespace
}  // namespace ratchet
