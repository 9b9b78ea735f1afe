// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/cluster_questions.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "consumer/store_failure.hpp"
#include "core/typed_command.hpp"
#include "ports/error_class.hpp"
#include "streams/known_repeats.hpp"
#include "text/quoted.hpp"

namespace ratchet {

namespace {

/// Between the attempts it looks whether it is told to stop.
constexpr std::chrono::milliseconds k_connect_attempt{1'000};
/// What one broker refuses another one of the list may take, and itself a moment later. Where each of them
/// has refused, so many attempts are enough.
constexpr int k_refused_attempts = 3;
constexpr std::chrono::milliseconds k_topic_timeout{5'000};
constexpr std::chrono::milliseconds k_topics_timeout{30'000};
/// Brokers hear of a topic one after the other.
constexpr std::chrono::milliseconds k_topic_patience{3'000};
constexpr std::chrono::milliseconds k_look_again{500};

/// Those of the config that the client's complaints name, as in "sasl_ssl://b1:9092/bootstrap: ...".
void note_refusing(std::set<std::string>& refusing, const kafka_config& kafka, const std::string& text) {
  for (const std::string& broker : kafka.brokers) {
    if (text.find(broker) != std::string::npos) refusing.insert(broker);
  }
}

[[nodiscard]] bool refuse_all(const std::set<std::string>& refusing, const kafka_config& kafka) {
  return std::all_of(kafka.brokers.begin(), kafka.brokers.end(),
                     [&](const std::string& broker) { return refusing.contains(broker); });
}

/// Of the streams that read topics: what stands against reading those anew; empty: nothing.
[[nodiscard]] std::string why_not_read_again(const stream_list& streams) {
  std::string all;
  for (const auto& s : streams) {
    const std::string why = s->config.topics.empty() ? std::string{} : why_repeats_are_not_known(*s);
    if (!why.empty()) all += (all.empty() ? "" : "; ") + ("stream `" + s->config.name + "`: " + why);
  }
  return all;
}

[[nodiscard]] std::string what_another_cluster_asks(const std::string& harm) {
  std::string text =
      "if that is a mistake, point `kafka.brokers` at the cluster it came from, or name another "
      "`state.path`; if the topics were copied to this cluster, with other offsets: ";
  text += harm.empty()
              ? "start with " + typed_command("run", "--resume cluster") +
                    ", which reads each log from its start and recognizes handled records by id or sequence"
              : "`--resume cluster` does not help: handled records would be handled again (" + harm +
                    "), but " + typed_command("run", "--resume kafka") +
                    " goes on at the offsets that the group has there";
  return text + "; if the records have the same offsets: " + typed_command("run", "--resume store") +
         "; if the topics were deleted and created again: " + typed_command("run", "--resume rebuild") +
         ". See `Another cluster` in docs/reference/resume.md for when each is safe";
}

/// A line to type, for all of them.
[[nodiscard]] std::string commands_to_create(const std::string& broker,
                                             const std::vector<std::string>& topics) {
  std::string line;
  for (const std::string& topic : topics) {
    line += (line.empty() ? "" : " && ") + std::string{"kafka-topics.sh --bootstrap-server "} + broker +
            " --create --topic " + topic;
  }
  return line;
}

}  // namespace

turn_result<> cluster_questions::find_cluster() {
  const auto limit = deps_.settings.kafka.connect_timeout;
  std::optional<complaint> said;
  int refused = 0;
  std::set<std::string> refusing;
  auto cluster = deps_.source.cluster_id(std::min(k_connect_attempt, limit));
  for (auto waited = k_connect_attempt; !cluster; waited += k_connect_attempt) {
    if (auto more = deps_.source.take_complaint(); more && (more->access || !said || !said->access)) {
      said = more;
      if (said->access) note_refusing(refusing, deps_.settings.kafka, said->text);
    }
    const bool is_over = waited >= limit || refuse_all(refusing, deps_.settings.kafka);
    if (said && said->access && ++refused >= k_refused_attempts && is_over) {
      return session_result{
          session_end::refused,
          describe_refusal(*said->access, said->text, deps_.settings.kafka, deps_.topics, said->topic)};
    }
    if (deps_.stop_requested()) return session_result{session_end::drained, {}};
    RATCHET_TRY(deps_.meanwhile());
    if (waited >= limit) {
      return session_result{session_end::refused, describe_unreachable(said, deps_.settings.kafka)};
    }
    cluster = deps_.source.cluster_id(k_connect_attempt);
  }
  const std::string known = deps_.store.cluster_id();
  if (known.empty()) {
    const auto noted = deps_.store.set_cluster_id(cluster.value());
    if (!noted) return store_failure(deps_.store, deps_.settings, noted.error());
    return go_on();
  }
  if (known == cluster.value()) return go_on();
  return meet_other_cluster(known, cluster.value());
}

turn_result<> cluster_questions::meet_other_cluster(const std::string& known, const std::string& found) {
  const std::string harm = why_not_read_again(deps_.streams);
  std::vector<resume_choice> choices{
      {resume_option::store}, {resume_option::kafka}, {resume_option::rebuild}};
  if (harm.empty()) choices.push_back({resume_option::cluster});
  const bool is_replicated = deps_.settings.replicate.has_value();
  if (is_replicated) choices.clear();
  const bool is_answer = std::any_of(choices.begin(), choices.end(),
                                     [&](const resume_choice& c) { return c.option == deps_.option; });
  if (is_answer) {
    other_cluster_ = found;
    return go_on();
  }
  problem p{make_error_code(errc::state_foreign),
            "the state in " + deps_.settings.state.path.string() + " was read from the cluster " + known +
                ", but " + names_of_brokers(deps_.settings.kafka) + " is the cluster " + found,
            is_replicated ? "point `kafka.brokers` at the cluster that has the log and the topics; to go on "
                            "with another one, see `Questions on a pair` in "
                            "docs/operating/high-availability.md"
                          : what_another_cluster_asks(harm),
            {}};
  question& asked = p.questions.emplace_back();
  asked.kind = question_kind::other_cluster;
  asked.message = p.message;
  asked.hint = p.hint;
  asked.choices = std::move(choices);
  return session_result{session_end::refused, std::move(p)};
}

result<std::vector<topic_partition>> cluster_questions::look_up(std::span<const std::string> topics) {
  const auto deadline = deps_.clock.steady() + k_topic_patience;
  for (;;) {
    auto found = deps_.source.partitions(topics, k_topics_timeout);
    const bool may_come = !found && classify(found.error()) == error_class::missing;
    if (!may_come || deps_.stop_requested() || deps_.clock.steady() >= deadline) return found;
    RATCHET_TRY(deps_.source.poll(1, k_look_again));
  }
}

turn_result<> cluster_questions::require_inputs() {
  const auto found = look_up(deps_.topics);
  if (found) return go_on();
  return topics_failed(found.error(), deps_.topics, topic_use::read);
}

turn_result<> cluster_questions::require_outputs(const std::vector<std::string>& topics) {
  if (topics.empty()) return go_on();
  const auto found = look_up(topics);
  if (found) return go_on();
  return topics_failed(found.error(), topics, topic_use::written);
}

session_result cluster_questions::topics_failed(std::error_code code, const std::vector<std::string>& topics,
                                                topic_use use) {
  // The answer does not say which of them it is about: each is asked for by itself.
  std::vector<std::string> missing;
  std::vector<std::string> denied;
  std::string denial;
  for (const std::string& topic : topics) {
    const auto asked = deps_.source.partitions(std::span{&topic, 1}, k_topic_timeout);
    if (asked) continue;
    if (classify(asked.error()) == error_class::missing) {
      missing.push_back(topic);
    } else if (access_kind_of(asked.error()) == access_kind::topic) {
      denied.push_back(topic);
      denial = asked.error().message();
    }
  }
  if (!denied.empty()) {
    return {session_end::refused, describe_refused_topics(use, denial, deps_.settings.kafka, denied)};
  }
  if (missing.empty())
    return failed("the topics " + quoted(topics) + " cannot be looked up", code, session_end::refused);
  const bool one = missing.size() == 1;
  return {session_end::refused,
          problem{make_error_code(errc::topic_missing),
                  (one ? "the topic " : "the topics ") + quoted(missing) + (one ? " does" : " do") +
                      " not exist on " + names_of_brokers(deps_.settings.kafka),
                  std::string{"correct "} +
                      (use == topic_use::read ? "`topics`"
                                              : "`outputs`, `emit`, `dead_letter` and `rejections`") +
                      " in the config, or create " + (one ? "it: " : "them: ") +
                      commands_to_create(deps_.settings.kafka.brokers.front(), missing),
                  {}}};
}

session_result cluster_questions::failed(const std::string& what, std::error_code code,
                                         session_end otherwise) {
  const auto said = deps_.source.take_complaint();
  auto access = access_kind_of(code);
  if (!access && said) access = said->access;
  if (access) {
    const bool has_said = said && said->access;
    problem why = describe_refusal(*access, has_said ? said->text : code.message(), deps_.settings.kafka,
                                   deps_.topics, has_said ? said->topic : std::string{});
    why.message = what + ": " + why.message;
    return {session_end::refused, std::move(why)};
  }
  const bool passing = classify(code) == error_class::away;
  return {passing ? session_end::client_lost : otherwise,
          problem{code,
                  what + ": " + (said ? said->text : code.message()),
                  passing ? "" : "check the brokers and this user's rights",
                  {}}};
}

session_result cluster_questions::resume_failed(std::error_code code) {
  return failed("cannot find out where to resume", code, session_end::client_lost);
}

}  // namespace ratchet
