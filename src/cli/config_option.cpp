// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "cli/config_option.hpp"

#include <map>
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
  const std::map<std::string, output_format> words{{"text", output_format::text},
                                                   {"json", output_format::json}};
  command.add_option("--output", output, "How to print: text (default) or json")
      ->transform(CLI::CheckedTransformer(words))
      ->option_text("text|json");
}

reported<config> load(const config_option& option) {
  return load_config(option.file, option.overrides);
}

}  // namespace ratchet::cli
