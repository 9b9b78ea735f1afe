// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "cli/read_source.hpp"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "core/shown_text.hpp"
#include "core/typed_command.hpp"
#include "ports/foreign_group.hpp"
#include "store/open/read_only.hpp"
#include "text/byte_sink.hpp"

namespace ratchet::cli {

namespace {

[[nodiscard]] reported<void> must_be_of_group(const directory_to_read& directory, const read_only_store& s) {
  if (!directory.group) return BOOST_OUTCOME_V2_NAMESPACE::success();
  if (auto foreign = foreign_group(directory.path, s.group(), *directory.group)) return std::move(*foreign);
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

}  // namespace

reported<std::optional<control_client>> connect_to(const directory_to_read& directory) {
  RATCHET_TRY(auto client, control_client::connect(directory.path));
  if (client && directory.group) client->ask_of_group(*directory.group);
  return client;
}

reported<void> check_group(const directory_to_read& directory) {
  if (!directory.group) return BOOST_OUTCOME_V2_NAMESPACE::success();  // to open it takes a while
  const auto opened = open_store_read_only(directory.path);
  if (!opened) return BOOST_OUTCOME_V2_NAMESPACE::success();
  return must_be_of_group(directory, *opened.value());
}

reported<void> read_directory(
    const directory_to_read& directory,
    const std::function<reported<void>(const store_view&, const std::optional<replica_at_rest>&)>& read) {
  auto opened = open_store_read_only(directory.path);
  if (!opened) {
    return explain_busy(std::move(opened).error(), k_of_silent_instance);
  }
  RATCHET_TRY(must_be_of_group(directory, *opened.value()));
  const auto view = opened.value()->view();
  if (!view) {
    return problem{
        view.error(), "cannot read " + directory.path.string() + ": " + view.error().message(), "", {}};
  }
  return read(*view.value(), opened.value()->replica());
}

namespace {

/// The state of a standby is as old as it is behind, which no answer says. On standard error, as the answer
/// may be the bytes of a snapshot. An instance that does not know the question is no standby.
void tell_of_standby(const directory_to_read& directory) {
  if (!directory.may_be_replica) return;
  auto client = connect_to(directory);
  if (!client || !client.value()) return;
  std::string note;
  const std::vector<std::string> question{k_standby_note};
  const auto asked = client.value()->ask(question, [&note](std::string_view piece) {
    note += piece;
    return true;
  });
  if (!asked || note.empty()) return;
  std::string line;
  append_line(line, "ratchet: " + note);
  std::fputs(line.c_str(), stderr);
}

/// Asks the instance that runs on the directory; where none does, reads the directory.
reported<void> read_either(const directory_to_read& directory, const read_request& request,
                           const byte_sink& sink) {
  RATCHET_TRY(auto client, connect_to(directory));
  if (client && request.kind != read_request::kind_of::status) tell_of_standby(directory);
  if (client) return client->ask(request, sink);
  return read_directory(directory,
                        [&](const store_view& view, const std::optional<replica_at_rest>& replica) {
                          return answer_request({view, directory.streams, nullptr, replica}, request, sink);
                        });
}

}  // namespace

void add_source_options(CLI::App& command, source_option& option) {
  CLI::Option* file = add_config_option(command, option.config, config_need::optional);
  command.add_option("--state", option.state, "A state directory, instead of a config")
      ->type_name("DIR")
      ->excludes(file);
}

void require_source(source_option& option) {
  if (option.state.empty()) take_config_of_environment(option.config);
  if (option.config.file.empty() && option.state.empty()) throw CLI::RequiredError{"-c FILE or --state DIR"};
  const config_overrides& given = option.config.overrides;
  if (!option.state.empty() && (!given.set.empty() || !given.kafka_properties.empty())) {
    throw CLI::ValidationError{given.set.empty() ? "-X" : "--set",
                               "changes a config, and --state replaces the config"};
  }
}

reported<directory_to_read> directory_of(const source_option& option) {
  if (!option.state.empty()) {
    set_command_source("--state " + shell_word(option.state.string()));
    return directory_to_read{option.state};
  }
  RATCHET_TRY(const config loaded, load(option.config, config_use::state_only));
  return directory_of(loaded);
}

directory_to_read directory_of(const config& of) {
  directory_to_read found{of.state.path};
  for (const stream_config& stream : of.streams) found.streams.push_back(stream.name);
  found.group = of.kafka.group;
  found.may_be_replica = of.replicate.has_value();
  return found;
}

problem explain_busy(problem p, const char* hint) {
  if (p.code == errc::state_busy) p.hint = hint;
  return p;
}

standard_output::standard_output() {
  std::signal(SIGPIPE, SIG_IGN);  // a write then says EPIPE
}

bool standard_output::write(std::string_view bytes) {
  if (!bytes.empty()) last_ = bytes.back();
  while (!bytes.empty()) {
    const ssize_t count = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      if (errno != EPIPE) error_ = errno;
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

void standard_output::end_line_at_terminal() {
  if (last_ != '\n' && ::isatty(STDOUT_FILENO) == 1) write("\n");
}

int standard_output::end() const {
  if (error_ == 0) return 0;
  return report({errc::io, std::string{"cannot write to standard output: "} + std::strerror(error_), "", {}});
}

int answer(const source_option& source, const read_request& request) {
  const auto directory = directory_of(source);
  if (!directory) return report(directory.error());
  standard_output out;
  const auto done =
      read_either(directory.value(), request, [&](std::string_view piece) { return out.write(piece); });
  if (!done) return report(done.error());
  out.end_line_at_terminal();
  return out.end();
}

}  // namespace ratchet::cli
