// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "cli/sniff_command.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/config_option.hpp"
#include "cli/record_sample.hpp"
#include "core/reducers.hpp"
#include "kafka/kafka_source.hpp"
#include "sniff/sniff_report.hpp"
#include "streams/stream_definition.hpp"

namespace ratchet::cli {

namespace {

constexpr std::chrono::seconds k_sample_patience{20};

struct sniff_arguments {
  config_option config;
  std::vector<std::string> brokers;
  std::string stream;
  std::string name;
  std::size_t records{300};
};

[[nodiscard]] problem usage(std::string message, std::string hint) {
  return {make_error_code(errc::usage), std::move(message), std::move(hint), {}};
}

[[nodiscard]] bool is_file(const std::string& name) {
  std::error_code unreadable;
  return name == "-" || std::filesystem::exists(name, unreadable);
}

[[nodiscard]] reported<record_sample> read_topic(const sniff_arguments& a, kafka_config kafka) {
  if (!a.brokers.empty()) kafka.brokers = a.brokers;
  if (kafka.brokers.empty()) {
    return usage("there is no file " + a.name + ", and no brokers are named to look for a topic of this name",
                 "as in ratchet sniff --brokers localhost:9092 " + a.name);
  }
  kafka.group = "ratchet-sniff";  // nobody joins it, and nothing is committed
  kafka_source_options options;
  options.memory_bytes = std::size_t{32} << 20U;
  options.wants_headers = true;
  RATCHET_TRY(const std::unique_ptr<source> from, make_kafka_source(kafka, options));
  auto sample = sample_topic(*from, a.name, a.records, k_sample_patience);
  const auto complaint = from->take_complaint();
  from->close(std::chrono::seconds{1});
  if (sample) return std::move(sample).value();
  return problem{sample.error(),
                 "the topic " + a.name +
                     " could not be read: " + (complaint ? complaint->text : sample.error().message()),
                 "name an existing file, or check --brokers and the topic's name",
                 {}};
}

/// What the stream would make of records, of which there is one at least: plain lines have no times of their
/// own.
[[nodiscard]] sniff::config_share share_of(const stream_config& stream,
                                           const std::vector<sniff::sniffed_record>& records) {
  stream_definition definition{stream, reducer{replace_reducer{}}};
  definition.decode.time_stands_for_record = records.front().where.topic.empty();
  return sniff::share_of(stream.name, definition.decode, records);
}

/// What each stream of the config would make of the records that are its own.
[[nodiscard]] reported<std::vector<sniff::config_share>> shares_of(
    const sniff_arguments& a, const config& c, const std::vector<sniff::sniffed_record>& records) {
  std::vector<sniff::config_share> out;
  std::string names;
  for (const stream_config& s : c.streams) names += (names.empty() ? "" : ", ") + s.name;
  bool is_known = a.stream.empty();
  for (const stream_config& s : c.streams) {
    is_known = is_known || s.name == a.stream;
    if (!takes_events(s) || (!a.stream.empty() && s.name != a.stream)) continue;
    const bool is_only = c.streams.size() == 1 || !a.stream.empty();
    std::vector<sniff::sniffed_record> own;
    for (const sniff::sniffed_record& r : records) {
      const bool reads = std::find(s.topics.begin(), s.topics.end(), r.where.topic) != s.topics.end();
      if (reads || is_only) own.push_back(r);
    }
    if (!own.empty()) out.push_back(share_of(s, own));
  }
  if (!is_known) return usage("there is no stream `" + a.stream + "`", "the config has: " + names);
  if (out.empty()) {
    return usage("no stream of the config reads these records", "name one with --stream: " + names);
  }
  return out;
}

/// Whether the suggested config takes the records that it was made from.
[[nodiscard]] std::string trial_of(const std::string& text,
                                   const std::vector<sniff::sniffed_record>& records) {
  const auto suggested = parse_config(text, "suggested");
  if (!suggested || suggested.value().streams.empty() || records.empty()) return {};
  return sniff::words_of_trial(share_of(suggested.value().streams.front(), records));
}

[[nodiscard]] reported<std::string> look(const sniff_arguments& a) {
  config c;
  const bool has_config = !a.config.file.empty();
  if (has_config) {
    RATCHET_TRY(c, load(a.config));
  }
  record_sample sample;
  const bool file = is_file(a.name);
  if (file) {
    RATCHET_TRY(sample, sample_file(a.name, a.records));
  } else {
    for (const std::string& p : a.config.overrides.kafka_properties) {
      const std::size_t at = p.find('=');
      if (at == std::string::npos)
        return usage("-X " + p + " has no value", "as in -X security.protocol=ssl");
      c.kafka.properties[p.substr(0, at)] = p.substr(at + 1);
    }
    RATCHET_TRY(sample, read_topic(a, c.kafka));
  }
  std::vector<sniff::config_share> shares;
  if (has_config && !sample.records.empty()) {
    RATCHET_TRY(shares, shares_of(a, c, sample.records));
  }
  sniff::sniff_request request;
  request.name = a.name;
  request.topic = file ? (sample.records.empty() ? "" : sample.records.front().where.topic) : a.name;
  request.brokers = a.brokers.empty() ? c.kafka.brokers : a.brokers;
  request.lines_that_are_no_json = sample.not_json;
  request.lines_that_are_arrays = sample.arrays;
  const std::string text = sniff::report_on(request, sample.records, shares);
  return text + trial_of(text, sample.records);
}

}  // namespace

void add_sniff_command(CLI::App& root, command_line& line) {
  const auto a = std::make_shared<sniff_arguments>();
  CLI::App* command =
      root.add_subcommand("sniff", "Look at some records of a topic or file, and suggest a config");
  CLI::Option* config = add_config_option(*command, a->config, config_need::optional);
  command->add_option("--brokers", a->brokers, "Brokers of the topic, if the config names none")
      ->delimiter(',');
  command->add_option("-S,--stream", a->stream, "The stream of the config")->needs(config);
  command->add_option("--records", a->records, "How many records to look at")
      ->check(CLI::Range(std::size_t{1}, std::size_t{10'000}))
      ->capture_default_str();
  command->add_option("NAME", a->name, "A topic, or a file of lines; - is standard input")->required();
  command->footer(
      "Lines may be JSON values, or the output of `kcat -C -J`. It writes nothing, joins no group and "
      "commits nothing.\nThe output is a complete config with the findings in its comments. With -c it also "
      "shows what this config would\nmake of the records.\nExit codes: 0 done, 1 there are no records, "
      "64 neither file nor brokers, 69 no broker answers, 74 a\nfile cannot be read, 78 there is no such "
      "topic.\nExample:\n  ratchet sniff "
      "--brokers localhost:9092 payment-status > ratchet.yaml");
  command->callback([a, &line] {
    auto text = look(*a);
    if (!text) {
      line.status = report(text.error());
      return;
    }
    std::fwrite(text.value().data(), 1, text.value().size(), stdout);
    line.status = text.value().ends_with("there are no records to look at\n") ? 1 : 0;
  });
}

}  // namespace ratchet::cli
