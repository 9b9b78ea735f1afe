// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/group_ownership.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "consumer/member_name.hpp"
#include "consumer/session_timeout.hpp"
#include "consumer/store_failure.hpp"
#include "core/typed_command.hpp"
#include "pipeline/audit_rows.hpp"
#include "ports/error_class.hpp"
#include "text/partition_name.hpp"
#include "text/quoted.hpp"

namespace ratchet {

namespace {

using std::chrono::milliseconds;

/// Between two looks at who is in the group, before it is joined; and later, while it has others.
constexpr milliseconds k_group_look_again{500};
constexpr milliseconds k_look_for_others{2'000};
/// Nothing is read meanwhile.
constexpr milliseconds k_others_timeout{1'000};
constexpr std::size_t k_most_members_named = 5;
constexpr const char* k_others_condition = "others";
/// A group that was empty waits for further members first, for 3 s by default
/// (`group.initial.rebalance.delay.ms`): the session of a member that was killed meanwhile counts from then
/// on.
constexpr milliseconds k_first_join{4'000};

[[nodiscard]] std::string list_of(const std::vector<group_member>& members) {
  std::string text;
  for (const group_member& m : members) {
    if (m.is_this) continue;
    const std::string name = instance_of_member(m.client_id).value_or(m.client_id);
    text += (text.empty() ? "`" : ", `") + name + "` at " + m.host;
  }
  return text;
}

[[nodiscard]] std::string list_of(std::span<const topic_partition> partitions) {
  std::string text;
  for (const topic_partition& where : partitions.first(std::min(partitions.size(), k_most_members_named)))
    text += (text.empty() ? "" : ", ") + to_string(where);
  return partitions.size() > k_most_members_named ? text + ", ..." : text;
}

}  // namespace

turn_result<> group_ownership::check_before_joining() {
  deps_.status.clear_condition(k_others_condition);  // of the session before
  auto checked = ratchet::check_before_joining(deps_.source, deps_.store, deps_.steps, deps_.partitions.all(),
                                               deps_.wish, deps_.settings.kafka.group);
  if (!checked) {
    return deps_.questions.failed("the offsets of group `" + deps_.settings.kafka.group + "` cannot be read",
                                  checked.error(), session_end::refused);
  }
  if (checked.value().refused) {
    return session_result{session_end::refused, std::move(*checked.value().refused)};
  }
  return wait_until_alone(checked.value().overridden);
}

milliseconds group_ownership::session_timeout() const {
  return ratchet::session_timeout(deps_.settings);
}

milliseconds group_ownership::longest_absence() const {
  return ratchet::longest_absence(deps_.settings);
}

/// One instance reads a whole group. Nobody can tell whose members it has: a copy of this directory has the
/// same mark, and `--resume` may be about to go over the claim of an instance that lives. So it must have
/// none; one that was killed is listed until its session ends, and that is waited for.
turn_result<> group_ownership::wait_until_alone(const std::optional<committed_offset>& overridden) {
  const std::string& group = deps_.settings.kafka.group;
  const auto begun = deps_.clock.steady();
  for (bool first = true;; first = false) {
    const auto found = deps_.source.members(k_query_timeout);
    // Brokers that cannot say it are worked with; what is claimed is looked at all the same.
    if (!found && !overridden && classify(found.error()) == error_class::not_offered) return go_on();
    if (!found) return deps_.questions.resume_failed(found.error());
    if (found.value().empty()) return go_on();
    if (deps_.stop_requested()) return session_result{session_end::drained, {}};
    const std::string members = list_of(found.value());
    const milliseconds limit = patience_with(found.value());
    if (deps_.clock.steady() - begun >= limit)
      return session_result{session_end::refused, has_members(members, overridden)};
    if (first) {
      tell(deps_.log, log_kind::group_busy,
           "group `{}` has members ({}); waiting up to {} s for them to leave; a killed member counts until "
           "its session ends",
           group, members, std::chrono::ceil<std::chrono::seconds>(limit).count());
      deps_.status.set_ready(false, "waiting for the group's other members to leave");
    }
    RATCHET_TRY(deps_.questions.do_meanwhile());
    if (const auto idle = deps_.source.poll(1, k_group_look_again); !idle)
      return deps_.questions.resume_failed(idle.error());
  }
}

/// The instances of a pair have another session than this one, which goes on without its log.
milliseconds group_ownership::patience_with(const std::vector<group_member>& members) const {
  const bool are_of_pair = std::all_of(members.begin(), members.end(), [](const group_member& m) {
    return instance_of_member(m.client_id).has_value();
  });
  if (are_of_pair) return longest_absence_in_pair(deps_.settings.kafka);
  return longest_absence() + k_first_join;
}

problem group_ownership::has_members(const std::string& members,
                                     const std::optional<committed_offset>& overridden) const {
  const std::string what =
      "group `" + deps_.settings.kafka.group + "` was not joined: it has live members (" + members + "), ";
  if (!overridden) {
    return {
        make_error_code(errc::group_taken),
        what + "and one instance reads all of a group",
        "stop them, then start again; or give this instance a `kafka.group` of its own; where one of them "
        "reads another copy of this state directory, only one of the two may go on: see "
        "docs/operating/troubleshooting.md",
        {}};
  }
  const std::string holder = overridden->metadata.empty() ? "" : ", " + overridden->metadata;
  return {make_error_code(errc::group_taken),
          what + "and its offsets are not this state directory's (" + to_string(overridden->where) + ": " +
              std::to_string(overridden->offset.value_or(0)) + holder + ")",
          std::string{"stop them permanently, then start again with `--resume "} +
              name_of(deps_.wish.option) + "`",
          {}};
}

turn_result<> group_ownership::sign(std::uint64_t past_counter) {
  const auto drawn = deps_.store.draw_incarnation(past_counter, deps_.random);
  if (!drawn) return store_failure(deps_.store, deps_.settings, drawn.error());
  deps_.commits.sign(deps_.store.uuid(), drawn.value());
  return go_on();
}

turn_result<> group_ownership::check_first_assignment(const std::vector<topic_partition>& given) {
  if (has_taken_) return go_on();  // who has claimed never leaves
  auto leave = must_leave(given);
  if (!leave) return deps_.questions.resume_failed(leave.error());
  if (leave.value()) return session_result{session_end::refused, std::move(*leave.value())};
  return go_on();
}

result<std::optional<problem>> group_ownership::must_leave(const std::vector<topic_partition>& given) {
  const std::optional<problem> stays;
  const std::vector<topic_partition>& all = deps_.partitions.all();
  if (given.size() == all.size()) return stays;
  // The positions of all partitions go with the first step: none may be another's to read.
  if (moves()) {
    return std::optional{problem{make_error_code(errc::group_taken),
                                 "another member is in group `" + deps_.settings.kafka.group +
                                     "`, while the state goes on with another cluster",
                                 "stop it, and start this instance again",
                                 {}}};
  }
  RATCHET_TRY(const auto committed, deps_.source.committed(all, k_query_timeout));
  const topic_partition& lowest = all.front();
  const bool holds_lowest = std::find(given.begin(), given.end(), lowest) != given.end();
  if (has_own_claim(deps_.store, committed)) {
    // Those of a copy look the same. The group was empty: who is in it besides has joined since.
    if (holds_lowest) return stays;
    RATCHET_TRY(const bool alone, is_alone());
    if (alone) return stays;
  }
  // Somebody came in behind the look at the group: perhaps the one whose claims were to be gone over.
  const bool overrides = overridden_claim(deps_.store, deps_.steps, committed, deps_.wish).has_value();
  if (holds_lowest && !overrides) return stays;
  const std::string who = holds_lowest ? " too" : " and holds " + to_string(lowest);
  return std::optional{
      problem{make_error_code(errc::group_taken),
              "another instance is joining group `" + deps_.settings.kafka.group +
                  "` with a state directory of its own" + who,
              "run one instance for each state directory, and give each its own `kafka.group`",
              {}}};
}

result<bool> group_ownership::is_alone() {
  const auto found = deps_.source.members(k_query_timeout);
  if (!found && classify(found.error()) == error_class::not_offered) return true;
  if (!found) return found.error();
  return std::all_of(found.value().begin(), found.value().end(),
                     [](const group_member& m) { return m.is_this; });
}

bool group_ownership::is_time_to_look(std::chrono::steady_clock::time_point now) const {
  return has_taken_ && (!last_look_ || now - *last_look_ >= k_look_for_others);
}

void group_ownership::forget_others() {
  last_look_.reset();
  show_others({});
}

turn_result<> group_ownership::look_for_others(std::span<const topic_partition> not_given,
                                               std::chrono::steady_clock::time_point now) {
  last_look_ = now;
  // What cannot be asked now is asked again.
  const auto claim = foreign_claim(deps_.source, deps_.store, deps_.steps, not_given,
                                   claims_of::copies_and_other_stores, k_others_timeout);
  if (!claim) return go_on();
  const auto found = deps_.source.members(k_others_timeout);
  const std::string members = found ? list_of(found.value()) : std::string{};
  if (claim.value()) {
    problem why = *claim.value();
    why.message = "group `" + deps_.settings.kafka.group + "` was left: " + why.message +
                  (members.empty() ? "" : "; the group has the members " + members);
    return session_result{session_end::refused, std::move(why)};
  }
  if (!members.empty()) {
    show_others(list_of(not_given) + ": another member of the group reads them (members: " + members + ")");
    return go_on();
  }
  std::vector<std::string> topics;
  for (const topic_partition& where : not_given) {
    if (topics.empty() || topics.back() != where.topic) topics.push_back(where.topic);
  }
  const auto gone = gone_among(topics);
  if (!gone) return go_on();
  show_others(gone->empty() ? std::string{} : list_of(not_given) + ": " + no_broker_knows(*gone));
  return go_on();
}

std::optional<std::vector<std::string>> group_ownership::gone_among(
    std::span<const std::string> topics) const {
  std::vector<std::string> gone;
  for (const std::string& topic : topics) {
    const auto asked = deps_.source.partitions(std::span{&topic, 1}, k_others_timeout);
    if (!asked && classify(asked.error()) != error_class::missing) return std::nullopt;
    if (!asked) gone.push_back(topic);
  }
  return gone;
}

std::string group_ownership::no_broker_knows(const std::vector<std::string>& topics) {
  return "no broker knows the topic " + quoted(topics) + " any more";
}

void group_ownership::show_others(const std::string& found) {
  if (found == others_) return;
  others_ = found;
  if (others_.empty()) return deps_.status.clear_condition(k_others_condition);
  tell(deps_.log, log_kind::partitions_elsewhere, "{}", others_);
  deps_.status.raise_condition(k_others_condition, others_);
}

bool group_ownership::needs_all_answers() const noexcept {
  return !has_taken_ && deps_.wish.option != resume_option::none;
}

turn_result<std::optional<resolved_assignment>> group_ownership::resolve(
    std::span<const topic_partition> partitions, bool more) {
  // What the operator said holds for the first assignment of this start, and only there.
  const resume_wish wish = has_taken_ ? deps_.wish.without_option() : deps_.wish;
  auto resolved =
      resolve_assignment(deps_.source, deps_.store, deps_.steps, partitions, wish, deps_.clock.now());
  if (!resolved) {
    if (more && passes(classify(resolved.error()))) return std::optional<resolved_assignment>{};
    return deps_.questions.resume_failed(resolved.error());
  }
  resolved_assignment& r = resolved.value();
  if (r.refused && !has_taken_) return session_result{session_end::refused, std::move(*r.refused)};
  // Who has claimed never leaves while there is something to read: a partition that may not be read is
  // stopped, and the rest goes on. Where all are another's, staying would keep them from whoever may read
  // them. An instance of a pair learns from the log that it was overtaken.
  const bool is_overtaken = r.refused && r.claimed_by_others == partitions.size();
  if (is_overtaken && !(more && reads_others_than(partitions)) && !deps_.wish.replicated) {
    r.refused->message = "group `" + deps_.settings.kafka.group + "` was left: " + r.refused->message;
    return session_result{session_end::refused, std::move(*r.refused)};
  }
  // With one foot on each cluster nobody could say any more which offset is whose.
  if (moves() && !r.stops.empty()) {
    problem why = std::move(r.stops.front());
    why.hint = "offsets are not the same on this cluster: start with " +
               typed_command("run", "--resume cluster") + " or " + typed_command("run", "--resume kafka") +
               "; see `Another cluster` in docs/reference/resume.md for when each is safe";
    for (question& asked : why.questions) asked.hint = why.hint;
    return session_result{session_end::refused, std::move(why)};
  }
  if (r.rebuild) return session_result{session_end::rebuild, std::move(r.rebuild)};
  return std::optional{std::move(r)};
}

/// Or may, once the brokers answer for them.
bool group_ownership::reads_others_than(std::span<const topic_partition> partitions) const {
  const auto is_one = [&](const topic_partition& where) {
    return std::find(partitions.begin(), partitions.end(), where) != partitions.end();
  };
  const auto given = deps_.partitions.given();
  return std::any_of(given.begin(), given.end(), [&](const topic_partition& where) {
    return !is_one(where) && !deps_.partitions.is_stopped(where);
  });
}

turn_result<bool> group_ownership::take(resolved_assignment& r,
                                        std::span<const topic_partition> not_at_their_end, bool more) {
  if (r.takeover) {
    RATCHET_TRY(sign(r.takeover_counter));
  }
  // The resolved start is durable before anything is claimed: whoever reads the claim can rely on it.
  store_change change = change_of_store(r);
  const auto known = moves() && deps_.wish.option != resume_option::store
                         ? pipeline::known_positions::are_forgotten
                         : pipeline::known_positions::stay;
  auto entered =
      deps_.steps.enter_positions(r.start, not_at_their_end, std::move(r.audits), std::move(change), known);
  if (entered) entered = deps_.store.sync();
  if (!entered) return store_failure(deps_.store, deps_.settings, entered.error());
  r.only_claimed.insert(r.only_claimed.end(), r.start.begin(), r.start.end());
  if (!r.only_claimed.empty()) {
    const auto claimed = deps_.commits.claim(r.only_claimed);
    if (!claimed) return claim_failed(claimed.error(), more);
    RATCHET_TRY(meets_a_copy(claimed.value()));
  }
  has_taken_ = true;
  return true;
}

store_change group_ownership::change_of_store(resolved_assignment& r) const {
  store_change change;
  if (r.takeover) {
    // Drawn past the counter of the other copy's claims, which lies above the other's epoch.
    for (const incarnation& i : deps_.store.incarnations()) {
      change.outbox_epoch = std::max(change.outbox_epoch.value_or(0), i.counter);
    }
    change.taken_over = r.taken_over;
  }
  if (moves()) {
    change.cluster_id = deps_.wish.other_cluster;
    r.audits.push_back(audit_of_other_cluster(deps_.store.cluster_id(), deps_.wish.other_cluster,
                                              deps_.wish.option, deps_.clock.now()));
    r.audits.back().text += decided_by(deps_.wish.who);
  }
  const auto copy = deps_.store.copy();
  if (!copy || (!r.takeover && r.start.empty())) return change;
  // In the very step that enters the positions: until it is durable this is a copy that may not start.
  change.lift_copy_mark = true;
  r.audits.push_back(audit_of_copy(*copy, r.takeover, deps_.clock.now()));
  if (r.takeover) r.audits.back().text += decided_by(deps_.wish.who);
  return change;
}

/// An assignment that is not answered blocks the member, and one without a claim must not be read.
turn_result<bool> group_ownership::claim_failed(std::error_code code, bool more) {
  const bool moved_on = classify(code) == error_class::moved_on;
  if (more && (passes(classify(code)) || moved_on)) return false;  // they are held on
  if (moved_on) {
    tell(deps_.log, log_kind::group_moved_on,
         "the group was rebalanced before this instance claimed it ({}); waiting for the next assignment",
         code.message());
    const auto answered = deps_.source.assign({});
    if (!answered) return deps_.questions.resume_failed(answered.error());
    return false;
  }
  return deps_.questions.failed(
      "group `" + deps_.settings.kafka.group + "` could not be claimed by committing offsets", code,
      session_end::client_lost);
}

/// Two copies of one directory that start at the same moment find only the claims that they share, and get a
/// part of the partitions each. Whoever claims second sees the other's claim here; none has read yet.
turn_result<> group_ownership::meets_a_copy(std::size_t claimed) {
  if (has_taken_ || claimed == deps_.partitions.all().size()) return go_on();
  auto met = foreign_claim(deps_.source, deps_.store, deps_.steps, deps_.partitions.all(), claims_of::copies,
                           k_query_timeout);
  if (!met) return deps_.questions.resume_failed(met.error());
  if (!met.value()) return go_on();
  met.value()->message = "group `" + deps_.settings.kafka.group + "` was left: " + met.value()->message;
  return session_result{session_end::refused, std::move(*met.value())};
}

void group_ownership::tell_of_option(const resolved_assignment& r) const {
  const resume_option option = deps_.wish.option;
  if (option == resume_option::none || r.option_used || deps_.wish.was_used) return;
  if (r.stops.empty()) {
    tell(deps_.log, log_kind::resume_option_unused,
         "`--resume {}` had nothing to do: the state and the group's offsets fit{}", name_of(option),
         option == resume_option::rebuild
             ? "; to rebuild the state anyway, stop, move " + shell_word(deps_.settings.state.path.string()) +
                   " away, and start with the same option"
             : "");
  } else {
    tell(deps_.log, log_kind::resume_told, "`--resume {}` does not apply to what was found", name_of(option));
  }
}

}  // namespace ratchet
