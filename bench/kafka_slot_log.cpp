// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "kafka/kafka_slot_log.hpp"

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kafka/admin.hpp"
#include "replicate/log_owner.hpp"
#include "replicate/row_buffer.hpp"

/// A replicated log: rows of 300 bytes from an owner to the brokers, confirmed; and back through a reader
/// that checks every step. `cpu_us_row` is the processor time of this process for a row, with librdkafka's
/// threads and without making the rows; the brokers' is not in it. RATCHET_BENCH_BROKERS names the cluster,
/// as brought up by tools/kafka; the embedded broker would be this process, too.
namespace ratchet {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t k_rows = 1'000'000;
constexpr std::size_t k_steps_under_way = 64;
constexpr std::size_t k_step_bytes = replicate::k_chunk_bytes;
constexpr std::uint32_t k_layout = 6;

/// User and system time of this process so far, in microseconds.
double cpu_microseconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_usec);
  };
  return of(used.ru_utime) + of(used.ru_stime);
}

std::string number(std::uint64_t value, std::size_t digits) {
  std::string text = std::to_string(value);
  return text.size() < digits ? std::string(digits - text.size(), '0') + text : text.substr(0, digits);
}

/// Steps of about k_step_bytes each, whose rows are like the snapshot of a payment. Made before anything is
/// measured.
std::vector<std::string> make_steps() {
  std::vector<std::string> steps;
  replicate::row_buffer rows;
  std::uint64_t noise = 88172645463325252ULL;
  const auto next = [&noise] {
    noise ^= noise << 13U;
    noise ^= noise >> 7U;
    noise ^= noise << 17U;
    return noise >> 16U;
  };
  for (std::int64_t i = 0; i < k_rows; ++i) {
    std::string value = R"({"id":"p)" + number(static_cast<std::uint64_t>(i) % 200'000, 8) +
                        R"(","status":")" + (next() % 2 == 0 ? "captured" : "authorized") + R"(","amount":)" +
                        std::to_string(next() % 100'000) + R"(,"currency":"EUR","reference":")" +
                        number(next(), 14) + number(next(), 14) + R"(","channel":"card","note":")";
    while (value.size() < 282) value += number(next(), 8);
    value.resize(282);
    value += "\"}";
    rows.put(1, "p" + number(static_cast<std::uint64_t>(i) % 200'000, 9),
             value);  // 300 B with its key and lengths
    if (rows.bytes().size() + 300 > k_step_bytes || i + 1 == k_rows) steps.push_back(rows.release());
  }
  return steps;
}

struct measured {
  double cpu_us_row{0};
  double seconds{0};
};

replicate::owner_options options() {
  replicate::owner_options with;
  with.reading.newest_layout = k_layout;
  with.layout = k_layout;
  with.new_lineage = {1, 1};
  with.apply = [](const replicate::confirmed_step&) {};
  return with;
}

/// Takes reports, and reads what the owner wants.
bool serve(replicate::log_owner& owner, slot_log& log) {
  for (const append_report& each : log.reports()) {
    if (each.failed) return false;
    owner.acknowledged(each.ticket, each.offset);
  }
  const auto wanted = owner.wants();
  if (!wanted) {
    log.stop_reading();
    return true;
  }
  const auto got = log.read(*wanted);
  if (!got) return false;
  std::int64_t next = wanted->first;
  for (const slot_record& each : got.value().entries) {
    owner.read_through(next, each.offset - 1);
    if (!owner.read(each.offset, each.bytes)) return true;
    next = each.offset + 1;
  }
  owner.read_through(next, got.value().through);
  return owner.phase() != replicate::owner_phase::stopped;
}

bool lead(replicate::log_owner& owner, slot_log& log) {
  owner.assigned(1);
  log.append(owner.make_fence(7));
  for (int i = 0; i < 3000 && owner.phase() != replicate::owner_phase::leading; ++i) {
    if (!serve(owner, log)) return false;
    log.wait(10ms);
  }
  return owner.phase() == replicate::owner_phase::leading;
}

bool write(replicate::log_owner& owner, slot_log& log, std::vector<std::string> steps, measured& to) {
  const auto begin = std::chrono::steady_clock::now();
  const double before = cpu_microseconds();
  std::vector<replicate::append_request> records;
  const std::uint64_t count = steps.size();
  for (std::string& rows : steps) {
    while (!log.has_room() || owner.pending_steps() >= k_steps_under_way) {
      if (!serve(owner, log)) return false;
      log.wait(10ms);
    }
    records.clear();
    if (!owner.append_step(std::move(rows), records)) return false;
    for (replicate::append_request& each : records) log.append(std::move(each));
    if (!serve(owner, log)) return false;
  }
  while (owner.reader().position().step < count) {
    if (!serve(owner, log)) return false;
    log.wait(10ms);
  }
  to.cpu_us_row = (cpu_microseconds() - before) / static_cast<double>(k_rows);
  to.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return true;
}

bool follow(replicate::log_owner& standby, slot_log& log, std::uint64_t last, measured& to) {
  const auto begin = std::chrono::steady_clock::now();
  const double before = cpu_microseconds();
  while (standby.reader().position().step < last) {
    if (!serve(standby, log)) return false;
    log.wait(10ms);
  }
  to.cpu_us_row = (cpu_microseconds() - before) / static_cast<double>(k_rows);
  to.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return true;
}

void bm_slot_log(benchmark::State& state, const char* compression) {
  const char* brokers = std::getenv("RATCHET_BENCH_BROKERS");
  if (brokers == nullptr) return state.SkipWithError("RATCHET_BENCH_BROKERS names no brokers");
  const std::vector<std::string> steps = make_steps();
  std::size_t bytes = 0;
  for (const std::string& each : steps) bytes += each.size();
  kafka_slot_log_options with;
  with.compression = compression;
  measured writing;
  measured reading;
  for (auto _ : state) {
    const std::string topic =
        "bench-" + std::to_string(std::chrono::system_clock::now().time_since_epoch().count());
    if (!create_topic(brokers, topic, 1)) return state.SkipWithError("the topic could not be made");
    measured write_now;
    measured read_now;
    bool good = true;
    {
      auto log = make_kafka_slot_log({{brokers}, "", {}}, {topic, partition_id{0}}, with);
      if (!log) return state.SkipWithError("make_kafka_slot_log failed");
      replicate::log_owner owner{options()};
      good = lead(owner, *log.value()) && write(owner, *log.value(), steps, write_now);
    }
    {
      auto log = make_kafka_slot_log({{brokers}, "", {}}, {topic, partition_id{0}}, with);
      if (!log) return state.SkipWithError("make_kafka_slot_log failed");
      replicate::log_owner standby{options()};
      good = good && follow(standby, *log.value(), steps.size(), read_now);
    }
    (void)delete_topic(brokers, topic);
    if (!good) return state.SkipWithError("the log did not go on");
    state.SetIterationTime(write_now.seconds);
    writing.cpu_us_row += write_now.cpu_us_row;
    reading.cpu_us_row += read_now.cpu_us_row;
    reading.seconds += read_now.seconds;
  }
  const auto runs = static_cast<double>(state.iterations());
  state.SetItemsProcessed(state.iterations() * k_rows);  // items are rows
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
  state.counters["cpu_us_row"] = writing.cpu_us_row / runs;
  state.counters["follow_cpu_us_row"] = reading.cpu_us_row / runs;
  state.counters["follow_rows_s"] = static_cast<double>(k_rows) * runs / reading.seconds;
}
BENCHMARK_CAPTURE(bm_slot_log, none, "none")->UseManualTime()->Iterations(3)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(bm_slot_log, lz4, "lz4")->UseManualTime()->Iterations(3)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ratchet
