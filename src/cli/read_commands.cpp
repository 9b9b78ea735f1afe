// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/control_client.hpp"
#include "app/control_requests.hpp"
#include "app/json_writer.hpp"
#include "cli/command.hpp"
#include "cli/config_option.hpp"
#include "store/rocks_store.hpp"

namespace ratchet::cli {

namespace {

constexpr std::size_t k_default_rejected = 20;
constexpr std::size_t k_most_rejected = 100'000;

/// Which state directory a command reads: the config's, or one by itself.
struct read_options {
  config_option config;
  std::filesystem::path state;
  output_format output{output_format::text};
  read_request request;
  std::string rejected_text;
};

struct directory_to_read {
  std::filesystem::path path;
  std::vector<std::string> streams;  ///< that the config names; none with --state
};

/// Standard output, byte for byte. A reader that has gone is no error: it has seen what it wanted.
class standard_output {
 public:
  standard_output() { std::signal(SIGPIPE, SIG_IGN); }  // a write then says EPIPE

  /// False where no more is wanted.
  bool write(std::string_view bytes) {
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
  /// The exit code of a command that has written all it had to.
  [[nodiscard]] int end() const {
    if (error_ == 0) return 0;
    return report(
        {errc::io, std::string{"cannot write to standard output: "} + std::strerror(error_), "", {}});
  }

 private:
  int error_{0};
};

reported<directory_to_read> directory_of(const read_options& options) {
  if (!options.state.empty()) return directory_to_read{options.state, {}};
  RATCHET_TRY(const config loaded, load(options.config));
  directory_to_read found{loaded.state.path, {}};
  for (const stream_config& stream : loaded.streams) found.streams.push_back(stream.name);
  return found;
}

/// The problem of a directory that could not be opened beside whoever has it open.
problem explain_busy(problem p, const char* hint) {
  if (p.code == errc::state_busy) p.hint = hint;
  return p;
}

reported<void> read_directory(const directory_to_read& directory, const read_request& request,
                              const byte_sink& sink) {
  auto opened = open_store_read_only(directory.path);
  if (!opened) {
    return explain_busy(std::move(opened).error(),
                        "an instance that is only just starting or stopping cannot be asked; try again");
  }
  const auto view = opened.value()->view();
  if (!view) {
    return problem{
        view.error(), "cannot read " + directory.path.string() + ": " + view.error().message(), "", {}};
  }
  return answer_request({*view.value(), directory.streams, nullptr}, request, sink);
}

/// Asks the instance that runs on the directory; where none does, reads the directory.
reported<void> read_either(const directory_to_read& directory, const read_request& request,
                           const byte_sink& sink) {
  RATCHET_TRY(auto client, control_client::connect(directory.path));
  return client ? client->ask(request, sink) : read_directory(directory, request, sink);
}

int read(const read_options& options) {
  const auto directory = directory_of(options);
  if (!directory) return report(directory.error());
  standard_output out;
  const auto done = read_either(directory.value(), options.request,
                                [&](std::string_view piece) { return out.write(piece); });
  return done ? out.end() : report(done.error());
}

/// What a directory without findings holds, for the last lines of verify.
struct verified_stream {
  std::string name;
  std::uint64_t consumed{0};
  std::uint64_t aggregates{0};
  std::uint64_t deleted{0};
};

struct verified {
  std::vector<std::string> findings;
  std::uint64_t step{0};
  std::vector<verified_stream> streams;
};

reported<void> count_streams(const std::filesystem::path& path, verified& into) {
  RATCHET_TRY(const auto opened, open_store_read_only(path));
  const auto fail = [&](std::error_code code) {
    return problem{code, "cannot read " + path.string() + ": " + code.message(), "", {}};
  };
  const auto view = opened->view();
  if (!view) return fail(view.error());
  into.step = view.value()->step();
  const auto streams = view.value()->streams();
  if (!streams) return fail(streams.error());
  for (const named_stream& stream : streams.value()) {
    const auto state = view.value()->load(stream.id);
    if (!state) return fail(state.error());
    verified_stream counted{stream.name, state.value().counters.consumed, 0, 0};
    const auto scanned = view.value()->scan(stream.id, [&](const scanned_row& row) {
      ++(row.row.deleted ? counted.deleted : counted.aggregates);
      return true;
    });
    if (!scanned) return fail(scanned.error());
    into.streams.push_back(std::move(counted));
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

reported<verified> verify_directory(const std::filesystem::path& path) {
  constexpr const char* k_stop_first = "stop the instance first: verify needs the directory to stand still";
  RATCHET_TRY(const auto running, control_client::connect(path));
  if (running) {
    return problem{errc::state_busy, "an instance is running on " + path.string(), k_stop_first, {}};
  }
  verified result_of;
  auto findings = verify_store(path);
  if (!findings) return explain_busy(std::move(findings).error(), k_stop_first);
  result_of.findings = std::move(findings).value();
  if (result_of.findings.empty()) {
    RATCHET_TRY(count_streams(path, result_of));
  }
  return result_of;
}

std::string verified_as_json(const verified& v) {
  json_writer json;
  json.begin_object().key("clean").boolean(v.findings.empty()).key("findings").begin_array();
  for (const std::string& finding : v.findings) json.string(finding);
  json.end_array();
  if (v.findings.empty()) {
    json.key("step").number(v.step).key("streams").begin_object();
    for (const verified_stream& stream : v.streams) {
      json.key(stream.name).begin_object().key("consumed").number(stream.consumed);
      json.key("aggregates").number(stream.aggregates).key("deleted").number(stream.deleted).end_object();
    }
    json.end_object();
  }
  json.end_object();
  return json.take() + "\n";
}

std::string verified_as_text(const std::filesystem::path& path, const verified& v) {
  std::string text;
  for (const std::string& finding : v.findings) text += finding + "\n";
  if (!v.findings.empty()) return text;
  text = path.string() + " is clean at step " + std::to_string(v.step) + "\n";
  for (const verified_stream& stream : v.streams) {
    text += "  stream " + stream.name + ": " + std::to_string(stream.consumed) + " records consumed, " +
            std::to_string(stream.aggregates) + " aggregates";
    if (stream.deleted != 0) text += ", " + std::to_string(stream.deleted) + " deleted";
    text += "\n";
  }
  return text;
}

int verify(const read_options& options) {
  const auto directory = directory_of(options);
  if (!directory) return report(directory.error());
  const auto checked = verify_directory(directory.value().path);
  if (!checked) return report(checked.error());
  standard_output out;
  out.write(options.output == output_format::json
                ? verified_as_json(checked.value())
                : verified_as_text(directory.value().path, checked.value()));
  const std::size_t findings = checked.value().findings.size();
  if (findings == 0) return out.end();
  return report(
      {errc::check_failed,
       directory.value().path.string() + " has " + std::to_string(findings) +
           (findings == 1 ? " finding" : " findings"),
       "keep a copy of the directory; a start with --resume rebuild makes the state anew from Kafka",
       {}});
}

/// -c with its overrides, or --state; one of them.
void add_source_options(CLI::App& command, read_options& options) {
  CLI::Option* file = add_config_option(command, options.config, config_need::optional);
  command.add_option("--state", options.state, "A state directory by itself, in place of a config")
      ->type_name("DIR")
      ->excludes(file);
}

/// To be called first in a command's callback.
void require_source(const read_options& options) {
  if (options.config.file.empty() && options.state.empty())
    throw CLI::RequiredError{"-c FILE or --state DIR"};
}

void add_get(CLI::App& root, command_line& line) {
  const auto options = std::make_shared<read_options>();
  options->request.kind = read_request::kind_of::get;
  CLI::App* command = root.add_subcommand("get", "Print the snapshot of an aggregate");
  add_source_options(*command, *options);
  add_output_option(*command, options->output);
  command->add_option("STREAM", options->request.stream, "The stream's name")->required();
  command->add_option("AGGREGATE", options->request.aggregate, "The aggregate's id")->required();
  command->footer(
      "Prints the snapshot's very bytes; with --output json {aggregate, sequence, event_id, time, "
      "snapshot}.\n"
      "Asks the running instance, or reads the directory where none runs. Exit code 1: there is none.\n"
      "Example:\n  ratchet get -c ratchet.yaml payments p-1001");
  command->callback([options, &line] {
    require_source(*options);
    options->request.json = options->output == output_format::json;
    line.status = read(*options);
  });
}

void add_scan(CLI::App& root, command_line& line) {
  const auto options = std::make_shared<read_options>();
  options->request.kind = read_request::kind_of::scan;
  CLI::App* command =
      root.add_subcommand("scan", "Print every aggregate of a stream, one JSON object a line");
  add_source_options(*command, *options);
  add_output_option(*command, options->output);
  command->add_option("STREAM", options->request.stream, "The stream's name")->required();
  command->add_flag("--deleted", options->request.deleted, "Print deleted aggregates, too");
  command->footer(
      "In byte order of the aggregate id, as of one moment. Each line is JSON, whatever --output says.\n"
      "Example:\n  ratchet scan -c ratchet.yaml payments | head");
  command->callback([options, &line] {
    require_source(*options);
    line.status = read(*options);
  });
}

/// `text` as given to --rejected; empty: no number was given.
std::optional<std::size_t> parse_rejected(const std::string& text) {
  if (text.empty()) return k_default_rejected;
  std::size_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || at != end || number > k_most_rejected) return std::nullopt;
  return number;
}

void add_status(CLI::App& root, command_line& line) {
  const auto options = std::make_shared<read_options>();
  options->request.kind = read_request::kind_of::status;
  CLI::App* command = root.add_subcommand("status", "Print counters, offsets and lag, and what was rejected");
  add_source_options(*command, *options);
  add_output_option(*command, options->output);
  CLI::Option* rejected =
      command
          ->add_option("--rejected", options->rejected_text,
                       "List the last N rejected records of each stream (20 if N is not given)")
          ->expected(0, 1)
          ->type_name("[N]")
          ->check([](const std::string& text) {
            return parse_rejected(text) ? std::string{}
                                        : "N must be a number up to " + std::to_string(k_most_rejected);
          });
  command->add_flag("--audit", options->request.audit,
                    "List the audit rows: what operators and starts decided");
  command->footer("Example:\n  ratchet status -c ratchet.yaml --rejected 5");
  command->callback([options, rejected, &line] {
    require_source(*options);
    options->request.json = options->output == output_format::json;
    if (rejected->count() > 0) options->request.rejected = parse_rejected(options->rejected_text);
    line.status = read(*options);
  });
}

void add_verify(CLI::App& root, command_line& line) {
  const auto options = std::make_shared<read_options>();
  CLI::App* command =
      root.add_subcommand("verify", "Check every checksum and invariant of a state directory");
  add_source_options(*command, *options);
  add_output_option(*command, options->output);
  command->footer(
      "Works on a directory that no instance has open, and changes nothing in it.\n"
      "Exit codes: 0 clean, 1 there are findings, one line each on standard output.\n"
      "Example:\n  ratchet verify --state /var/lib/ratchet");
  command->callback([options, &line] {
    require_source(*options);
    line.status = verify(*options);
  });
}

}  // namespace

void add_read_commands(CLI::App& root, command_line& line) {
  add_get(root, line);
  add_scan(root, line);
  add_status(root, line);
  add_verify(root, line);
}

}  // namespace ratchet::cli
