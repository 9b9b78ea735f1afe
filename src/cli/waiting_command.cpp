// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/engine.hpp"
#include "cli/busy_directory.hpp"
#include "cli/count_option.hpp"
#include "cli/descriptor_limit.hpp"
#include "cli/log_option.hpp"
#include "cli/read_source.hpp"
#include "cli/why_option.hpp"
#include "config/file.hpp"
#include "control/client.hpp"
#include "control/requests.hpp"
#include "control/waiting_request.hpp"
#include "core/shown_id.hpp"
#include "decode/json_grammar.hpp"
#include "decode/time_text.hpp"
#include "reports/rejected_list.hpp"
#include "reports/wait_explanation.hpp"
#include "streams/stream_definition.hpp"
#include "text/byte_sink.hpp"
#include "text/units.hpp"

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
constexpr const char* k_place_form = "must be AGGREGATE/SEQUENCE, as in p-1001/7";
constexpr const char* k_position_form = "must be TOPIC/PARTITION@OFFSET, as in payment-status/0@17";
constexpr const char* k_rejected = "rejected";

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
  return std::pair{given_id(std::string_view{text}.substr(0, slash)), *s};
}

/// What was given, as a filter. Each value has been checked.
waiting_filter filter_of(const list_options& o, const CLI::App& command) {
  waiting_filter f;
  const auto given = [&command](const char* name) { return command.get_option(name)->count() > 0; };
  if (given("--aggregate")) f.aggregate = given_id(o.aggregate);
  for (const waiting_state state : {waiting_state::parked, waiting_state::retrying, waiting_state::dead}) {
    if (o.state == name_of(state)) f.state = state;
  }
  f.rejected = o.state == k_rejected;
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
  if (given("--after")) {
    f.rejected ? void(f.after_position = position_of(given_id(o.after))) : void(f.after = place_of(o.after));
    if (!f.after && !f.after_position) {
      throw CLI::ValidationError{"--after", f.rejected ? k_position_form : k_place_form};
    }
  }
  return f;
}

void add_filter_options(CLI::App& command, list_options& o) {
  command.add_option("--aggregate", o.aggregate, "Only events of this aggregate")->type_name("A");
  command
      .add_option("--state-is", o.state,
                  "Only events in this state; all events of a held aggregate are dead. rejected: only the "
                  "kept rejected records")
      ->check(CLI::IsMember({"parked", "retrying", "dead", k_rejected}));
  command
      .add_option("--reason", o.request.waiting.reason,
                  "Only events with this reason (gap, epoch, behind, ready, limit, reducer, too_old; of "
                  "rejected records malformed, conflict, too_old, late, id_reused, below_first, "
                  "sequence_mixed), or with this text in their error")
      ->type_name("TEXT");
  command
      .add_option("--older-than", o.older_than, "Only events first seen this long ago or longer, as in 1h")
      ->type_name("DURATION")
      ->check([](const std::string& text) {
        return parse_duration(text) ? std::string{} : "must be a duration as in 90s, 15m, 1h or 7d";
      });
  command.add_option("--from", o.from, "Only events with this time or later")
      ->type_name("TIME")
      ->check(check_time);
  command.add_option("--to", o.to, "Only events with a time before this")
      ->type_name("TIME")
      ->check(check_time);
  command.add_option("--sequence", o.sequence, "Only events with this sequence")
      ->type_name("N")
      ->check(check_sequence);
  command.add_option("--limit", o.limit, "At most this many")->type_name("N")->check(check_count);
  command.add_option("--after", o.after, "Only events after this place, to continue a list")
      ->type_name("AGGREGATE/SEQUENCE")
      ->check([](const std::string& text) {
        return place_of(text) || position_of(given_id(text)) ? std::string{} : k_place_form;
      });
}

void add_list(CLI::App& waiting, command_line& line) {
  const auto o = std::make_shared<list_options>();
  o->request.kind = read_request::kind_of::waiting_list;
  CLI::App* command = waiting.add_subcommand("list", "List the waiting events, and why they wait");
  add_source_options(*command, o->source);
  add_output_option(*command, o->output);
  command->add_option("STREAM", o->request.stream, "The stream's name; default: every stream");
  add_filter_options(*command, *o);
  command->footer(
      "Prints a line for each event that meets all options, by aggregate and sequence. --from and --to "
      "compare the\nevent's own time, or that of its record.\nReasons:\n  gap      numbers before it are "
      "missing; the line lists them\n  epoch    it begins a new epoch, which an operator must let in\n  "
      "behind   earlier events of its aggregate wait\n  ready    the next step takes it\n  limit    its "
      "aggregate is held\n  reducer  its reducer failed\n--state-is rejected lists rejected records by "
      "position, and --after then takes a position. `rejected` of the\nconfig limits how many are kept, and "
      "for how long.\nAsks the running instance, or reads the directory if none runs. Exit code 0 also if "
      "no event waits.\nExample:\n  ratchet waiting list -c ratchet.yaml payments --state-is dead "
      "--older-than 1h");
  command->callback([o, command, &line] {
    require_source(o->source);
    if (!o->after.empty() && o->request.stream.empty()) {
      throw CLI::RequiredError{"STREAM: --after is a place in one stream, so it"};
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
  CLI::App* command = waiting.add_subcommand("show", "Print one waiting event, with its bytes");
  add_source_options(*command, o->source);
  add_output_option(*command, o->output);
  command->add_option("STREAM", o->request.stream, "The stream's name")->required();
  command->add_option("AGGREGATE", o->request.aggregate, "The aggregate's id")->required();
  command->add_option("SEQUENCE", o->sequence, std::string{"The event's: "} + k_sequence_form)
      ->required()
      ->check(check_sequence);
  command->footer(
      "Asks the running instance, or reads the directory if none runs. Exit code 1: no such event "
      "waits.\nExample:\n  ratchet waiting show -c ratchet.yaml payments p-1001 7");
  command->callback([o, &line] {
    require_source(o->source);
    o->request.json = o->output == output_format::json;
    o->request.aggregate = given_id(o->request.aggregate);
    o->request.sequence = sequence_of(o->sequence).value_or(sequence{});
    line.status = answer(o->source, o->request);
  });
}

struct decide_options {
  list_options list;  ///< its source is a config: decisions need the stream's rules and its reducer
  waiting_request request;
  std::string with;
  bool all{false};
  log_option log;
};

/// What `--yes` would meet. On standard error, as the list may be JSON.
void tell_refusal(problem p) {
  p.message = "while no instance runs, --yes is refused: " + p.message;
  std::fputs(to_text(p).c_str(), stderr);
}

/// Asks the instance that runs; where none does, opens the directory and does it here.
reported<void> decide(const decide_options& o, const byte_sink& sink) {
  RATCHET_TRY(auto settings, load(o.list.source.config, config_use::state_only));
  constexpr std::chrono::seconds k_opening_patience{60};
  wait_for_directory(settings.state.path, k_opening_patience);
  const directory_to_read directory = directory_of(settings);
  RATCHET_TRY(auto client, connect_to(directory));
  if (client) {
    constexpr std::chrono::hours k_patience{24};  // a daemon that dies ends the wait
    client->wait_longer({k_patience, k_patience});
    client->tell_of_silence(say_that_it_waits);
    return client->ask(to_words(o.request), sink);
  }
  std::error_code code;
  if (!std::filesystem::exists(settings.state.path, code)) {
    return problem{errc::state_missing,
                   "there is no state directory " + settings.state.path.string(),
                   "run first, or name another",
                   {}};
  }
  // What is only told changes nothing: a start that writes would take the config's meaning, and discard what
  // it says is to be discarded.
  if (!o.request.act) {
    const auto streams = make_streams(settings, {});  // without the reducers of a program
    waiting_desk none;
    none.would_refuse = !streams;
    RATCHET_TRY(read_directory(directory, [&](const store_view& view, const auto&) {
      return answer_waiting(view, directory.streams, o.request, none, sink);
    }));
    if (!streams) tell_refusal(streams.error());
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }
  lift_descriptor_limit();
  auto opened =
      engine::open(std::move(settings), {}, {make_log(o.log), resume_option::none, nullptr, nullptr});
  if (!opened) {
    return explain_busy(std::move(opened).error(), k_of_silent_instance);
  }
  engine& e = *opened.value();
  pipeline way{e.tasks(), e.state(), e.clock()};
  waiting_desk desk;
  desk.act = [&e, act = actor_of(way, e.state())](
                 const std::string& stream, std::span<const pipeline::decided> all, const decider& who,
                 const still_wanted& is_wanted) -> reported<std::vector<waiting_answer>> {
    if (auto failed = e.accept_start()) return std::move(*failed);
    return act(stream, all, who, is_wanted);
  };
  desk.by = own_user_name();
  desk.look = [&e]() -> reported<std::unique_ptr<store_view>> {
    auto now = e.state().view();
    if (!now) return problem{now.error(), "cannot read the state: " + now.error().message(), "", {}};
    return std::move(now).value();
  };
  desk.pause = [](std::chrono::milliseconds) { return false; };  // what others are due for is the instance's
  RATCHET_TRY(const auto view, desk.look());
  return answer_waiting(*view, directory.streams, o.request, desk, sink);
}

/// The corrected payload. Errors: io; usage.
reported<std::string> payload_in(const std::string& path) {
  // A request is 64 KiB at most, and the event is named beside it.
  constexpr std::size_t k_most = std::size_t{48} << 10U;
  constexpr std::chrono::minutes k_patience{1};
  RATCHET_TRY(std::string bytes, read_payload_file(path, k_most, k_patience));
  if (bytes.size() > k_most)
    return problem{errc::usage, path + " is longer than 48 KiB", "send the event again instead", {}};
  while (!bytes.empty() && (bytes.back() == '\n' || bytes.back() == '\r')) bytes.pop_back();
  if (json::check_json(bytes).reason != malformed_reason::none)
    return problem{
        errc::usage, path + " is not one JSON value", "the reducer takes it as the event's payload", {}};
  return bytes;
}

/// What cannot be taken back is done to every event of a stream only where that is said.
void require_choice(const decide_options& o, const CLI::App& command) {
  constexpr const char* k_filters[] = {"--aggregate", "--state-is", "--reason", "--older-than", "--from",
                                       "--to",        "--sequence", "--limit",  "--after"};
  const bool chooses = std::any_of(std::begin(k_filters), std::end(k_filters),
                                   [&](const char* name) { return command.get_option(name)->count() > 0; });
  if (o.all && chooses)
    throw CLI::ValidationError{"--all", "cannot be combined with options that choose some events"};
  if (!o.request.act || o.request.verb == waiting_verb::replay || o.all || chooses) return;
  throw CLI::ValidationError{
      "--yes", std::string{"would "} + name_of(o.request.verb) +
                   " every waiting event of the stream: choose some, as with --aggregate, or add --all"};
}

int run_decision(decide_options& o, const CLI::App& command) {
  require_choice(o, command);
  o.request.json = o.list.output == output_format::json;
  o.request.stream = o.list.request.stream;
  o.request.filter = filter_of(o.list, command);
  if (!o.with.empty()) {
    auto payload = payload_in(o.with);
    if (!payload) return report(payload.error());
    o.request.payload = std::move(payload.value());
  }
  standard_output out;
  const auto done = decide(o, [&](std::string_view piece) { return piece.empty() || out.write(piece); });
  return done ? out.end() : report(done.error());
}

struct verb_texts {
  waiting_verb verb;
  const char* what;
  const char* footer;
};

constexpr verb_texts k_verbs[] = {
    {waiting_verb::replay, "Try events again, now, as if for the first time",
     "Tries retrying and dead events; a held aggregate goes on. Later events of the aggregate follow in "
     "order.\nPrints the result of each attempt. Exit code 1: an event was not applied.\n--with gives one "
     "dead event another payload for the reducer; an audit row records it.\nExample:\n  ratchet waiting "
     "replay -c ratchet.yaml payments --state-is dead --reason timeout --yes"},
    {waiting_verb::skip, "Skip events, or the missing numbers of a gap",
     "The last-handled sequence moves past the events, and they are removed. If they come again, they are "
     "rejected (late); in order arrival they are duplicates.\nWith --aggregate and --sequence the number may "
     "be a missing one: all numbers up to "
     "it are skipped.\nExample:\n  ratchet waiting skip -c ratchet.yaml payments --aggregate p-1001 "
     "--sequence 7 --yes"},
    {waiting_verb::discard, "Discard events",
     "The events are removed, and their numbers are open again: other events may come with these "
     "numbers.\nExample:\n  ratchet waiting discard -c ratchet.yaml payments --aggregate p-1001 --sequence 7 "
     "--yes"},
};

void add_decision(CLI::App& waiting, command_line& line, const verb_texts& texts) {
  const auto o = std::make_shared<decide_options>();
  o->request.verb = texts.verb;
  CLI::App* command = waiting.add_subcommand(name_of(texts.verb), texts.what);
  add_config_option(*command, o->list.source.config);
  add_output_option(*command, o->list.output);
  command->add_option("STREAM", o->list.request.stream, "The stream's name")->required();
  add_filter_options(*command, o->list);
  command->add_flag("--all", o->all, "Every waiting event of the stream");
  command->add_flag("--yes", o->request.act, "Do it; without --yes they are only listed");
  add_why_option(*command, o->request.why);
  if (texts.verb == waiting_verb::replay) {
    CLI::Option* with = command->add_option("--with", o->with, "The payload to try one event with")
                            ->type_name("FILE")
                            ->check(CLI::ExistingFile);
    with->needs("--aggregate")->needs("--sequence");
  }
  command->footer(
      std::string{"Choose events with the options of `waiting list`. Asks the running instance, which "
                  "answers when the decision is\ndurable; works on a stopped directory, too. An audit row "
                  "records each decision and who made it: see\n`ratchet status --audit`.\n"} +
      texts.footer);
  command->callback([o, command, &line] { line.status = run_decision(*o, *command); });
}

}  // namespace

void add_waiting_command(CLI::App& root, command_line& line) {
  CLI::App* waiting = root.add_subcommand("waiting", "Look at waiting events, and decide about them");
  waiting->require_subcommand(1);
  add_list(*waiting, line);
  add_show(*waiting, line);
  for (const verb_texts& texts : k_verbs) add_decision(*waiting, line, texts);
  waiting->footer(
      "Parked events came before their turn. Retrying events will be tried again. Dead events wait for your "
      "decision.\nExample:\n  ratchet waiting list -c ratchet.yaml");
}

}  // namespace ratchet::cli
