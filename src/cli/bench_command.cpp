// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/bench_latency.hpp"
#include "cli/bench_run.hpp"
#include "cli/command.hpp"
#include "cli/config_option.hpp"
#include "cli/count_option.hpp"
#include "cli/descriptor_limit.hpp"
#include "cli/progress_bar.hpp"
#include "text/json_writer.hpp"
#include "workload/workload_kafka.hpp"
#include "workload/workload_oracle.hpp"
#include "workload/workload_sink.hpp"
#include "workload/workload_stream.hpp"

namespace ratchet::cli {

namespace {

/// What is done: pairs of runs, or one part of them in a process of its own.
enum class bench_part { pairs, fill, raw, state, latency };

struct bench_arguments {
  workload_dials dials;
  std::string brokers;
  std::string topic;
  std::uint32_t partitions{8};
  int runs{3};
  std::string directory;
  output_format output{output_format::text};
  ratchet::order order{order::latest};
  std::optional<double> late;  ///< not given: none in strict order, where each would be a gap
  bool every_step{false};
  bool no_dedup{false};
  bool inspect{false};
  bench_part part{bench_part::pairs};
  std::string group;
  std::string session_timeout_ms;
  std::uint64_t memory_limit{0};
  std::uint64_t kill_at{0};
  double per_second{1'000};
  int seconds{20};
};

/// One pair of runs over the same topic: the client library alone, then the whole way to durable state.
struct pair_of_runs {
  raw_run raw;
  state_run state;
  [[nodiscard]] double ratio() const noexcept { return state.per_second() / raw.per_second(); }
  [[nodiscard]] double cpu_per_million() const noexcept {
    return state.used.cpu_seconds * 1e6 / static_cast<double>(state.handled);
  }
};

[[nodiscard]] double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

[[nodiscard]] bench_setup setup_of(const bench_arguments& a) {
  bench_setup setup;
  setup.group = a.group;
  setup.state = a.directory;
  setup.order = a.order;
  setup.every_step = a.every_step;
  setup.dedup = !a.no_dedup;
  setup.memory_limit = a.memory_limit;
  setup.session_timeout_ms = a.session_timeout_ms;
  return setup;
}

[[nodiscard]] reported<pair_of_runs> run_pair(const bench_arguments& a, const kafka_target& target, int run) {
  RATCHET_TRY(const raw_run raw, run_raw(target, a.dials.events));
  bench_setup setup = setup_of(a);
  setup.group += "-" + std::to_string(run);
  setup.state /= "state-" + std::to_string(run);
  RATCHET_TRY(const state_outcome outcome, run_state(setup, target, {a.dials.events, {}, {}}));
  std::error_code ignored;
  std::filesystem::remove_all(setup.state, ignored);
  return pair_of_runs{raw, outcome.run};
}

void print_text(const std::vector<pair_of_runs>& runs) {
  std::printf("\n%12s %14s %8s %16s\n", "raw", "durable state", "ratio", "cpu s/M events");
  std::vector<double> raw;
  std::vector<double> state;
  std::vector<double> ratio;
  for (const pair_of_runs& r : runs) {
    std::printf("%10.0f/s %12.0f/s %8.3f %16.2f\n", r.raw.per_second(), r.state.per_second(), r.ratio(),
                r.cpu_per_million());
    raw.push_back(r.raw.per_second());
    state.push_back(r.state.per_second());
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
    out.begin_object().key("raw").raw(json_of(r.raw)).key("state").raw(json_of({r.state, {}}));
    out.key("ratio").raw(std::to_string(r.ratio())).end_object();
  }
  std::puts(out.end_array().end_object().text().c_str());
}

[[nodiscard]] reported<workload_oracle> load_topic(const bench_arguments& a, const kafka_target& target) {
  RATCHET_TRY(auto stream, workload_stream::make(a.dials));
  workload_oracle oracle{stream};
  RATCHET_TRY(const auto sink, make_kafka_sink(target));
  progress_bar bar{"loading the topic", stream.dials().events, "records"};
  RATCHET_TRY(fill(*sink, stream, oracle, [&bar](std::uint64_t done) {
    bar.update(done);
    return true;
  }));
  return oracle;
}

[[nodiscard]] reported<std::vector<pair_of_runs>> run_pairs(bench_arguments& a, kafka_target& target) {
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
  RATCHET_TRY(load_topic(a, target));
  std::vector<pair_of_runs> runs;
  for (int run = 0; run < a.runs; ++run) {
    RATCHET_TRY(const pair_of_runs figures, run_pair(a, target, run));
    std::fprintf(stderr, "run %d: raw %.0f/s, durable state %.0f/s, ratio %.3f\n", run + 1,
                 figures.raw.per_second(), figures.state.per_second(), figures.ratio());
    runs.push_back(figures);
  }
  return runs;
}

/// Fills the topic, and tells what whoever handles it right ends up with.
[[nodiscard]] reported<std::string> fill_topic(const bench_arguments& a, const kafka_target& target) {
  RATCHET_TRY(create_target(target));
  RATCHET_TRY(const auto oracle, load_topic(a, target));
  workload_digest digest;
  oracle.each(
      [&digest](std::string_view aggregate, std::string_view snapshot) { digest.row(aggregate, snapshot); });
  json_writer out;
  out.begin_object().key("records").number(oracle.records()).key("aggregates").number(digest.rows());
  return out.key("digest").number(digest.sum()).end_object().take();
}

[[nodiscard]] reported<std::string> run_part(const bench_arguments& a, const kafka_target& target) {
  if (a.part == bench_part::fill) return fill_topic(a, target);
  if (a.part == bench_part::raw) {
    RATCHET_TRY(const raw_run run, run_raw(target, a.dials.events));
    return json_of(run);
  }
  if (a.part == bench_part::latency) {
    RATCHET_TRY(create_target(target));
    latency_options options;
    options.per_second = a.per_second;
    options.time = std::chrono::seconds{a.seconds};
    RATCHET_TRY(const latency_figures figures, run_latency(setup_of(a), target, a.dials, options));
    return json_of(figures);
  }
  state_run_options options{a.dials.events, {}, {}};
  if (a.kill_at != 0) options.kill_at = a.kill_at;
  if (a.inspect) options.flush_into = std::filesystem::absolute(a.directory + ".flushed");
  RATCHET_TRY(const state_outcome outcome, run_state(setup_of(a), target, options));
  return json_of(outcome);
}

/// A part works on what earlier ones left and leaves what later ones need, so that all must have names.
[[nodiscard]] std::optional<problem> missing_name(const bench_arguments& a) {
  const auto needs = [](const char* option) {
    return problem{errc::usage, std::string{"--only needs "} + option, "see ratchet bench --help", {}};
  };
  if (a.brokers.empty()) return needs("--brokers");
  if (a.topic.empty()) return needs("--topic");
  const bool has_state = a.part == bench_part::state || a.part == bench_part::latency;
  if (has_state && a.directory.empty()) return needs("--state");
  return std::nullopt;
}

[[nodiscard]] int bench_one_part(bench_arguments& a) {
  if (auto missing = missing_name(a)) return report(*missing);
  auto json = run_part(a, {a.brokers, a.topic, a.partitions, {}});
  if (!json) return report(json.error());
  std::puts(json->c_str());
  return 0;
}

[[nodiscard]] int bench_pairs(bench_arguments& a) {
  const bool own_directory = a.directory.empty();
  if (own_directory) {
    // A name that can be guessed could be somebody's link to where only we may write.
    a.directory = (std::filesystem::temp_directory_path() / "ratchet-bench-XXXXXX").string();
    if (::mkdtemp(a.directory.data()) == nullptr)
      return report({errc::io, "cannot make a directory " + a.directory, {}, {}});
  }
  if (a.topic.empty()) a.topic = "ratchet-bench-" + std::to_string(::getpid());
  kafka_target target{a.brokers, a.topic, a.partitions, {}};
  auto runs = run_pairs(a, target);
  std::error_code ignored;
  if (own_directory) std::filesystem::remove_all(a.directory, ignored);
  if (!runs) return report(runs.error());
  a.output == output_format::json ? print_json(a, *runs) : print_text(*runs);
  return 0;
}

[[nodiscard]] int run_bench(bench_arguments& a) {
  lift_descriptor_limit();
  if (a.group.empty()) a.group = "ratchet-bench-" + std::to_string(::getpid());
  if (a.late || a.order == order::strict) a.dials.late = a.late.value_or(0.0);
  a.dials.start = start_for_end_now(a.dials);
  return a.part == bench_part::pairs ? bench_pairs(a) : bench_one_part(a);
}

void add_dials(CLI::App& command, bench_arguments& a) {
  workload_dials& dials = a.dials;
  const auto add = [&](const char* name, auto& value, const char* text) {
    return command.add_option(name, value, text)->capture_default_str();
  };
  add("--events", dials.events, "Records")->check(check_count);
  add("--aggregates", dials.aggregates, "Payments")->check(check_count);
  add("--introduction", dials.introduction, "Share of the stream by which every payment had its first event");
  add("--zipf", dials.zipf, "How unevenly payments get events");
  add("--duplicates", dials.duplicates, "Share of repeated records");
  command.add_option(
      "--late", a.late,
      "Share of new events that come after a newer one of their payment: in strict order each\n"
      "is a gap that closes. By default 0.1, with --order strict 0");
  command.add_flag(
      "--withhold", dials.withhold,
      "The first event of each payment comes at the end: until then all others wait, in strict order");
  add("--size", dials.size, "Bytes of a value, about");
  add("--rate", dials.rate, "Records in a second of the stream's own time");
  add("--seed", dials.seed, "The same seed gives the same records");
}

void add_parts(CLI::App& command, bench_arguments& a) {
  const char* group = "One part alone";
  const std::map<std::string, bench_part> parts{{"fill", bench_part::fill},
                                                {"raw", bench_part::raw},
                                                {"state", bench_part::state},
                                                {"latency", bench_part::latency}};
  command
      .add_option("--only", a.part,
                  "fill, raw, state or latency: do this part alone, in this process, and print its\n"
                  "figures as JSON. Needs --brokers, --topic and, for the last two, --state, which is kept")
      ->transform(CLI::CheckedTransformer(parts, CLI::ignore_case).description("PART"))
      ->group(group);
  command.add_flag("--inspect", a.inspect, "state: afterwards flush it into DIR.flushed and read it")
      ->group(group);
  command.add_option("--group", a.group, "state: the consumer group; by default one of its own")
      ->group(group);
  command.add_option("--session-timeout-ms", a.session_timeout_ms, "state: session.timeout.ms")->group(group);
  command.add_option("--per-second", a.per_second, "latency: how many records are sent, evenly")
      ->check(CLI::Range(1.0, 1e6))
      ->capture_default_str()
      ->group(group);
  command.add_option("--seconds", a.seconds, "latency: for how long, after 3 s to warm up")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str()
      ->group(group);
  command.add_option("--kill-at", a.kill_at, "state: SIGKILL to itself when so many records are durable")
      ->group(group);
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
  const std::map<std::string, order> orders{{"latest", order::latest}, {"strict", order::strict}};
  command->add_option("--order", a->order, "The stream's order: latest (the default) or strict")
      ->transform(CLI::CheckedTransformer(orders, CLI::ignore_case).description("ORDER"));
  add_dials(*command, *a);
  command->add_option("--memory-limit", a->memory_limit, "memory_limit, as in 2GiB; by default Ratchet's own")
      ->transform(CLI::AsSizeValue(false));
  command->add_flag("--sync-every-step", a->every_step, "Sync the log after each step, not once per 100 ms");
  command->add_flag("--no-dedup", a->no_dedup, "Keep no event ids (dedup: off)");
  add_parts(*command, *a);
  add_output_option(*command, a->output);
  command->footer(
      "raw: assign() from the beginning, every record dropped, first record to last. durable state: from the "
      "first\n"
      "record to the last batch synced, with every guarantee. Both over the same topic in turn; machines are "
      "noisy,\n"
      "so compare the ratio.\n"
      "Example: ratchet bench --brokers localhost:9092 --events 2000000");
  command->callback([a, &line] { line.status = run_bench(*a); });
}

}  // namespace ratchet::cli
