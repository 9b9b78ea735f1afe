// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "cli/read_source.hpp"
#include "control/requests.hpp"
#include "core/shown_id.hpp"

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
  CLI::App* command =
      root.add_subcommand("explain", "Show what the state has about an aggregate or an event id");
  add_source_options(*command, options->source);
  add_output_option(*command, options->output);
  command->add_option("STREAM", options->request.stream, "The stream's name")->required();
  CLI::Option* aggregate =
      command->add_option("--aggregate", options->request.aggregate, "The aggregate's id")->type_name("A");
  CLI::Option* event =
      command->add_option("--event", options->request.event, "An event's id, instead of the aggregate")
          ->type_name("ID")
          ->excludes(aggregate);
  command->add_option("--source", options->source_of_event, "With CloudEvents: the event's source")
      ->type_name("URI")
      ->needs(event);
  command->footer(
      "Prints the event that was handled last, whether the window still recognises a repeat, kept rejected "
      "records with their\nreasons, and audit rows. Asks the running instance, or reads the directory if "
      "none runs.\nExit codes: 0, 1 the state has nothing (with the reason), 64 the id is not an event "
      "id.\nExample:\n  ratchet explain -c ratchet.yaml payments --aggregate p-1001");
  command->callback([options, aggregate, event, &line] {
    require_source(options->source);
    const bool has_value = !options->request.aggregate.empty() || !options->request.event.empty();
    if (aggregate->count() + event->count() != 1 || !has_value) {
      throw CLI::RequiredError{"--aggregate A or --event ID"};
    }
    options->request.aggregate = given_id(options->request.aggregate);
    options->request.event = given_id(options->request.event);
    if (!options->source_of_event.empty()) {
      options->request.event = given_id(options->source_of_event) + " " + options->request.event;
    }
    options->request.json = options->output == output_format::json;
    line.status = answer(options->source, options->request);
  });
}

}  // namespace ratchet::cli
