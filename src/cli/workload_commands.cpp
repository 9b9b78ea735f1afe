// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command.hpp"
#include "cli/demo.hpp"
#include "cli/progress_bar.hpp"
#include "text/json_writer.hpp"
#include "workload/workload_kafka.hpp"
#include "workload/workload_oracle.hpp"
#include "workload/workload_sink.hpp"
#include "workload/workload_stream.hpp"
#include "workload/workload_text.hpp"

namespace ratchet::cli {
namespace {

constexpr const char* k_default_start = "2026-01-01T00:00:00Z";

struct gen_options {
  workload_dials dials;
  std::string start;
  std::string out{"-"};
  bool records{false};
  std::string topic{"payment-status"};
  std::uint32_t partitions{8};
  std::string oracle;
  std::string brokers;
  std::vector<std::string> kafka_properties;
};

using file_handle = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// "-" is standard output, which is not closed.
reported<file_handle> open_output(const std::string& path) {
  if (path == "-") return file_handle{stdout, [](std::FILE*) { return 0; }};
  file_handle file{std::fopen(path.c_str(), "wb"), &std::fclose};
  if (!file) {
    return problem{errc::io, "cannot write " + path + ": " + std::strerror(errno), {}, {}};
  }
  return file;
}

/// One line {"aggregate":…,"snapshot":…} per aggregate, in the order of `ratchet scan`.
reported<void> write_oracle(const std::string& path, const workload_oracle& oracle) {
  RATCHET_TRY(auto file, open_output(path));
  std::string line;
  oracle.each([&](std::string_view aggregate, std::string_view snapshot) {
    line = "{\"aggregate\":";
    append_json_string(line, aggregate);
    line += ",\"snapshot\":";
    line += snapshot;
    line += "}\n";
    std::fwrite(line.data(), 1, line.size(), file.get());
  });
  if (std::fflush(file.get()) != 0 || std::ferror(file.get()) != 0) {
    return problem{errc::io, "cannot write " + path, {}, {}};
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

/// A file's stream should be the same every day. In Kafka the last record should be of now, as brokers delete
/// old ones by their time.
reported<timestamp> start_of(const gen_options& options) {
  if (options.start.empty() && !options.brokers.empty()) return start_for_end_now(options.dials);
  timestamp start{};
  if (parse_rfc3339(options.start.empty() ? k_default_start : options.start, start)) return start;
  return problem{
      errc::usage, "--start " + options.start + " is not a time", "Write 2026-01-31T12:00:00Z.", {}};
}

reported<std::unique_ptr<workload_sink>> kafka_sink_of(const gen_options& options) {
  kafka_target target{options.brokers, options.topic, options.partitions, {}};
  RATCHET_TRY(target.properties, parse_properties(options.kafka_properties));
  RATCHET_TRY(find_or_create_target(target));
  return make_kafka_sink(target);
}

reported<void> generate(gen_options options) {
  RATCHET_TRY(options.dials.start, start_of(options));
  if (options.partitions == 0) return problem{errc::usage, "--partitions must be at least 1", {}, {}};
  RATCHET_TRY(auto stream, workload_stream::make(options.dials));
  workload_oracle oracle{stream};
  file_handle file{nullptr, &std::fclose};
  std::unique_ptr<workload_sink> sink;
  if (!options.brokers.empty()) {
    RATCHET_TRY(sink, kafka_sink_of(options));
  } else {
    RATCHET_TRY(file, open_output(options.out));
    sink = options.records ? make_record_line_sink(file.get(), options.topic, options.partitions)
                           : make_line_sink(file.get());
  }
  {
    progress_bar bar{"gen", options.dials.events, "records"};
    RATCHET_TRY(fill(*sink, stream, oracle, [&bar](std::uint64_t drawn) {
      bar.update(drawn);
      return true;
    }));
  }
  std::fprintf(stderr, "gen: %llu records of %llu payments, %llu of them malformed\n",
               static_cast<unsigned long long>(oracle.records()),
               static_cast<unsigned long long>(oracle.aggregates()),
               static_cast<unsigned long long>(oracle.malformed()));
  if (!options.oracle.empty()) {
    RATCHET_TRY(write_oracle(options.oracle, oracle));
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

void add_dials(CLI::App& command, workload_dials& dials) {
  const char* group = "Dials";
  const auto add = [&](const char* name, auto& value, const char* text) {
    command.add_option(name, value, text)->capture_default_str()->group(group);
  };
  add("--events", dials.events, "Records in all, repeats and malformed ones among them");
  add("--aggregates", dials.aggregates, "Payments");
  add("--introduction", dials.introduction, "Share of the stream by which every payment had its first event");
  add("--zipf", dials.zipf, "How unevenly payments get events; 0: evenly");
  add("--duplicates", dials.duplicates, "Share that repeats an earlier record, byte for byte");
  add("--late", dials.late, "Share of new events that come after a newer one of their payment");
  add("--delay", dials.delay, "How many records later a late event or a repeat comes, at most");
  command
      .add_flag(
          "--withhold", dials.withhold,
          "The first event of each payment comes at the end: until then all others wait, in strict order")
      ->group(group);
  add("--malformed", dials.malformed, "Share that cannot be decoded; at most 0.5");
  add("--conflicts", dials.conflicts, "Share that claims a number which another event has");
  add("--size", dials.size, "Bytes of a value, about");
  add("--seed", dials.seed, "The same seed gives the same records");
  add("--rate", dials.rate, "Records in a second of the stream's own time");
}

void add_gen(CLI::App& root, command_line& line) {
  auto options = std::make_shared<gen_options>();
  auto* gen = root.add_subcommand("gen", "Make up a disordered stream of payment statuses");
  add_dials(*gen, options->dials);
  gen->add_option("--start", options->start,
                  std::string{"Time of the first record [default: "} + k_default_start + "]")
      ->group("Dials");
  auto* out = gen->add_option("-o,--out", options->out, "File to write; - is standard output");
  out->capture_default_str();
  auto* records = gen->add_flag("--records", options->records,
                                "Write lines as kcat -C -J prints them, for apply --records");
  gen->add_option("--brokers", options->brokers, "Write into Kafka instead: HOST:PORT,...")
      ->excludes(out)
      ->excludes(records);
  gen->add_option("-X", options->kafka_properties, "A librdkafka property of the producer: NAME=VALUE");
  gen->add_option("--topic", options->topic, "Topic of the records; in Kafka it is created if it is missing")
      ->capture_default_str();
  gen->add_option("--partitions", options->partitions, "Partitions of the topic, unless it is there already")
      ->capture_default_str();
  gen->add_option("--oracle", options->oracle, "Also write the right final snapshots to this file");
  gen->footer(
      "Examples:\n"
      "  ratchet gen --events 100000 --seed 7 -o events.ndjson --oracle expected.ndjson\n"
      "  ratchet apply -c ratchet.yaml events.ndjson\n"
      "  ratchet gen --events 1000000 --brokers localhost:9092 --topic payment-status");
  gen->callback([options, &line] {
    if (const auto done = generate(*options); !done) line.status = report(done.error());
  });
}

void add_demo(CLI::App& root, command_line& line) {
  auto options = std::make_shared<demo_options>();
  options->dials.zipf = 0.6;  // so that no partition outgrows the embedded broker's
  options->dials.malformed = 0.001;
  auto* demo = root.add_subcommand("demo", "Run the main job while killing it, and check the state");
  add_dials(*demo, options->dials);
  demo->add_option("--kills", options->kills, "How many times SIGKILL must land while records flow")
      ->capture_default_str();
  demo->add_option("--bounces", options->bounces, "How many times the broker is killed and started again");
  demo->add_option("--bounce-with", options->bounce_with, "The shell command that does so");
  demo->add_flag("--restore", options->restore,
                 "Lose the state directory once, and go on from a checkpoint taken before");
  demo->add_option("--brokers", options->brokers,
                   "A Kafka of yours, HOST:PORT,...; without it an embedded broker is started");
  demo->add_option("-X", options->kafka_properties, "A librdkafka property of the consumer: NAME=VALUE");
  demo->add_option("--state", options->state, "Directory for the state, which is kept; must not exist yet");
  demo->add_flag("--keep", options->keep, "Keep the temporary directory with the state and the logs");
  demo->footer(
      "Examples:\n"
      "  ratchet demo\n"
      "  ratchet demo --events 1000000 --kills 10 --brokers localhost:9092");
  demo->callback([options, &line] {
    options->program = line.arguments.empty() ? "ratchet" : line.arguments.front();
    if (const auto done = run_demo(*options); !done) line.status = report(done.error());
  });
}

}  // namespace

void add_workload_commands(CLI::App& root, command_line& line) {
  add_gen(root, line);
  add_demo(root, line);
}

}  // namespace ratchet::cli
