// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/read_source.hpp"
#include "control/client.hpp"
#include "core/shown_text.hpp"
#include "store/open/read_only.hpp"
#include "store/open/verify.hpp"
#include "text/counted.hpp"
#include "text/json_writer.hpp"

namespace ratchet::cli {

namespace {

struct verify_options {
  source_option source;
  output_format output{output_format::text};
};

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
    verified_stream one{stream.name, state.value().counters.consumed, 0, 0};
    const auto scanned = view.value()->scan(stream.id, [&](const scanned_row& row) {
      ++(row.row.deleted ? one.deleted : one.aggregates);
      return true;
    });
    if (!scanned) return fail(scanned.error());
    into.streams.push_back(std::move(one));
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

reported<verified> verify_directory(const directory_to_read& directory) {
  const std::filesystem::path& path = directory.path;
  constexpr const char* k_stop_first =
      "stop the instance first: verify needs a directory that does not change";
  RATCHET_TRY(const auto running, control_client::connect(path));
  if (running) {
    return problem{errc::state_busy, "an instance is running on " + path.string(), k_stop_first, {}};
  }
  RATCHET_TRY(check_group(directory));
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
  for (const std::string& finding : v.findings) append_line(text, finding);
  if (!v.findings.empty()) return text;
  append_line(text, path.string() + " is clean at step " + std::to_string(v.step));
  for (const verified_stream& stream : v.streams) {
    std::string line = "  stream " + stream.name + ": " + counted(stream.consumed, "record") + " consumed, " +
                       counted(stream.aggregates, "aggregate");
    if (stream.deleted != 0) line += ", " + std::to_string(stream.deleted) + " deleted";
    append_line(text, line);
  }
  return text;
}

int verify(const verify_options& options) {
  const auto directory = directory_of(options.source);
  if (!directory) return report(directory.error());
  const auto checked = verify_directory(directory.value());
  if (!checked) return report(checked.error());
  standard_output out;
  out.write(options.output == output_format::json
                ? verified_as_json(checked.value())
                : verified_as_text(directory.value().path, checked.value()));
  const std::size_t findings = checked.value().findings.size();
  if (findings == 0) return out.end();
  return report({errc::check_failed,
                 directory.value().path.string() + " has " + std::to_string(findings) +
                     (findings == 1 ? " finding" : " findings"),
                 "keep a copy of the directory; a start with --resume rebuild builds a new state from Kafka",
                 {}});
}

}  // namespace

void add_verify_command(CLI::App& root, command_line& line) {
  const auto options = std::make_shared<verify_options>();
  CLI::App* command =
      root.add_subcommand("verify", "Check every checksum and invariant of a state directory");
  add_source_options(*command, options->source);
  add_output_option(*command, options->output);
  command->footer(
      "Works on a directory that no instance has open, and changes nothing in it.\n"
      "Exit codes: 0 clean, 1 there are findings, one line each on standard output.\n"
      "Example:\n  ratchet verify --state /var/lib/ratchet");
  command->callback([options, &line] {
    require_source(options->source);
    line.status = verify(*options);
  });
}

}  // namespace ratchet::cli
