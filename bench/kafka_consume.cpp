// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "kafka/admin.hpp"
#include "kafka/embedded_broker.hpp"
#include "kafka/kafka_source.hpp"
#include "kafka/raw_consume.hpp"
#include "kafka/record_producer.hpp"

/// Records from the brokers into this process: the client library alone, and through the source in batches of
/// 5000. RATCHET_BENCH_BROKERS names a real cluster (as brought up by tools/kafka); without it the embedded
/// broker serves, which is no measure of a real one: it sends one message set per partition and fetch.
namespace ratchet {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t k_record_bytes = 420;
constexpr std::size_t k_batch_records = 5000;

struct filled_topic {
  std::unique_ptr<embedded_broker> embedded;
  std::string brokers;
  std::string topic;
  int partitions{0};
  int records{0};
};

template <class T>
void must(const T& done) {
  if (!done) throw std::runtime_error{"the broker could not be prepared"};
}

filled_topic fill() {
  filled_topic filled;
  filled.topic = "bench-" + std::to_string(std::chrono::system_clock::now().time_since_epoch().count());
  if (const char* named = std::getenv("RATCHET_BENCH_BROKERS"); named != nullptr) {
    filled.brokers = named;
    filled.partitions = 8;
    filled.records = 2'000'000;
    must(create_topic(filled.brokers, filled.topic, filled.partitions));
  } else {
    filled.embedded = embedded_broker::start().value();
    filled.brokers = filled.embedded->bootstrap();
    filled.partitions = 64;
    filled.records = 200'000;
    must(filled.embedded->create_topic(filled.topic, filled.partitions));
  }
  auto producer = std::move(record_producer::make(filled.brokers).value());
  std::string value(k_record_bytes, ' ');
  std::uint64_t noise = 88172645463325252ULL;  // 4 bits a byte, so that lz4 halves it
  for (int i = 0; i < filled.records; ++i) {
    for (std::size_t at = 0; at < k_record_bytes; ++at) {
      noise ^= noise << 13;
      noise ^= noise >> 7;
      noise ^= noise << 17;
      value[at] = static_cast<char>('a' + (noise & 15));
    }
    must(producer->send(filled.topic, partition_id{i % filled.partitions}, std::nullopt, value));
  }
  must(producer->flush(60s));
  return filled;
}

const filled_topic& topic() {
  static const filled_topic filled = fill();
  return filled;
}

void bm_raw(benchmark::State& state) {
  const filled_topic& from = topic();
  std::int64_t records = 0;
  for (auto _ : state) {
    const auto figures = raw_consume(from.brokers, from.topic, {}, static_cast<std::uint64_t>(from.records));
    if (!figures) return state.SkipWithError("raw_consume failed");
    state.SetIterationTime(figures.value().seconds);
    records += static_cast<std::int64_t>(figures.value().records);
  }
  state.SetItemsProcessed(records);  // items are records
}
BENCHMARK(bm_raw)->UseManualTime()->Iterations(3)->Unit(benchmark::kMillisecond);

/// From the first record to the last, as in raw_consume(); the join is not measured.
double drain(source& from, const filled_topic& filled) {
  std::vector<std::string> topics{filled.topic};
  must(from.join(topics));
  std::chrono::steady_clock::time_point first;
  for (int records = 0; records < filled.records;) {
    auto got = from.poll(k_batch_records, 10s);
    must(got);
    for (const auto& n : got.value().notices) {
      if (const auto* assigned = std::get_if<notice::assigned>(&n)) {
        std::vector<position> starts;
        for (const auto& where : assigned->partitions) starts.push_back({where, 0});
        must(from.assign(starts));
      }
    }
    if (got.value().batch == nullptr) continue;
    if (records == 0) first = std::chrono::steady_clock::now();
    records += static_cast<int>(got.value().batch->records().size());
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - first).count();
}

void bm_source(benchmark::State& state) {
  const filled_topic& from = topic();
  kafka_source_options options;
  options.memory_bytes = static_cast<std::size_t>(state.range(0)) << 20;
  int run = 0;
  for (auto _ : state) {
    auto source = make_kafka_source({{from.brokers}, from.topic + std::to_string(run++), {}}, options);
    if (!source) return state.SkipWithError("make_kafka_source failed");
    state.SetIterationTime(drain(*source.value(), from));
    source.value()->close(10s);
  }
  state.SetItemsProcessed(state.iterations() * from.records);
}
BENCHMARK(bm_source)
    ->ArgName("memory_mib")
    ->Arg(64)
    ->Arg(256)
    ->Arg(1024)
    ->UseManualTime()
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ratchet
