// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <system_error>

#include "cli/command.hpp"
#include "cli/sniff_command.hpp"
#include "core/shown_text.hpp"
#include "process/refusal_of_thread.hpp"
#include "ratchet/error.hpp"

namespace {

constexpr int k_exit_usage = 64;  // sysexits.h; CLI11 would end with 106 and the like

[[nodiscard]] bool has_command(const CLI::App& root, const std::string& name) {
  const auto commands = root.get_subcommands([&name](const CLI::App* c) { return c->get_name() == name; });
  return !commands.empty();
}

[[nodiscard]] int no_such_command(const std::string& name) {
  return ratchet::report({ratchet::make_error_code(ratchet::errc::usage),
                          "there is no command `" + name + "`",
                          "ratchet --help lists the commands",
                          {}});
}

/// CLI11's own words for a usage error, as ratchet says everything else: what, and what to type next.
[[nodiscard]] std::string usage_error(const CLI::App* root, const CLI::Error& e) {
  const auto given = root->get_subcommands();
  std::string command;
  for (auto at = given; !at.empty(); at = at.front()->get_subcommands()) {
    command += " " + at.front()->get_name();
  }
  const std::string what = command.empty() && dynamic_cast<const CLI::RequiredError*>(&e) != nullptr
                               ? "a command is required"
                               : e.what();
  return "ratchet: " + ratchet::shown_text(what) + "\n  -> see ratchet" + command + " --help\n";
}

/// For want of memory, for one.
[[nodiscard]] int ended_by(const std::exception& thrown) {
  return ratchet::report({ratchet::make_error_code(ratchet::errc::internal),
                          std::string{"ended by an exception: "} + thrown.what(),
                          "",
                          {}});
}

/// `status`, or the exit code of an output that could not be written. A reader that has gone is no error.
[[nodiscard]] int end_of_output(int status) {
  errno = 0;
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (written || status != 0 || errno == EPIPE) return status;
  const std::string why = errno == 0 ? "" : std::string{": "} + std::strerror(errno);
  return ratchet::report(
      {ratchet::make_error_code(ratchet::errc::io), "cannot write to standard output" + why, "", {}});
}

/// A standard stream that the caller has closed would be the next file that is opened, one of the state
/// perhaps, and what is printed would go there. Opened in the other direction, so that using it still fails.
void keep_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) == -1 && errno == EBADF)
      static_cast<void>(::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

}  // namespace

int main(int argc, char** argv) {
  keep_standard_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // a write above `ulimit -f` then says EFBIG
  ratchet::cli::command_line line;
  line.arguments.assign(argv, argv + argc);
  CLI::App root{"Ratchet: from a Kafka topic to state that is right.", "ratchet"};
  root.require_subcommand(1);
  root.failure_message(usage_error);
  ratchet::cli::add_config_commands(root, line);
  ratchet::cli::add_run_commands(root, line);
  ratchet::cli::add_read_commands(root, line);
  ratchet::cli::add_explain_command(root, line);
  ratchet::cli::add_sniff_command(root, line);
  ratchet::cli::add_waiting_command(root, line);
  ratchet::cli::add_sinks_command(root, line);
  ratchet::cli::add_checkpoint_command(root, line);
  ratchet::cli::add_handover_command(root, line);
  ratchet::cli::add_topics_command(root, line);
  ratchet::cli::add_verify_command(root, line);
  ratchet::cli::add_workload_commands(root, line);
  ratchet::cli::add_bench_command(root, line);
  ratchet::cli::add_manual_commands(root, line);
  root.footer("Each command explains itself: ratchet COMMAND --help");
  try {
    root.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (argc > 1 && argv[1][0] != '-' && !has_command(root, argv[1])) return no_such_command(argv[1]);
    return root.exit(e) == 0 ? 0 : k_exit_usage;
  } catch (const std::system_error& thrown) {
    if (const auto lacks_thread = ratchet::refusal_of_thread(thrown)) return ratchet::report(*lacks_thread);
    return ended_by(thrown);
  } catch (const std::exception& thrown) {
    return ended_by(thrown);
  }
  return end_of_output(line.status);
}
