// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/apply_files.hpp"
#include "app/engine.hpp"
#include "cli/busy_directory.hpp"
#include "cli/command.hpp"
#include "cli/config_option.hpp"
#include "cli/descriptor_limit.hpp"
#include "cli/explain_line.hpp"
#include "cli/log_option.hpp"
#include "cli/progress_bar.hpp"
#include "cli/why_option.hpp"
#include "core/resume.hpp"
#include "core/typed_command.hpp"
#include "process/signals.hpp"
#include "reports/status_report.hpp"
#include "text/counted.hpp"

namespace ratchet::cli {

namespace {

struct run_arguments {
  config_option config;
  log_option log;
  output_format output{output_format::text};
  bool until_end{false};
  std::string resume;
  std::string why;
};

[[nodiscard]] std::vector<std::string> words_of_resume() {
  std::vector<std::string> words;
  words.reserve(std::size(k_resume_options));
  for (const resume_option option : k_resume_options) words.emplace_back(name_of(option));
  return words;
}

struct apply_arguments {
  config_option config;
  log_option log;
  output_format output{output_format::text};
  apply_request request;
  bool explain{false};
  bool strict{false};
};

void print_report(const engine& e, output_format output) {
  status_report report;
  report.source = report_source::run;
  report.streams = e.reports();
  const std::string text = output == output_format::json ? status_json(report) : status_text(report);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

/// Leaves out the lock's wait and the rest: one place opens an engine for a command.
[[nodiscard]] reported<std::unique_ptr<engine>> open_engine(const config_option& c, const log_option& l,
                                                            engine_options options, config_use use,
                                                            std::chrono::seconds patience) {
  RATCHET_TRY(auto settings, load(c, use));
  wait_for_directory(settings.state.path, patience);
  lift_descriptor_limit();
  options.log = make_log(l);
  return engine::open(std::move(settings), {}, std::move(options));
}

/// False where it could only wait for transactions, which nobody sends to a command.
[[nodiscard]] bool has_work(engine& e) {
  return e.state().outboxes().rows() > 0 ||
         std::any_of(e.streams().begin(), e.streams().end(), [](const auto& s) {
           return takes_events(s->config) || !topics_published_to(s->config).empty();
         });
}

/// `--until-end` is to send what waits, too: whoever goes on behind it must hear where it did not.
[[nodiscard]] std::optional<problem> refusal_of_unsent(engine& e) {
  const std::uint64_t rows = e.state().outboxes().rows();
  if (rows == 0) return std::nullopt;
  return problem{make_error_code(errc::check_failed),
                 counted(rows, "message") + (rows == 1 ? " is" : " are") + " not sent yet",
                 typed_command("status") + " shows for whom; run the same command again to send them",
                 {}};
}

[[nodiscard]] int run(const run_arguments& a) {
  engine_options options;
  options.resume = resume_option_of(a.resume).value_or(resume_option::none);
  options.resumed_by = {own_user_name(), a.why};
  options.replicates = true;
  // A service must not be refused for good because somebody decides something while it is down.
  constexpr std::chrono::seconds k_patience{10};
  auto opened = open_engine(a.config, a.log, std::move(options), config_use::everything, k_patience);
  if (!opened) return report(a.log, opened.error());
  engine& e = *opened.value();
  if (!has_work(e)) {
    return report(a.log, {make_error_code(errc::config_invalid),
                          "there is nothing to do: no stream has topics or an envelope, nothing is "
                          "published, and no message waits to be sent",
                          "such streams are for programs that embed Ratchet and call transact(); "
                          "add `topics` to the config, or `envelope` for `ratchet apply`",
                          {}});
  }
  std::signal(SIGPIPE, SIG_IGN);  // whoever reads its log may go: it runs on
  const stop_signals signals{words_at_abort(a.log)};
  const auto failed = e.run(a.until_end, signals.requested());
  const bool ended_well = !failed || failed->code == make_error_code(errc::partition_stopped) ||
                          failed->code == make_error_code(errc::aborted);
  if (a.until_end && ended_well) print_report(e, a.output);
  if (failed) return report(a.log, *failed);
  if (a.until_end && !signals.requested()) {
    if (const auto unsent = refusal_of_unsent(e)) return report(a.log, *unsent);
  }
  return 0;
}

/// True where what was taken in before is durable, so that its counters are true.
[[nodiscard]] bool keeps_what_it_took(const std::optional<problem>& failed) {
  if (!failed) return true;
  const std::error_code code = failed->code;
  return code == make_error_code(errc::partition_stopped) || code == make_error_code(errc::aborted) ||
         code == make_error_code(errc::io) || code == std::make_error_code(std::errc::no_space_on_device);
}

[[nodiscard]] int apply(apply_arguments& a) {
  auto opened = open_engine(a.config, a.log, {}, config_use::state_only, std::chrono::seconds{0});
  if (!opened) return report(a.log, opened.error());
  engine& e = *opened.value();
  if (auto serving = e.serve(); !serving) return report(a.log, serving.error());
  std::unique_ptr<progress_bar> bar;
  if (a.explain) {
    a.request.explain = [output = a.output](const stream_definition& s, const decoded_event& event,
                                            decision d, const event_wait* waits) {
      const std::string line = explain_line(s, event, d, waits, output);
      std::fwrite(line.data(), 1, line.size(), stdout);
    };
    a.request.explain_fate = [output = a.output](const stream_definition& s, std::string_view aggregate,
                                                 const waiting_fate& fate) {
      const std::string line = explain_line(s, aggregate, fate, output);
      std::fwrite(line.data(), 1, line.size(), stdout);
    };
  } else if (is_terminal()) {
    a.request.progress = [&bar](std::uint64_t bytes, std::uint64_t total) {
      if (total == 0) return;
      if (!bar) bar = std::make_unique<progress_bar>("applying", total, "bytes");
      bar->update(bytes);
    };
  }
  const stop_signals signals{words_at_abort(a.log)};
  const auto failed = apply_files(e, a.request, signals.requested());
  bar.reset();
  if (keeps_what_it_took(failed) && !(a.explain && a.output == output_format::text))
    print_report(e, a.output);
  if (failed) return report(a.log, *failed);
  std::uint64_t rejected = 0;
  for (const stream_report& r : e.reports()) rejected += r.state.counters.rejected();
  if (!a.strict || rejected == 0) return 0;
  return report(a.log,
                {make_error_code(errc::check_failed),
                 counted(rejected, "record") + (rejected == 1 ? " was" : " were") + " rejected (--strict)",
                 typed_command("status", "--rejected") + " lists them",
                 {}});
}

void add_run(CLI::App& root, command_line& line) {
  auto a = std::make_shared<run_arguments>();
  CLI::App* command = root.add_subcommand("run", "Consume the configured topics until told to stop");
  add_config_option(*command, a->config);
  command->add_flag("--until-end", a->until_end,
                    "End when every partition has reached the end that it had at the start, and messages are "
                    "sent or none got through for 10 s; print the counters");
  command
      ->add_option("--resume", a->resume,
                   "What to do if offsets and state do not fit: store, kafka, rebuild, takeover or cluster")
      ->check(CLI::IsMember(words_of_resume()));
  add_why_option(*command, a->why);
  add_output_option(*command, a->output);
  add_log_option(*command, a->log);
  command->footer(
      "The first SIGINT or SIGTERM drains: handled records become durable and are committed. The second "
      "aborts.\nIf no stream has topics, it sends the messages that `ratchet apply` left.\n--resume acts "
      "once, on a mismatch that this start finds; without a mismatch it does nothing.\nExit codes: 0 stopped "
      "or ended, 1 a partition is stopped, or --until-end left messages unsent, 69 no broker\nanswers, "
      "74 I/O, 78 the config or state is wrong.\nExample: ratchet run -c ratchet.yaml --set "
      "memory_limit=2GiB "
      "-X session.timeout.ms=6000");
  command->callback([a, &line] { line.status = run(*a); });
}

void add_apply(CLI::App& root, command_line& line) {
  auto a = std::make_shared<apply_arguments>();
  CLI::App* command =
      root.add_subcommand("apply", "Take events from files, one JSON value a line, without Kafka");
  add_config_option(*command, a->config);
  command->add_option("-S,--stream", a->request.stream, "The stream of these events, if there are several");
  command->add_flag("--records", a->request.records,
                    "Lines are the output of `kcat -C -J`; their positions count as Kafka's");
  command->add_flag("--explain", a->explain,
                    "Print a line for each record: position, aggregate, sequence, verdict, reason; and one "
                    "for each waiting event that is released, superseded, skipped, discarded or dead");
  command->add_flag("--strict", a->strict, "Exit with 1 if a record was rejected");
  add_output_option(*command, a->output);
  add_log_option(*command, a->log);
  command->add_option("FILE", a->request.files, "Files to read; - is standard input")->required();
  command->footer(
      "You may apply plain files again: the gate finds the repeats. With --records handled positions are "
      "skipped.\nThe counters are of this run, also if it ended early; --explain as text prints only its "
      "lines.\nExit codes: 0 done, also if records were rejected; 1 stopped by the poison rule or as "
      "`waiting` is full, or "
      "--strict.\nExample: zcat events.ndjson.gz | ratchet apply -c ratchet.yaml --stream payments --explain "
      "-");
  command->callback([a, &line] { line.status = apply(*a); });
}

}  // namespace

void add_run_commands(CLI::App& root, command_line& line) {
  add_run(root, line);
  add_apply(root, line);
}

}  // namespace ratchet::cli
