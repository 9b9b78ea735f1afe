// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "app/config_values.hpp"
#include "app/control_requests.hpp"
#include "app/waiting_story.hpp"
#include "cli/read_source.hpp"
#include "decode/time_text.hpp"

namespace ratchet::cli {

namespace {

struct list_options {
  source_option source;
  output_format output{output_format::text};
  read_request request;
  std::string aggregate;
  std::string state;
  std::string older_than;
  std::string from;
  std::string to;
  std::string sequence;
  std::string after;
  std::uint64_t limit{0};
};

constexpr const char* k_sequence_form = "a number, or EPOCH:NUMBER";

std::string check_sequence(const std::string& text) {
  return sequence_of(text) ? std::string{} : std::string{"must be "} + k_sequence_form;
}

std::string check_time(const std::string& text) {
  return parse_rfc3339(text) ? std::string{} : "must be a time as in 2026-01-31T12:00:00Z";
}

/// AGGREGATE/SEQUENCE. The last slash parts them: aggregates may hold some.
std::optional<std::pair<std::string, sequence>> place_of(const std::string& text) {
  const std::size_t slash = text.rfind('/');
  if (slash == std::string::npos) return std::nullopt;
  const auto s = sequence_of(std::string_view{text}.substr(slash + 1));
  if (!s) return std::nullopt;
  return std::pair{text.substr(0, slash), *s};
}

/// What was given, as a filter. Each value has been checked.
waiting_filter filter_of(const list_options& o, const CLI::App& command) {
  waiting_filter f;
  const auto given = [&command](const char* name) { return command.get_option(name)->count() > 0; };
  if (given("--aggregate")) f.aggregate = o.aggregate;
  for (const waiting_state state : {waiting_state::parked, waiting_state::retrying, waiting_state::dead}) {
    if (o.state == name_of(state)) f.state = state;
  }
  f.reason = o.request.waiting.reason;
  if (given("--older-than")) {
    const auto now =
        std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
    f.seen_before = now - parse_duration(o.older_than).value_or(std::chrono::milliseconds{0});
  }
  if (given("--from")) f.from = parse_rfc3339(o.from);
  if (given("--to")) f.to = parse_rfc3339(o.to);
  if (given("--sequence")) f.sequence = sequence_of(o.sequence);
  if (given("--limit")) f.limit = o.limit;
  if (given("--after")) f.after = place_of(o.after);
  return f;
}

void add_filter_options(CLI::App& command, list_options& o) {
  command.add_option("--aggregate", o.aggregate, "Those of this aggregate")->type_name("A");
  command.add_option("--state-is", o.state, "Those in this state; all of an aggregate that is held are dead")
      ->check(CLI::IsMember({"parked", "retrying", "dead"}));
  command
      .add_option("--reason", o.request.waiting.reason,
                  "Those with this reason (gap, epoch, behind, ready, limit, reducer), or with this in their "
                  "error")
      ->type_name("TEXT");
  command.add_option("--older-than", o.older_than, "Those first seen so long ago or longer, as in 1h")
      ->type_name("DURATION")
      ->check([](const std::string& text) {
        return parse_duration(text) ? std::string{} : "must be a duration as in 90s, 15m, 1h or 7d";
      });
  command.add_option("--from", o.from, "Those whose time is this or later")
      ->type_name("TIME")
      ->check(check_time);
  command.add_option("--to", o.to, "Those whose time is before this")->type_name("TIME")->check(check_time);
  command.add_option("--sequence", o.sequence, "Those with this sequence")
      ->type_name("N")
      ->check(check_sequence);
  command.add_option("--limit", o.limit, "So many at most")->type_name("N")->check(CLI::PositiveNumber);
  command.add_option("--after", o.after, "Those behind this one, to go on where a list ended")
      ->type_name("AGGREGATE/SEQUENCE")
      ->check([](const std::string& text) {
        return place_of(text) ? std::string{} : "must be AGGREGATE/SEQUENCE, as in p-1001/7";
      });
}

void add_list(CLI::App& waiting, command_line& line) {
  const auto o = std::make_shared<list_options>();
  o->request.kind = read_request::kind_of::waiting_list;
  CLI::App* command = waiting.add_subcommand("list", "List the events that wait, and why");
  add_source_options(*command, o->source);
  add_output_option(*command, o->output);
  command->add_option("STREAM", o->request.stream, "The stream's name; without it every stream");
  add_filter_options(*command, *o);
  command->footer(
      "In the order of aggregate and sequence, a line each; what is given must all fit. --from and --to are "
      "of\n"
      "the event's own time, or its record's. A reason is gap (what is missing is named), epoch, behind "
      "(earlier\n"
      "ones of its aggregate wait), ready (the next step takes it), limit (its aggregate is held) or "
      "reducer.\n"
      "Asks the running instance, or reads the directory where none runs. Exit code 0 also where none "
      "waits.\n"
      "Example:\n  ratchet waiting list -c ratchet.yaml payments --state-is dead --older-than 1h");
  command->callback([o, command, &line] {
    require_source(o->source);
    if (!o->after.empty() && o->request.stream.empty()) {
      throw CLI::RequiredError{"STREAM: --after is a place in one stream, so that it"};
    }
    o->request.json = o->output == output_format::json;
    o->request.waiting = filter_of(*o, *command);
    line.status = answer(o->source, o->request);
  });
}

struct show_options {
  source_option source;
  output_format output{output_format::text};
  read_request request;
  std::string sequence;
};

void add_show(CLI::App& waiting, command_line& line) {
  const auto o = std::make_shared<show_options>();
  o->request.kind = read_request::kind_of::waiting_show;
  CLI::App* command = waiting.add_subcommand("show", "Print one event that waits, with its bytes");
  add_source_options(*command, o->source);
  add_output_option(*command, o->output);
  command->add_option("STREAM", o->request.stream, "The stream's name")->required();
  command->add_option("AGGREGATE", o->request.aggregate, "The aggregate's id")->required();
  command->add_option("SEQUENCE", o->sequence, std::string{"The event's: "} + k_sequence_form)
      ->required()
      ->check(check_sequence);
  command->footer(
      "Asks the running instance, or reads the directory where none runs. Exit code 1: no such event waits.\n"
      "Example:\n  ratchet waiting show -c ratchet.yaml payments p-1001 7");
  command->callback([o, &line] {
    require_source(o->source);
    o->request.json = o->output == output_format::json;
    o->request.sequence = sequence_of(o->sequence).value_or(sequence{});
    line.status = answer(o->source, o->request);
  });
}

}  // namespace

void add_waiting_command(CLI::App& root, command_line& line) {
  CLI::App* waiting = root.add_subcommand("waiting", "Look at events that cannot be handled yet");
  waiting->require_subcommand(1);
  add_list(*waiting, line);
  add_show(*waiting, line);
  waiting->footer(
      "Parked events came before their turn, retrying ones will be tried again, dead ones wait for you.\n"
      "Example:\n  ratchet waiting list -c ratchet.yaml");
}

}  // namespace ratchet::cli
