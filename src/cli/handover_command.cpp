// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>
#include <string_view>
#include <utility>

#include "cli/read_source.hpp"
#include "control/client.hpp"
#include "control/handover_request.hpp"
#include "text/byte_sink.hpp"

namespace ratchet::cli {

namespace {

struct handover_options {
  source_option source;
  output_format output{output_format::text};
};

reported<void> ask(const handover_options& o, const byte_sink& sink) {
  RATCHET_TRY(const auto directory, directory_of(o.source));
  RATCHET_TRY(auto client, connect_to(directory));
  if (!client) {
    return problem{errc::source_unavailable,
                   "no instance is running on " + directory.path.string(),
                   "type it where the owner runs; an instance that is stopped owns nothing",
                   {}};
  }
  constexpr std::chrono::seconds k_patience{90};  // longer than the instance's own
  client->wait_longer({k_patience, k_patience});
  return client->ask(to_words(handover_request{o.output == output_format::json}), sink);
}

}  // namespace

void add_handover_command(CLI::App& root, command_line& line) {
  const auto options = std::make_shared<handover_options>();
  CLI::App* command =
      root.add_subcommand("handover", "Give the replicated state to the standby, and stand by behind it");
  add_source_options(*command, options->source);
  add_output_option(*command, options->output);
  command->footer(
      "Asks the running instance, which must own the state, and waits until another one does. Nothing is "
      "lost, and this\ninstance goes on as its standby. Exit code 69 if it is a standby itself (not_owner), "
      "or if the group has no\nother instance that has read the log (no_standby); nothing changes "
      "then.\nExample: before the machine is restarted\n  ratchet handover -c ratchet.yaml");
  command->callback([options, &line] {
    require_source(options->source);
    standard_output out;
    const auto done = ask(*options, [&](std::string_view piece) { return out.write(piece); });
    line.status = done ? out.end() : report(done.error());
  });
}

}  // namespace ratchet::cli
