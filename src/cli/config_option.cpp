// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "cli/config_option.hpp"

#include <string>

namespace ratchet::cli {

CLI::Option* add_config_option(CLI::App& command, config_option& option, config_need need) {
  CLI::Option* file = command.add_option("-c,--config", option.file, "The config, a YAML file")
                          ->type_name("FILE")
                          ->required(need == config_need::required);
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

reported<config> load(const config_option& option, config_use use) {
  return load_config(option.file, option.overrides, use);
}

}  // namespace ratchet::cli
