// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cli/command.hpp"
#include "cli/count_option.hpp"
#include "cli/read_source.hpp"
#include "control/requests.hpp"
#include "core/shown_id.hpp"

namespace ratchet::cli {

namespace {

constexpr std::size_t k_default_rejected = 20;
constexpr std::size_t k_most_rejected = 100'000;

struct read_options {
  source_option source;
  output_format output{output_format::text};
  read_request request;
  std::string rejected_text;
};

CLI::Option* add_table_option(CLI::App& command, table_question& asked, const char* what) {
  return command.add_option("--table", asked.table, what)->type_name("NAME");
}

read_request of_table(table_question asked) {
  read_request request;
  request.kind = read_request::kind_of::table;
  request.table = std::move(asked);
  return request;
}

void add_get(CLI::App& root, command_line& line) {
  const auto options = std::make_shared<read_options>();
  options->request.kind = read_request::kind_of::get;
  CLI::App* command = root.add_subcommand("get", "Print the snapshot of an aggregate");
  add_source_options(*command, options->source);
  add_output_option(*command, options->output);
  CLI::Option* stream = command->add_option("STREAM", options->request.stream,
                                            "The stream's name; with --table the key of the row");
  CLI::Option* aggregate = command->add_option("AGGREGATE", options->request.aggregate, "The aggregate's id");
  CLI::Option* table = add_table_option(*command, options->request.table, "Print a row of this read model");
  command->footer(
      "Prints the bytes of the snapshot; with --output json {aggregate, sequence, event_id, time, "
      "snapshot}.\nWith --table it prints the bytes of the value, or {table, key, value}.\nAsks the running "
      "instance, or reads the directory if none runs. Exit code 1: there is no such aggregate or "
      "row.\nExample:\n  ratchet get -c ratchet.yaml payments p-1001\n  ratchet get -c ratchet.yaml --table "
      "by-customer c-7");
  command->callback([options, stream, aggregate, table, &line] {
    require_source(options->source);
    const bool json = options->output == output_format::json;
    options->request.json = json;
    if (table->count() > 0) {
      if (stream->count() == 0) throw CLI::RequiredError{"KEY"};
      if (aggregate->count() > 0) throw CLI::ExtrasError{{options->request.aggregate}};
      table_question row = options->request.table;
      row.key = given_id(options->request.stream);
      row.json = json;
      options->request = of_table(std::move(row));
    } else {
      if (stream->count() == 0) throw CLI::RequiredError{"STREAM"};
      if (aggregate->count() == 0) throw CLI::RequiredError{"AGGREGATE"};
      options->request.aggregate = given_id(options->request.aggregate);
    }
    line.status = answer(options->source, options->request);
  });
}

void add_scan(CLI::App& root, command_line& line) {
  const auto options = std::make_shared<read_options>();
  options->request.kind = read_request::kind_of::scan;
  CLI::App* command =
      root.add_subcommand("scan", "Print every aggregate of a stream, or the rows of a read model");
  add_source_options(*command, options->source);
  add_output_option(*command, options->output);
  CLI::Option* stream = command->add_option("STREAM", options->request.stream, "The stream's name");
  CLI::Option* deleted =
      command->add_flag("--deleted", options->request.deleted, "Print deleted aggregates, too");
  table_question& range = options->request.table;
  CLI::Option* table = add_table_option(*command, range, "Print the rows of this read model")
                           ->excludes(stream)
                           ->excludes(deleted);
  command->add_option("--prefix", range.prefix, "Only aggregates or keys with this beginning");
  command->add_option("--from", range.from, "With --table: from this key on")->needs(table);
  command->add_option("--limit", range.limit, "At most this many")->type_name("N")->check(check_count);
  command->footer(
      "Prints one JSON object a line, in byte order of the aggregate id, as of one moment.\n--prefix reads "
      "all aggregates before it, one by one; it finds rows of a table at once.\nWith --table each line is "
      "{key, value}, in the order of keys.\nExample:\n  ratchet scan -c ratchet.yaml payments | head\n  "
      "ratchet scan -c ratchet.yaml --table by-customer --prefix c-7/ --limit 20");
  command->callback([options, stream, table, &line] {
    require_source(options->source);
    if (table->count() == 0 && stream->count() == 0) throw CLI::RequiredError{"STREAM"};
    table_question& asked = options->request.table;
    asked.prefix = given_id(asked.prefix);
    asked.from = given_id(asked.from);
    if (table->count() > 0) options->request = of_table(std::move(asked));
    line.status = answer(options->source, options->request);
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
  CLI::App* command = root.add_subcommand("status", "Print counters, offsets and lag, and rejected records");
  add_source_options(*command, options->source);
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
  CLI::Option* audit = command->add_flag(
      "--audit", options->request.audit,
      "List the audit rows: decisions of operators and starts, and everything that was skipped");
  command
      ->add_option("--limit", options->request.audit_limit,
                   "With --audit: at most this many, and the others of the last one's step")
      ->type_name("N")
      ->needs(audit)
      ->check(check_count);
  command->add_option("--after", options->request.audit_after, "With --audit: those of later steps than this")
      ->type_name("STEP")
      ->needs(audit)
      ->check(check_count);
  command->footer(
      "Example:\n  ratchet status -c ratchet.yaml --rejected 5\n  ratchet status -c ratchet.yaml --audit "
      "--limit 1000 --after 42");
  command->callback([options, rejected, &line] {
    require_source(options->source);
    options->request.json = options->output == output_format::json;
    if (rejected->count() > 0) options->request.rejected = parse_rejected(options->rejected_text);
    line.status = answer(options->source, options->request);
  });
}

}  // namespace

void add_read_commands(CLI::App& root, command_line& line) {
  add_get(root, line);
  add_scan(root, line);
  add_status(root, line);
}

}  // namespace ratchet::cli
