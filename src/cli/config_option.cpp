// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "cli/config_option.hpp"

#include <cstdlib>
#include <string>
#include <utility>

#include "core/typed_command.hpp"
#include "kafka/properties.hpp"

namespace ratchet::cli {

namespace {

constexpr const char* k_config_variable = "RATCHET_CONFIG";

}  // namespace

CLI::Option* add_config_option(CLI::App& command, config_option& option, config_need need) {
  CLI::Option* file = command
                          .add_option("-c,--config", option.file,
                                      "The config, a YAML file; default: the file that RATCHET_CONFIG names")
                          ->type_name("FILE")
                          ->required(need == config_need::required);
  // Where it may be left out, something else may stand in its place, which comes before the environment.
  if (need == config_need::required) file->envname(k_config_variable);
  // One value each, so that what follows stays the command's own.
  command
      .add_option("--set", option.overrides.set,
                  "Override a value of the config, as in streams[0].start=latest")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command
      .add_option("-X", option.overrides.kafka_properties,
                  "Set a librdkafka property, as in fetch.wait.max.ms=100")
      ->type_name("PROPERTY=VALUE")
      ->allow_extra_args(false);
  return file;
}

void add_output_option(CLI::App& command, output_format& output) {
  command
      .add_option_function<std::string>(
          "--output",
          [&output](const std::string& word) {
            output = word == "json" ? output_format::json : output_format::text;
          },
          "How to print: text (default) or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->option_text("text|json");
}

void take_config_of_environment(config_option& option) {
  const char* const file = std::getenv(k_config_variable);
  if (option.file.empty() && file != nullptr) option.file = file;
}

reported<config> load(const config_option& option, config_use use) {
  // In full: what a process says of itself is read in other directories.
  std::error_code failed;
  const std::filesystem::path file = std::filesystem::absolute(option.file, failed);
  std::string source = "-c " + shell_word((failed ? option.file : file).string());
  for (const std::string& one : option.overrides.set) source += " --set " + shell_word(one);
  for (const std::string& one : option.overrides.kafka_properties) {
    // A secret is refused here, and the refusal must not repeat it.
    if (!is_secret_property(one.substr(0, one.find('=')))) source += " -X " + shell_word(one);
  }
  set_command_source(std::move(source));
  return load_config(option.file, option.overrides, use);
}

}  // namespace ratchet::cli
