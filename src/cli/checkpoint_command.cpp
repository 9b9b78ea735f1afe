// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "cli/read_source.hpp"
#include "control/checkpoint_request.hpp"
#include "control/client.hpp"
#include "store/open/checkpoint.hpp"
#include "text/byte_sink.hpp"

namespace ratchet::cli {

namespace {

/// A checkpoint on another file system is copied: as long as that may take. A daemon that dies ends the wait.
constexpr std::chrono::hours k_patience{24};

struct checkpoint_options {
  source_option source;
  output_format output{output_format::text};
  std::filesystem::path target;
};

reported<void> take(const directory_to_read& from, const checkpoint_request& request, const byte_sink& sink) {
  RATCHET_TRY(auto client, connect_to(from));
  if (client) {
    client->wait_longer({k_patience, k_patience});
    return client->ask(to_words(request), sink);
  }
  RATCHET_TRY(check_group(from));
  const system_clock_port clock;
  auto taken = checkpoint_directory(from.path, request.target, clock.now());
  if (!taken) {
    return explain_busy(std::move(taken).error(), k_of_silent_instance);
  }
  sink(checkpoint_report(taken.value(), request.json));
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

int checkpoint(const checkpoint_options& options) {
  const auto directory = directory_of(options.source);
  if (!directory) return report(directory.error());
  std::error_code code;
  const std::filesystem::path target = std::filesystem::absolute(options.target, code);
  if (code || options.target.empty())
    return report(
        {errc::usage, "no directory is named", "name the directory to make, as in /backup/ratchet", {}});
  standard_output out;
  const auto done = take(directory.value(), {target, options.output == output_format::json},
                         [&](std::string_view piece) { return out.write(piece); });
  return done ? out.end() : report(done.error());
}

}  // namespace

void add_checkpoint_command(CLI::App& root, command_line& line) {
  const auto options = std::make_shared<checkpoint_options>();
  CLI::App* command = root.add_subcommand("checkpoint", "Copy the whole state as of one step");
  add_source_options(*command, options->source);
  add_output_option(*command, options->output);
  command->add_option("DIR", options->target, "The directory to make; it must not exist, or be empty")
      ->required();
  command->footer(
      "Asks the running instance, which goes on meanwhile; works on a stopped directory, too. Files are "
      "linked if DIR is on\nthe same file system, else copied. DIR gets its name only when it is complete "
      "and durable.\nA checkpoint is marked as a copy: get, scan, status, explain and verify read it with "
      "--state DIR. `run` refuses it\nwhile the group has claims of the original store, until `run --resume "
      "takeover`.\nExample:\n  ratchet checkpoint -c ratchet.yaml /backup/ratchet-$(date +%F)");
  command->callback([options, &line] {
    require_source(options->source);
    line.status = checkpoint(*options);
  });
}

}  // namespace ratchet::cli
