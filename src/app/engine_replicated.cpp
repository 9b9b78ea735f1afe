// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The part of engine that runs an instance whose steps go through a replicated log.
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "app/engine.hpp"
#include "app/open_source.hpp"
#include "app/random_bits.hpp"
#include "app/sink_outlets.hpp"
#include "app/wait_or_stop.hpp"
#include "consumer/assignment.hpp"
#include "consumer/cluster_questions.hpp"
#include "consumer/lead_check.hpp"
#include "consumer/namesakes.hpp"
#include "consumer/session_timeout.hpp"
#include "consumer/slot_source.hpp"
#include "consumer/standby.hpp"
#include "core/typed_command.hpp"
#include "kafka/kafka_slot_log.hpp"
#include "kafka/log_topic.hpp"
#include "ports/error_class.hpp"
#include "replicate/chain.hpp"
#include "store/layout/layout.hpp"
#include "store/replica.hpp"

namespace ratchet {

namespace {

constexpr std::chrono::milliseconds k_topic_timeout{5'000};
/// A base is not in a hurry.
constexpr std::size_t k_base_queue_bytes = std::size_t{8} << 20U;

/// What the streams are called in the log's rows, and what their state means: replicas must agree on both.
[[nodiscard]] result<hash128> meaning_of(const store& s) {
  RATCHET_TRY(const auto view, s.view());
  RATCHET_TRY(const auto streams, view->streams());
  std::string text;
  const auto add = [&text](std::string_view part) {
    text += part;
    text += '\0';
  };
  for (const named_stream& stream : streams) {
    add(stream.name);
    add(std::to_string(static_cast<std::uint64_t>(stream.id)));
    for (const auto& [key, value] : stream.meaning) {
      add(key);
      add(value);
    }
  }
  return replicate::next_chain({}, text);
}

/// What a step can carry to all replicas may be said.
[[nodiscard]] std::optional<problem> refusal_of_option(resume_option said) {
  const auto refused = [&](const std::string& hint) {
    return problem{make_error_code(errc::not_built_yet),
                   std::string{"`--resume "} + name_of(said) + "` cannot be used together with `replicate`",
                   hint,
                   {}};
  };
  switch (said) {
    case resume_option::none:
    case resume_option::store:
    case resume_option::kafka:
      return std::nullopt;
    case resume_option::rebuild:
      return refused("to build the state again, " + std::string{k_new_pair} +
                     "; see `Questions on a pair` in docs/operating/high-availability.md");
    case resume_option::takeover:
      return refused(
          "to go on with this directory alone, take `replicate` out of the config first; see `Go back to one "
          "instance` in docs/operating/high-availability.md");
    case resume_option::cluster:
      return refused(
          "the log is on one cluster: see `Questions on a pair` in docs/operating/high-availability.md");
  }
  return std::nullopt;
}

}  // namespace

std::optional<problem> refusal_of_replicate(const config& c, const engine_options& options) {
  if (!c.replicate) return std::nullopt;
  if (!options.replicates) {
    return problem{make_error_code(errc::not_built_yet),
                   "with `replicate` only `ratchet run` can change the state",
                   "use a config without `replicate`, and a state directory of its own",
                   {}};
  }
  if (auto refused = refusal_of_option(options.resume)) return refused;
  for (const stream_config& s : c.streams) {
    if (!s.topics.empty()) return std::nullopt;
  }
  return problem{make_error_code(errc::not_built_yet),
                 "`replicate` needs a stream with topics",
                 "add topics, or leave `replicate` out",
                 {}};
}

reported<std::unique_ptr<store>> engine::make_replicated(std::unique_ptr<store> opened) {
  const auto failed = [this](std::error_code code) {
    return problem{
        code, "the state in " + config_.state.path.string() + " cannot be read: " + code.message(), "", {}};
  };
  replica& rows = *replica_of(*opened);
  const auto meaning = meaning_of(*opened);
  if (!meaning) return failed(meaning.error());
  const replicate_config& wanted = *config_.replicate;
  kafka_slot_log_options with;
  with.compression = wanted.compression;
  with.log = [to = client_log_](int level, std::string_view text) { to->write(level, text); };
  const auto make = [&](const std::string& topic) {
    return options_.make_log ? options_.make_log(topic)
                             : make_kafka_slot_log(config_.kafka, {topic, partition_id{0}}, with);
  };
  RATCHET_TRY(auto log, make(wanted.topic));
  with.queue_bytes = k_base_queue_bytes;
  RATCHET_TRY(auto bases, make(base_topic_of(wanted)));
  replicate::owner_options rules;
  rules.reading.newest_layout = layout::k_schema_version;
  rules.reading.meaning = meaning.value();
  if (const auto at = rows.position()) rules.reading.lineage = at->lineage;
  rules.layout = layout::k_schema_version;
  rules.meaning = meaning.value();
  rules.new_lineage = {random_bits(), random_bits()};
  rules.instance = wanted.instance;
  rules.advertise = wanted.advertise;
  auto made = std::make_unique<replicated_store>(
      replicated_store::dependencies{std::move(opened), rows, std::move(log), std::move(bases),
                                     *options_.clock, random_bits, wanted.base, wanted.digest, wanted.topic,
                                     base_topic_of(wanted), options_.log, options_.bases_on, &status_},
      rules);
  replicated_ = made.get();
  return std::unique_ptr<store>{std::move(made)};
}

std::optional<problem> engine::refusal_of_lead() const {
  if (auto refused = refusal_of_config(replicated_->under())) return refused;
  const auto view = replicated_->view();
  if (!view) return std::nullopt;
  const auto lanes = view.value()->outboxes();
  return lanes ? check_lanes(config_, lanes.value()) : std::nullopt;
}

kafka_config engine::settings_of_member() {
  kafka_config member = config_.kafka;
  member.properties["client.id"] = names_.next(replicated_->slot().position().epoch, options_.clock->now());
  member.properties.try_emplace("session.timeout.ms", std::to_string(k_pair_session.count()));
  // So soon a standby hears that the owner has left.
  member.properties.try_emplace("heartbeat.interval.ms", "250");
  // A broker that stands still keeps its connections open. A take-over must not wait for it a minute.
  member.properties.try_emplace("socket.timeout.ms", "10000");
  return member;
}

/// Whether the topics can keep the log and the bases. Kafka would delete the state otherwise, as it does with
/// all topics after a week.
std::optional<problem> engine::refusal_of_log_topics(const std::atomic<bool>& stop) {
  if (options_.make_log) return std::nullopt;
  if (auto refused = refusal_of_log_topic(config_.replicate->topic, stop)) return refused;
  return refusal_of_log_topic(base_topic_of(*config_.replicate), stop);
}

std::optional<problem> engine::refusal_of_log_topic(const std::string& topic, const std::atomic<bool>& stop) {
  auto found = find_log_topic(config_.kafka, topic, k_topic_timeout);
  while (!found && classify(found.error()) == error_class::away && !stop.load(std::memory_order_relaxed)) {
    meter_.beat();
    if (outages_.due(options_.clock->steady()))
      tell(options_.log, log_kind::brokers_away, "the topic `{}` cannot be checked: {}; trying again{}",
           topic, found.error().message(), outages_.suppressed());
    wait_or_stop(k_new_client_pause, stop);
    found = find_log_topic(config_.kafka, topic, k_topic_timeout);
  }
  const std::string what = "the topic `" + topic + "` of the replicated log ";
  if (!found && classify(found.error()) == error_class::denied) {
    tell(options_.log, log_kind::config_warning, "{}cannot be checked: {}", what, found.error().message());
    return std::nullopt;
  }
  if (stop.load(std::memory_order_relaxed)) return std::nullopt;
  if (!found) return problem{found.error(), what + "cannot be checked: " + found.error().message(), "", {}};
  if (!found.value())
    return problem{make_error_code(errc::topic_missing),
                   what + "does not exist",
                   "make it: " + typed_command("topics"),
                   {}};
  const auto command = command_to_change(config_.kafka, topic, *found.value());
  problem wrong{make_error_code(errc::config_invalid),
                what + "cannot keep it",
                "change the topic's settings" + (command ? " (" + *command + ")" : "") + "; " +
                    typed_command("topics") + " checks them",
                {}};
  for (const std::string& setting : wrong_settings(*found.value()))
    wrong.diagnostics.push_back({"", 0, 0, "", "set " + setting, ""});
  if (!wrong.diagnostics.empty()) return wrong;
  for (const std::string& risk : risky_settings(*found.value()))
    tell(options_.log, log_kind::config_warning, "{}is at risk: {}", what, risk);
  return std::nullopt;
}

std::optional<problem> engine::refusal_of_topics(source& from, const std::atomic<bool>& stop) {
  const std::vector<std::string> read = input_topics(streams_);
  cluster_questions ask{{config_, streams_, *store_, from, *options_.clock, read, options_.resume,
                         [&stop] { return stop.load(std::memory_order_relaxed); }, [] { return go_on(); }}};
  for (;;) {
    meter_.beat();
    auto found = ask.require_inputs();
    if (found) found = ask.require_outputs(output_topics(streams_));
    if (found || stop.load(std::memory_order_relaxed)) return std::nullopt;
    auto why = std::move(found).error().why;
    if (classify(why->code) != error_class::away) return why;
    if (outages_.due(options_.clock->steady()))
      tell(options_.log, log_kind::brokers_away, "{}; Ratchet tries again{}", why->message,
           outages_.suppressed());
    wait_or_stop(k_new_client_pause, stop);
  }
}

std::optional<problem> engine::run_replicated(bool until_end, const std::atomic<bool>& stop) {
  if (auto refused = refusal_of_log_topics(stop)) return refused;
  bool has_joined = false;
  bool has_topics = false;
  lead_check check{{config_, options_.space, status_, options_.log, [this] { return refusal_of_lead(); }}};
  namesakes others{{config_, names_, *options_.clock, status_, options_.log}};
  for (;;) {
    session_result ended;
    {
      auto made = make_source();
      if (!made) return std::move(made.error());
      open_source_guard from{std::move(made.value())};
      // Later a topic that is gone must not keep a replica from coming back.
      if (!std::exchange(has_topics, true) && replicated_->last_step() == 0) {
        if (auto refused = refusal_of_topics(from.get(), stop)) return refused;
      }
      standby waiting{{config_, *replicated_, from.get(), *options_.clock, status_, meter_, options_.log,
                       &stop, &handover_, &check, &others, &options_.resume}};
      ended = follow_and_lead(waiting, check, from.get(), until_end, stop);
      if (waiting.has_joined()) from.has_joined();
      if (ended.end == session_end::left) from.is_left();
      has_joined = has_joined || waiting.has_joined();
    }
    const bool passes_by = ended.why && is_sat_out(classify(ended.why->code));
    switch (ended.end) {
      case session_end::drained:
      case session_end::caught_up:
        return stopped_partitions();
      case session_end::client_lost:
      case session_end::left:
        break;
      case session_end::refused:
        if (passes_by && has_joined) break;
        return std::move(ended.why);
      case session_end::store_lost:
      case session_end::rebuild:
        return std::move(ended.why);
    }
    replicated_->slot().unassigned();
    if (replicated_->slot().gives_way()) names_.gave();
    if (ended.end == session_end::left) continue;
    status_.set_ready(false, "making a new Kafka client: " + ended.why->message);
    leave_lead([this] { replicated_->end_lead(); });
    if (auto serving = serve(); !serving) return std::move(serving.error());
    meter_.client_made_anew();
    if (lost_clients_.due(options_.clock->steady()))
      tell(options_.log, log_kind::client_renewed, "{} ({}); a new client goes on from the state{}",
           ended.why->message, ended.why->code.message(), lost_clients_.suppressed());
    const bool is_denied = classify(ended.why->code) == error_class::denied;
    wait_or_stop(is_denied ? k_denied_pause : k_new_client_pause, stop);
  }
}

session_result engine::follow_and_lead(standby& waiting, lead_check& check, source& group, bool until_end,
                                       const std::atomic<bool>& stop) {
  for (;;) {
    inbox_.tasks.close();  // a follower does nothing for others
    if (auto ended = waiting.wait_for_lead(); !ended) return std::move(ended).error();
    names_.led(replicated_->slot().position().epoch);
    inbox_.tasks.open();
    if (auto failed = read_opened_store()) return {session_end::store_lost, std::move(failed)};
    slot_source from{group,
                     {config_.replicate->topic, partition_id{0}},
                     *options_.clock,
                     [this, &group, &waiting, &check] {
                       handover_.look(group, check.short_of_room(options_.clock->steady()));
                       waiting.note_lead();
                       return replicated_->turn() && replicated_->is_leading();
                     }};
    inbox_.transactions.open();
    session_end_of session = one_session(from, until_end, stop);
    if (is_handed_over(session.ended, stop)) return {session_end::left, std::nullopt};
    const bool is_lost = from.was_given_back() || from.owes_answer() || !replicated_->is_leading() ||
                         replicated_->has_lost_steps();
    const bool has_ended =
        session.ended.end == session_end::drained || session.ended.end == session_end::caught_up;
    if (has_ended || !is_lost) return std::move(session.ended);
    leave_lead([&] {
      if (from.was_lost()) return waiting.end_with_client();
      waiting.stand_by_again(from.was_given_back(), from.owes_answer());
    });
    if (auto serving = serve(); !serving) return {session_end::store_lost, std::move(serving.error())};
    if (from.was_lost()) return {session_end::left, std::nullopt};
  }
}

/// Whether the session ended because another instance is to go on. All steps are confirmed then, so that
/// whoever reads, or waits to hear of it, may stay.
bool engine::is_handed_over(const session_result& ended, const std::atomic<bool>& stop) {
  if (!handover_.is_leaving()) return false;
  if (ended.end != session_end::drained || stop.load(std::memory_order_relaxed)) {
    handover_.gave_up(ended.why ? ended.why->message : "it is being stopped");
    return false;
  }
  inbox_.transactions.close();
  inbox_.tasks.close();
  replicated_->end_lead();
  forget_lead();
  names_.gave();
  handover_.gave(replicated_->slot().position().epoch);
  return true;
}

/// Nobody may wait any more for a step that was decided and not confirmed: its number is given anew.
void engine::leave_lead(const std::function<void()>& leave) {
  inbox_.transactions.store_lost();
  inbox_.transactions.close();
  stop_serving();
  leave();
  forget_lead();
}

/// Nothing waits any more to become durable, or to be sent.
void engine::forget_lead() {
  status_.forget_session();
  meter_.durability(0, options_.clock->steady());
  meter_.outputs_sent(0, false);
}

}  // namespace ratchet
