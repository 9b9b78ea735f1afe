// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The part of consumer_session that settles who may work in the group: looked at before joining, once more at
// the first assignment, and claimed.
#include <algorithm>
#include <charconv>
#include <utility>

#include "consumer/consumer_session.hpp"
#include "core/typed_command.hpp"
#include "ports/source_condition.hpp"
#include "text/partition_name.hpp"

namespace ratchet {

namespace {

using std::chrono::milliseconds;

/// Between two looks at who is in the group.
constexpr milliseconds k_look_again{500};
/// librdkafka's default, and ours.
constexpr milliseconds k_default_session{45'000};
/// Behind its session a killed member is gone within this.
constexpr milliseconds k_expiry_slack{2'000};

[[nodiscard]] milliseconds session_timeout(const kafka_config& kafka) {
  const auto set = kafka.properties.find("session.timeout.ms");
  if (set == kafka.properties.end()) return k_default_session;
  const std::string& text = set->second;
  milliseconds::rep count = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), count);
  return code == std::errc{} ? milliseconds{count} : k_default_session;
}

[[nodiscard]] std::string list_of(const std::vector<group_member>& members) {
  std::string text;
  for (const group_member& m : members) {
    text += (text.empty() ? "`" : ", `") + m.client_id + "` at " + m.host;
  }
  return text;
}

}  // namespace

turn_result<> consumer_session::check_group() {
  auto checked = check_before_joining(around_.from, around_.to, pipeline_, partitions_.all(), options_.resume,
                                      around_.settings.kafka.group);
  if (!checked) {
    return question_failed("the offsets of group `" + around_.settings.kafka.group + "` cannot be read",
                           checked.error(), session_end::refused);
  }
  if (checked.value().refused) {
    return session_result{session_end::refused, std::move(*checked.value().refused)};
  }
  if (checked.value().overridden) return wait_until_alone(*checked.value().overridden);
  return go_on();
}

/// `--resume` is about to go over a claim that may be a living instance's. Nobody can tell whose members the
/// group has, so it must have none; one that was killed is listed until its session ends, and that is waited
/// for.
milliseconds consumer_session::longest_absence() const {
  return session_timeout(around_.settings.kafka) + k_expiry_slack;
}

turn_result<> consumer_session::wait_until_alone(const committed_offset& overridden) {
  const std::string& group = around_.settings.kafka.group;
  const milliseconds limit = longest_absence();
  const time_point deadline = around_.clock.steady() + limit;
  for (bool first = true;; first = false) {
    const auto found = around_.from.members(k_query_timeout);
    if (!found) return questions_failed(found.error());
    if (found.value().empty()) return go_on();
    if (stop_requested()) return finish(session_end::drained);
    const std::string members = list_of(found.value());
    if (around_.clock.steady() >= deadline) {
      const std::string holder = overridden.metadata.empty() ? "" : ", " + overridden.metadata;
      return session_result{
          session_end::refused,
          problem{make_error_code(errc::group_taken),
                  "group `" + group + "` was not joined: it has live members (" + members +
                      "), and its offsets are not this state directory's (" + to_string(overridden.where) +
                      ": " + std::to_string(overridden.offset.value_or(0)) + holder + ")",
                  std::string{"stop them for good, then start again with `--resume "} +
                      name_of(options_.resume.option) + "`; or use another `kafka.group`",
                  {}}};
    }
    if (first) {
      tell(around_.log, log_kind::group_busy,
           "group `{}` has members ({}); waiting up to {} s for them to go: one that was killed is listed "
           "until "
           "its session ends",
           group, members, std::chrono::ceil<std::chrono::seconds>(limit).count());
      around_.board.set_ready(false, "waiting for the group's other members to go");
    }
    if (const auto idle = around_.from.poll(1, k_look_again); !idle) return questions_failed(idle.error());
  }
}

result<std::optional<problem>> consumer_session::must_leave(const std::vector<topic_partition>& held) {
  const std::optional<problem> stays;
  const std::vector<topic_partition>& all = partitions_.all();
  if (held.size() == all.size()) return stays;
  RATCHET_TRY(const auto committed, around_.from.committed(all, k_query_timeout));
  if (has_own_claim(around_.to, committed)) return stays;  // who has claimed stays
  const topic_partition& lowest = all.front();
  const bool holds_lowest = std::find(held.begin(), held.end(), lowest) != held.end();
  // Somebody came in behind the look at the group: perhaps the one whose claims were to be gone over.
  const bool overrides = overridden_claim(around_.to, pipeline_, committed, options_.resume).has_value();
  if (holds_lowest && !overrides) return stays;
  const std::string who = holds_lowest ? " too" : " and holds " + to_string(lowest);
  return std::optional{
      problem{make_error_code(errc::group_taken),
              "another instance is joining group `" + around_.settings.kafka.group +
                  "` with a state directory of its own" + who,
              "run one instance for each state directory, and give each its own `kafka.group`",
              {}}};
}

session_result consumer_session::questions_failed(std::error_code code) {
  return question_failed("where to resume cannot be found out", code, session_end::client_lost);
}

/// An assignment that is not answered blocks the member, and one without a claim must not be read.
turn_result<> consumer_session::claim_failed(std::error_code code) {
  if (code == source_condition::not_a_member) {
    tell(around_.log, log_kind::group_moved_on,
         "the group moved on before it was claimed ({}); waiting for its next assignment", code.message());
    const auto answered = around_.from.assign({});
    if (!answered) return questions_failed(answered.error());
    return go_on();
  }
  return question_failed(
      "group `" + around_.settings.kafka.group + "` could not be claimed by committing offsets", code,
      session_end::client_lost);
}

void consumer_session::tell_of_waiting(time_point now) {
  constexpr std::chrono::seconds k_long{5};
  if (!unassigned_since_ || now - *unassigned_since_ < k_long || told_of_waiting_ == unassigned_since_)
    return;
  told_of_waiting_ = unassigned_since_;
  const std::string why =
      "waiting for the group to assign partitions: it first waits for its other members, and for one that "
      "was killed "
      "until its session ends, up to " +
      std::to_string(
          std::chrono::ceil<std::chrono::seconds>(session_timeout(around_.settings.kafka)).count()) +
      " s";
  tell(around_.log, log_kind::group_waiting, "group `{}`: {}", around_.settings.kafka.group, why);
  around_.board.set_ready(false, why);
}

turn_result<> consumer_session::accept_start() {
  if (!around_.accept) return go_on();
  auto failed = around_.accept();
  if (!failed) return go_on();
  return session_result{session_end::store_lost, std::move(failed)};
}

void consumer_session::tell_of_option(const resolved_assignment& r) const {
  const resume_option option = options_.resume.option;
  if (option == resume_option::none || r.option_used || options_.resume.was_used) return;
  if (r.stops.empty()) {
    tell(around_.log, log_kind::resume_option_unused,
         "`--resume {}` had nothing to do: the state and the group's offsets fit{}", name_of(option),
         option == resume_option::rebuild
             ? "; to build the state anew all the same, stop, move " +
                   shell_word(around_.settings.state.path.string()) + " away, and say it again"
             : "");
  } else {
    tell(around_.log, log_kind::resume_told, "`--resume {}` is no answer to what was found", name_of(option));
  }
}

}  // namespace ratchet
