// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "cli/read_source.hpp"
#include "control/requests.hpp"

namespace ratchet::cli {

namespace {

struct explain_options {
  source_option source;
  output_format output{output_format::text};
  read_request request;
  std::string source_of_event;
};

}  // namespace

void add_explain_command(CLI::App& root, command_line& line) {
  const auto options = std::make_shared<explain_options>();
  options->request.kind = read_request::kind_of::explain;
  CLI::App* command = root.add_subcommand("explain", "Tell what is known of an aggregate, or of an event id");
  add_source_options(*command, options->source);
  add_output_option(*command, options->output);
  command->add_option("STREAM", options->request.stream, "The stream's name")->required();
  CLI::Option* aggregate =
      command->add_option("--aggregate", options->request.aggregate, "The aggregate's id")->type_name("A");
  CLI::Option* event =
      command->add_option("--event", options->request.event, "An event's id, in place of the aggregate")
          ->type_name("ID")
          ->excludes(aggregate);
  command->add_option("--source", options->source_of_event, "With CloudEvents: the event's source")
      ->type_name("URI")
      ->needs(event);
  command->footer(
      "What was handled last, whether the window still tells a repeat, which kept rejected records name it "
      "and "
      "why, and the\naudit rows of the stream. Asks the running instance, or reads the directory where none "
      "runs.\n"
      "Exit codes: 0, 1 nothing is known (what that means is said), 64 what was given is no event id.\n"
      "Example:\n  ratchet explain -c ratchet.yaml payments --aggregate p-1001");
  command->callback([options, aggregate, event, &line] {
    require_source(options->source);
    const bool has_value = !options->request.aggregate.empty() || !options->request.event.empty();
    if (aggregate->count() + event->count() != 1 || !has_value) {
      throw CLI::RequiredError{"--aggregate A or --event ID"};
    }
    if (!options->source_of_event.empty()) {
      options->request.event = options->source_of_event + " " + options->request.event;
    }
    options->request.json = options->output == output_format::json;
    line.status = answer(options->source, options->request);
  });
}

}  // namespace ratchet::cli
