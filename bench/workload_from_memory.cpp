// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/memory_budget.hpp"
#include "pipeline/pipeline.hpp"
#include "scratch.hpp"
#include "store/rocks_store.hpp"
#include "workload/workload_stream.hpp"

/// All of Ratchet but Kafka: records that lie in memory become state that is durable. The stream is that of
/// bench/e2e, with half of its records: 1 M of about 420 bytes, 200,000 payments (zipf 0.8), a fifth of them
/// repeats, a tenth of the new ones late, 8 partitions, steps of 20,000, a sync each 100 ms.
namespace ratchet {
namespace {

using steady = std::chrono::steady_clock;

constexpr std::uint64_t k_records = 1'000'000;
constexpr std::uint32_t k_partitions = 8;
constexpr std::chrono::milliseconds k_sync_every{100};

/// The records, one behind the other.
class made_stream {
 public:
  made_stream() {
    workload_dials dials;
    dials.events = k_records;
    dials.aggregates = 200'000;
    dials.zipf = 0.8;
    dials.start = timestamp{std::chrono::milliseconds{1'767'225'600'000}};
    auto drawn = workload_stream::make(dials).value();
    for (std::uint32_t i = 0; i < k_partitions; ++i)
      partitions_.push_back({"payments", static_cast<partition_id>(i)});
    struct place {
      std::size_t key, value, end;
    };
    std::vector<place> places;
    std::vector<std::int64_t> next(k_partitions);
    workload_record one;
    while (drawn.next(one)) {
      const std::string key = workload_stream::key(one.event);
      const std::uint32_t partition = workload_partition(key, k_partitions);
      const std::size_t at = bytes_.size();
      bytes_ += key;
      drawn.render(one.event, bytes_);
      places.push_back({at, at + key.size(), bytes_.size()});
      record r;
      r.where = &partitions_[partition];
      r.offset = next[partition]++;
      r.time = one.time;
      records_.push_back(r);
    }
    const std::string_view all = bytes_;
    for (std::size_t i = 0; i < records_.size(); ++i) {
      const auto [key, value, end] = places[i];
      records_[i].key = all.substr(key, value - key);
      records_[i].value = all.substr(value, end - value);
    }
  }
  made_stream(const made_stream&) = delete;
  made_stream& operator=(const made_stream&) = delete;

  [[nodiscard]] std::span<const record> records() const { return records_; }

 private:
  std::vector<topic_partition> partitions_;
  std::string bytes_;
  std::vector<record> records_;
};

class borrowed_batch final : public record_batch {
 public:
  explicit borrowed_batch(std::span<const record> records) : records_{records} {}
  [[nodiscard]] std::span<const record> records() const noexcept override { return records_; }

 private:
  std::span<const record> records_;
};

config config_in(const std::filesystem::path& directory) {
  config c;
  c.kafka.group = "bench";
  c.state.path = directory;
  stream_config s;
  s.name = "payments";
  s.topics = {"payments"};
  s.envelope.event_id = "/id";
  s.envelope.aggregate = "/payment/id";
  s.envelope.sequence = "/sequence";
  s.envelope.type = "/type";
  s.envelope.time = "/occurred_at";
  s.reducer.from = "/payment";
  c.streams.push_back(std::move(s));
  return c;
}

/// From an empty directory to all records durable. `write`: on the one thread that does all else, or beside
/// it. RocksDB flushes and compacts, and the log is synced, on threads of their own in either case.
void handle_all(benchmark::State& state, const made_stream& stream, const std::filesystem::path& directory,
                write_on write) {
  const config c = config_in(directory);
  auto streams = make_streams(c, {}).value();
  task_list tasks = make_tasks(streams);
  store_options options;
  options.path = c.state.path;
  options.group = c.kafka.group;
  options.streams = meanings_of(streams);
  options.writes = write;
  const memory_budget shares = memory_budget::of(c.memory_limit);
  options.database_bytes = shares.database;
  options.remembered_bytes = shares.remembered;
  auto opened = open_store(options);
  if (!opened) return state.SkipWithError(opened.error().message.c_str());
  store& into = *opened.value();
  if (!load_tasks(streams, tasks, into)) return state.SkipWithError("the new state cannot be read");
  const system_clock_port clock;
  pipeline handling{tasks, into, clock};
  decode_stage decoding{streams};
  decoded_input input;

  const auto begin = steady::now();
  auto synced = begin;
  for (auto left = stream.records(); !left.empty();) {
    const std::size_t count = std::min(left.size(), c.step_records);
    decoding.run(std::make_unique<borrowed_batch>(left.first(count)), input);
    if (!handling.handle(input)) return state.SkipWithError("a step was not written");
    left = left.subspan(count);
    if (steady::now() - synced < k_sync_every) continue;
    synced = steady::now();
    into.request_sync();
  }
  if (!into.sync()) return state.SkipWithError("the last step was not synced");
  state.SetIterationTime(std::chrono::duration<double>(steady::now() - begin).count());
  const counters& told = tasks.front()->state.counters;
  if (told.consumed != k_records || told.consumed != told.accounted() || told.rejected() != 0)
    state.SkipWithError("not every record was handled");
}

void bm_from_memory(benchmark::State& state, write_on write) {
  static const made_stream stream;
  for (auto _ : state) {
    const scratch room;
    handle_all(state, stream, room.path, write);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(k_records));  // items are events
}
BENCHMARK_CAPTURE(bm_from_memory, one_thread, write_on::owner_thread)
    ->UseManualTime()
    ->MeasureProcessCPUTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(bm_from_memory, written_beside, write_on::own_thread)
    ->UseManualTime()
    ->MeasureProcessCPUTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ratchet
