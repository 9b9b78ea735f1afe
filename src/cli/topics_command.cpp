// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "cli/command.hpp"
#include "cli/config_option.hpp"
#include "kafka/log_topic.hpp"
#include "ports/error_class.hpp"

namespace ratchet::cli {

namespace {

constexpr std::chrono::seconds k_timeout{15};
constexpr int k_default_replicas = 3;
constexpr int k_most_replicas = 100;

struct topics_options {
  config_option config;
  int replicas{k_default_replicas};
  bool print{false};
};

void say(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

[[nodiscard]] int check(const kafka_config& kafka, const std::string& topic, const log_topic& found) {
  problem wrong{
      make_error_code(errc::check_failed), "the topic `" + topic + "` cannot keep a replicated log", "", {}};
  for (const std::string& setting : wrong_settings(found))
    wrong.diagnostics.push_back({"", 0, 0, "", "set " + setting, ""});
  if (const auto command = command_to_change(kafka, topic, found)) wrong.hint = *command;
  if (!wrong.diagnostics.empty()) return report(wrong);
  say("topic " + topic + ": 1 partition, " + std::to_string(found.replicas) +
      " replicas, nothing is deleted\n");
  for (const std::string& risk : risky_settings(found)) say("warning: " + risk + "\n");
  return 0;
}

/// Makes a topic where there is none, and checks it.
[[nodiscard]] int make_and_check(const kafka_config& kafka, const std::string& topic, int replicas) {
  const auto failed = [&](const std::string& what, std::error_code code) {
    const std::string command = command_to_make(kafka, topic, replicas);
    const error_class why = classify(code);
    return report({code,
                   what + " `" + topic + "`: " + code.message(),
                   why == error_class::away     ? "check `kafka.brokers`, and that the brokers run"
                   : why == error_class::denied ? "a user with the right to do it can type: " + command
                                                : "Kafka's own tool may say more: " + command,
                   {}});
  };
  auto found = find_log_topic(kafka, topic, k_timeout);
  if (!found) return failed("cannot check the topic", found.error());
  if (!found.value()) {
    const auto brokers = count_brokers(kafka, k_timeout);
    if (!brokers) return failed("cannot make the topic", brokers.error());
    if (const auto few = too_few_brokers(topic, brokers.value(), replicas)) return report(*few);
    if (const auto made = make_log_topic(kafka, topic, replicas, k_timeout); !made)
      return failed("cannot make the topic", made.error());
    say("made topic " + topic + "\n");
    // Not every broker has heard of it yet.
    const auto deadline = std::chrono::steady_clock::now() + k_timeout;
    do {
      found = find_log_topic(kafka, topic, k_timeout);
    } while ((!found || !found.value()) && std::chrono::steady_clock::now() < deadline);
    if (!found) return failed("cannot check the topic", found.error());
    if (!found.value()) return failed("cannot check the topic", make_error_code(errc::topic_missing));
  }
  return check(kafka, topic, *found.value());
}

[[nodiscard]] int topics(const topics_options& o) {
  const auto settings = load(o.config);
  if (!settings) return report(settings.error());
  const config& c = settings.value();
  if (!c.replicate) {
    return report({make_error_code(errc::config_invalid),
                   "the config has no `replicate`, so it needs no topic of its own",
                   "add replicate: {topic: NAME, instance: NAME} to replicate the state",
                   {}});
  }
  int status = 0;
  for (const std::string& topic : {c.replicate->topic, base_topic_of(*c.replicate)}) {
    if (o.print) {
      say(command_to_make(c.kafka, topic, o.replicas) + "\n");
    } else if (const int done = make_and_check(c.kafka, topic, o.replicas); status == 0) {
      status = done;
    }
  }
  return status;
}

}  // namespace

void add_topics_command(CLI::App& root, command_line& line) {
  const auto o = std::make_shared<topics_options>();
  CLI::App* command = root.add_subcommand("topics", "Make and check the topics of the replicated log");
  add_config_option(*command, o->config);
  command->add_option("--replicas", o->replicas, "How many brokers keep a copy of a topic that is made")
      ->check(CLI::Range(1, k_most_replicas))
      ->capture_default_str();
  command->add_flag("--print", o->print, "Print the commands that make them, and ask no broker");
  command->footer(
      "Makes the topic that `replicate.topic` names, and the one with `.base` behind that name, if no broker "
      "knows it, and checks their settings. `run` never makes them.\nExit codes: 0 they can keep the log, 1 "
      "one cannot, 69 no broker answers, 78 the config is wrong.\nExample: ratchet topics -c ratchet.yaml "
      "--replicas 3");
  command->callback([o, &line] { line.status = topics(*o); });
}

}  // namespace ratchet::cli
