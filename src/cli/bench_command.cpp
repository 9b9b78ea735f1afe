// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/engine.hpp"
#include "app/json_writer.hpp"
#include "app/signals.hpp"
#include "cli/command.hpp"
#include "cli/config_option.hpp"
#include "cli/descriptor_limit.hpp"
#include "cli/progress_bar.hpp"
#include "kafka/raw_consume.hpp"
#include "workload/workload_kafka.hpp"
#include "workload/workload_oracle.hpp"
#include "workload/workload_sink.hpp"
#include "workload/workload_stream.hpp"

namespace ratchet::cli {

namespace {

struct bench_arguments {
  workload_dials dials;
  std::string brokers;
  std::string topic;
  std::uint32_t partitions{8};
  int runs{3};
  std::string directory;
  output_format output{output_format::text};
  bool every_step{false};
};

/// One pair of runs over the same topic: the client library alone, then the whole way to durable state.
struct pair_of_runs {
  double raw_per_second{0};
  double state_per_second{0};
  double cpu_seconds{0};  ///< of this process during the second run, all threads
  [[nodiscard]] double ratio() const noexcept { return state_per_second / raw_per_second; }
};

[[nodiscard]] double cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

[[nodiscard]] double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

[[nodiscard]] config bench_config(const bench_arguments& a, const kafka_target& target,
                                  const std::filesystem::path& state, int run) {
  config c;
  c.kafka.brokers = {target.brokers};
  c.kafka.group = "ratchet-bench-" + std::to_string(::getpid()) + "-" + std::to_string(run);
  // Raw is measured with the same setting: it takes the wait for more records off the end of a run.
  c.kafka.properties["fetch.wait.max.ms"] = "10";
  c.state.path = state;
  c.state.sync = a.every_step ? sync_mode::every_step : sync_mode::interval;
  stream_config s;
  s.name = "payments";
  s.topics = {target.topic};
  s.start = start_position::earliest;
  s.envelope.event_id = "/id";
  s.envelope.aggregate = "/payment/id";
  s.envelope.sequence = "/sequence";
  s.envelope.type = "/type";
  s.envelope.time = "/occurred_at";
  s.reducer.from = "/payment";
  c.streams.push_back(std::move(s));
  return c;
}

[[nodiscard]] reported<pair_of_runs> run_pair(const bench_arguments& a, const kafka_target& target,
                                              const workload_oracle& oracle, int run) {
  pair_of_runs figures;
  const auto raw = raw_consume(target.brokers, target.topic, {}, oracle.records());
  if (!raw) return problem{raw.error(), "raw consumption failed: " + raw.error().message(), "", {}};
  figures.raw_per_second = static_cast<double>(raw.value().records) / raw.value().seconds;

  const std::filesystem::path state = std::filesystem::path{a.directory} / ("state-" + std::to_string(run));
  RATCHET_TRY(auto opened, engine::open(bench_config(a, target, state, run), {}, {}));
  const double cpu_before = cpu_seconds();
  const stop_signals signals;
  if (auto failed = opened->run(true, signals.requested())) return std::move(*failed);
  figures.cpu_seconds = cpu_seconds() - cpu_before;
  const counters& c = opened->streams().front()->state.counters;
  const flow_times& times = opened->times();
  if (c.consumed != oracle.records() || c.consumed != c.accounted() || !times.first_record ||
      !times.all_durable) {
    return problem{make_error_code(errc::check_failed),
                   "the run took in " + std::to_string(c.consumed) + " of " +
                       std::to_string(oracle.records()) + " records: its figures mean nothing",
                   "look whether the topic holds other records, or whether the broker dropped some",
                   {}};
  }
  const std::chrono::duration<double> took = *times.all_durable - *times.first_record;
  figures.state_per_second = static_cast<double>(c.consumed) / took.count();
  opened.reset();
  std::error_code ignored;
  std::filesystem::remove_all(state, ignored);
  return figures;
}

void print_text(const bench_arguments& a, const std::vector<pair_of_runs>& runs) {
  std::printf("\n%12s %14s %8s %16s\n", "raw", "durable state", "ratio", "cpu s/M events");
  for (const pair_of_runs& r : runs) {
    std::printf("%10.0f/s %12.0f/s %8.3f %16.2f\n", r.raw_per_second, r.state_per_second, r.ratio(),
                r.cpu_seconds * 1e6 / static_cast<double>(a.dials.events));
  }
  std::vector<double> raw;
  std::vector<double> state;
  std::vector<double> ratio;
  for (const pair_of_runs& r : runs) {
    raw.push_back(r.raw_per_second);
    state.push_back(r.state_per_second);
    ratio.push_back(r.ratio());
  }
  std::printf("median: raw %.0f/s, durable state %.0f/s, ratio %.3f\n", median(raw), median(state),
              median(ratio));
}

void print_json(const bench_arguments& a, const std::vector<pair_of_runs>& runs) {
  json_writer out;
  out.begin_object().key("events").number(a.dials.events).key("aggregates").number(a.dials.aggregates);
  out.key("partitions").number(a.partitions).key("embedded_broker").boolean(a.brokers.empty());
  out.key("runs").begin_array();
  for (const pair_of_runs& r : runs) {
    out.begin_object().key("raw_per_second").number(static_cast<std::uint64_t>(r.raw_per_second));
    out.key("state_per_second").number(static_cast<std::uint64_t>(r.state_per_second));
    out.key("ratio").raw(std::to_string(r.ratio())).key("cpu_seconds").raw(std::to_string(r.cpu_seconds));
    out.end_object();
  }
  std::puts(out.end_array().end_object().text().c_str());
}

[[nodiscard]] reported<void> load_topic(const kafka_target& target, workload_stream& stream,
                                        workload_oracle& oracle) {
  RATCHET_TRY(const auto sink, make_kafka_sink(target));
  progress_bar bar{"loading the topic", stream.dials().events, "records"};
  return fill(*sink, stream, oracle, [&bar](std::uint64_t done) {
    bar.update(done);
    return true;
  });
}

[[nodiscard]] reported<std::vector<pair_of_runs>> bench(bench_arguments& a) {
  kafka_target target{a.brokers, a.topic, a.partitions, {}};
  std::unique_ptr<embedded_broker> embedded;
  if (a.brokers.empty()) {
    a.partitions = target.partitions = embedded_partitions(a.dials);
    RATCHET_TRY(embedded, start_embedded(target));
    std::fprintf(
        stderr,
        "broker: embedded (librdkafka's mock cluster, in this process: it takes its share of the CPU)\n");
  } else {
    RATCHET_TRY(create_target(target));
  }
  a.dials.start = start_for_end_now(a.dials);
  RATCHET_TRY(auto stream, workload_stream::make(a.dials));
  workload_oracle oracle{stream};
  RATCHET_TRY(load_topic(target, stream, oracle));
  std::vector<pair_of_runs> runs;
  for (int run = 0; run < a.runs; ++run) {
    RATCHET_TRY(const pair_of_runs figures, run_pair(a, target, oracle, run));
    std::fprintf(stderr, "run %d: raw %.0f/s, durable state %.0f/s, ratio %.3f\n", run + 1,
                 figures.raw_per_second, figures.state_per_second, figures.ratio());
    runs.push_back(figures);
  }
  return runs;
}

[[nodiscard]] int run_bench(bench_arguments& a) {
  lift_descriptor_limit();
  const bool own_directory = a.directory.empty();
  if (own_directory) {
    a.directory =
        (std::filesystem::temp_directory_path() / ("ratchet-bench-" + std::to_string(::getpid()))).string();
  }
  if (a.topic.empty()) a.topic = "ratchet-bench-" + std::to_string(::getpid());
  auto runs = bench(a);
  std::error_code ignored;
  if (own_directory) std::filesystem::remove_all(a.directory, ignored);
  if (!runs) return report(runs.error());
  a.output == output_format::json ? print_json(a, *runs) : print_text(a, *runs);
  return 0;
}

}  // namespace

void add_bench_command(CLI::App& root, command_line& line) {
  auto a = std::make_shared<bench_arguments>();
  a->dials.events = 2'000'000;
  a->dials.aggregates = 200'000;
  a->dials.zipf = 0.8;
  CLI::App* command = root.add_subcommand(
      "bench", "Measure events per second from Kafka to durable state, beside the client library alone");
  command->add_option("--brokers", a->brokers,
                      "HOST:PORT,... of a real cluster; without it the embedded broker");
  command->add_option("--topic", a->topic, "A topic to make and fill; by default one of its own name");
  command->add_option("--partitions", a->partitions, "Partitions of the topic")->capture_default_str();
  command->add_option("--runs", a->runs, "Pairs of runs")->check(CLI::Range(1, 100))->capture_default_str();
  command->add_option("--state", a->directory, "Where to put the state; by default a temporary directory");
  command->add_option("--events", a->dials.events, "Records")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--aggregates", a->dials.aggregates, "Payments")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--zipf", a->dials.zipf, "How unevenly payments get events")->capture_default_str();
  command->add_option("--duplicates", a->dials.duplicates, "Share of repeated records")
      ->capture_default_str();
  command->add_option("--size", a->dials.size, "Bytes of a value, about")->capture_default_str();
  command->add_option("--seed", a->dials.seed, "The same seed gives the same records")->capture_default_str();
  command->add_flag("--sync-every-step", a->every_step, "Sync the log after each step, not once per 100 ms");
  add_output_option(*command, a->output);
  command->footer(
      "raw: assign() from the beginning, every record dropped, first record to last. durable state: from the "
      "first\n"
      "record to the last batch synced, with every guarantee. Both over the same topic in turn; machines are "
      "noisy,\n"
      "so compare the ratio.\n"
      "Example: tools/kafka start && ratchet bench --brokers 127.0.0.1:19092 --events 2000000");
  command->callback([a, &line] { line.status = run_bench(*a); });
}

}  // namespace ratchet::cli
