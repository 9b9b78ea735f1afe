// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <string>

#include "cli/command.hpp"
#include "cli/config_option.hpp"
#include "config/text.hpp"
#include "core/shown_text.hpp"
#include "kafka/settings.hpp"
#include "text/json_writer.hpp"
#include "text/units.hpp"

namespace ratchet::cli {

namespace {

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

struct validate_options {
  config_option config;
  output_format output{output_format::text};
};

void write_diagnostic(json_writer& json, const diagnostic& d) {
  json.begin_object();
  json.key("file").string(d.file);
  json.key("line").number(d.line);
  json.key("column").number(d.column);
  json.key("path").string(d.path);
  json.key("message").string(d.message);
  json.key("hint").string(d.hint);
  json.end_object();
}

std::string errors_as_json(const problem& p) {
  json_writer json;
  json.begin_object().key("valid").boolean(false);
  json.key("message").string(p.message);
  json.key("errors").begin_array();
  for (const diagnostic& d : p.diagnostics) write_diagnostic(json, d);
  json.end_array().end_object();
  return json.take() + "\n";
}

std::string summary_as_json(const config& c) {
  json_writer json;
  json.begin_object().key("valid").boolean(true).key("streams").begin_array();
  for (const stream_config& stream : c.streams) {
    json.begin_object();
    json.key("name").string(stream.name);
    json.key("does").string(describe(stream));
    json.key("cannot").begin_array();
    for (const std::string& limit : limits_of(stream)) json.string(limit);
    json.end_array().end_object();
  }
  json.end_array().key("warnings").begin_array();
  for (const diagnostic& d : c.warnings) write_diagnostic(json, d);
  json.end_array().end_object();
  return json.take() + "\n";
}

std::string summary_as_text(const config& c) {
  std::string text;
  append_line(text, c.file.string() + " is valid; state in " + c.state.path.string() + ", memory up to " +
                        format_size(c.memory_limit));
  for (const stream_config& stream : c.streams) {
    append_line(text, "  " + describe(stream));
    for (const std::string& limit : limits_of(stream)) append_line(text, "    mind: " + limit);
  }
  if (c.http) append_line(text, "  http on " + to_text(*c.http) + ": /livez, /readyz, /metrics");
  for (const diagnostic& d : c.warnings) {
    append_line(text, "  mind: " + d.path + ": " + d.message + "; " + d.hint);
  }
  return text;
}

/// The config, once librdkafka has also said that the properties go together and their files can be used.
reported<config> load_and_check(const config_option& option) {
  RATCHET_TRY(auto loaded, load(option));
  if (loaded.kafka.brokers.empty()) return loaded;
  RATCHET_TRY(check_settings(loaded.kafka, loaded.memory_limit));
  return loaded;
}

int validate(const validate_options& options) {
  const reported<config> loaded = load_and_check(options.config);
  const bool json = options.output == output_format::json;
  if (loaded) {
    print(json ? summary_as_json(loaded.value()) : summary_as_text(loaded.value()));
    return 0;
  }
  if (!json) return report(loaded.error());
  print(errors_as_json(loaded.error()));
  return exit_code(loaded.error().code);
}

std::string versions() {
  return "ratchet " RATCHET_VERSION
         "\n"
         "built with librdkafka " RATCHET_RDKAFKA_VERSION ", RocksDB " RATCHET_ROCKSDB_VERSION
         ", simdjson " RATCHET_SIMDJSON_VERSION ", yaml-cpp " RATCHET_YAML_VERSION
         ", Boost " RATCHET_BOOST_VERSION ", xxHash " RATCHET_XXHASH_VERSION ", ISA-L " RATCHET_ISAL_VERSION
         ", OpenSSL " RATCHET_OPENSSL_VERSION ", spdlog " RATCHET_SPDLOG_VERSION ", CLI11 " CLI11_VERSION
         "\n";
}

}  // namespace

void add_config_commands(CLI::App& root, command_line& line) {
  std::string version_text = versions();
  version_text.pop_back();  // CLI11 ends the line
  root.set_version_flag("--version", version_text, "Print the versions and exit");

  CLI::App* init = root.add_subcommand("init", "Print a commented config to start from");
  init->footer("Example:\n  ratchet init > ratchet.yaml");
  init->callback([] { print(std::string{config_template()}); });

  const auto options = std::make_shared<validate_options>();
  CLI::App* check =
      root.add_subcommand("validate", "Find every error in a config, and show what the config does");
  add_config_option(*check, options->config);
  add_output_option(*check, options->output);
  check->footer(
      "librdkafka's own properties are checked by librdkafka; brokers are not asked.\n"
      "Exit codes: 0 valid, 74 the file cannot be read, 78 it has errors.\n"
      "Example:\n  ratchet validate -c ratchet.yaml --set memory_limit=2GiB");
  check->callback([options, &line] { line.status = validate(*options); });

  CLI::App* version = root.add_subcommand("version", "Print the versions of ratchet and of its libraries");
  version->footer("Example:\n  ratchet version");
  version->callback([] { print(versions()); });
}

}  // namespace ratchet::cli
