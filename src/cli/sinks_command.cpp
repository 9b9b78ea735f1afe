// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "cli/busy_directory.hpp"
#include "cli/read_source.hpp"
#include "cli/why_option.hpp"
#include "control/client.hpp"
#include "control/sink_request.hpp"
#include "core/typed_command.hpp"
#include "text/byte_sink.hpp"

namespace ratchet::cli {

namespace {

struct sinks_options {
  source_option source;
  output_format output{output_format::text};
  sink_request request;
  std::uint64_t message{0};
};

reported<void> ask(const sinks_options& o, const byte_sink& sink) {
  RATCHET_TRY(const auto directory, directory_of(o.source));
  constexpr std::chrono::seconds k_opening_patience{60};
  wait_for_directory(directory.path, k_opening_patience);
  RATCHET_TRY(auto client, connect_to(directory));
  if (!client) {
    return problem{errc::source_unavailable,
                   "no instance is running on " + directory.path.string(),
                   "only a running instance can list refused messages; " + typed_command("status") +
                       " counts the unsent messages",
                   {}};
  }
  constexpr std::chrono::minutes k_patience{2};  // longer than a decision waits for the claim, and says so
  client->wait_longer({k_patience, k_patience});
  if (o.request.verb != sink_verb::list) client->tell_of_silence(say_that_it_waits);
  return client->ask(to_words(o.request), sink);
}

void run(sinks_options& o, const CLI::App& command, command_line& line) {
  require_source(o.source);
  o.request.json = o.output == output_format::json;
  const CLI::Option* message = command.get_option_no_throw("--message");
  if (message != nullptr && message->count() > 0) o.request.message = o.message;
  standard_output out;
  const auto done = ask(o, [&](std::string_view piece) { return piece.empty() || out.write(piece); });
  line.status = done ? out.end() : report(done.error());
}

CLI::App* add_verb(CLI::App& sinks, command_line& line, sink_verb verb, const char* what,
                   const std::shared_ptr<sinks_options>& o) {
  o->request.verb = verb;
  CLI::App* command = sinks.add_subcommand(name_of(verb), what);
  add_source_options(*command, o->source);
  add_output_option(*command, o->output);
  CLI::Option* name =
      command->add_option("SINK", o->request.sink, "The sink's name; topics: the messages for Kafka");
  if (verb != sink_verb::list) name->required();
  if (verb != sink_verb::list) {
    CLI::Option* message =
        command->add_option("--message", o->message, "Only this message: its number in the list")
            ->type_name("N");
    if (verb == sink_verb::skip) message->required();
  }
  if (verb == sink_verb::skip) {
    command->add_flag("--yes", o->request.act, "Do it; without --yes they are only listed");
    add_why_option(*command, o->request.why);
  }
  command->callback([o, command, &line] { run(*o, *command, line); });
  return command;
}

}  // namespace

void add_sinks_command(CLI::App& root, command_line& line) {
  CLI::App* sinks =
      root.add_subcommand("sinks", "Look at messages that a sink or a topic refuses, and decide about them");
  sinks->require_subcommand(1);
  add_verb(*sinks, line, sink_verb::list, "List the messages that are refused, and why",
           std::make_shared<sinks_options>())
      ->footer(
          "Prints one line or JSON object for each: the first refused message of each aggregate, up to 1000 "
          "of a\nsink. Refused messages are kept and tried again. Later messages of their aggregates "
          "wait.\nExample:\n  ratchet sinks list -c ratchet.yaml");
  add_verb(*sinks, line, sink_verb::retry, "Send refused messages again, now",
           std::make_shared<sinks_options>())
      ->footer(
          "Use it after the receiver was fixed.\nExample:\n  ratchet sinks retry -c ratchet.yaml receipts");
  add_verb(*sinks, line, sink_verb::skip, "Skip one refused message: it is never sent",
           std::make_shared<sinks_options>())
      ->footer(
          "Later messages of its aggregate go on. The command ends when the decision is durable. An audit "
          "row\nrecords it: see `ratchet status --audit`.\nExample:\n  ratchet sinks skip -c ratchet.yaml "
          "receipts --message 17 --yes");
  sinks->footer("Asks the running instance.\nExample:\n  ratchet sinks list -c ratchet.yaml");
}

}  // namespace ratchet::cli
