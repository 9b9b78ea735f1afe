// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/assignment.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/shown_text.hpp"
#include "core/typed_command.hpp"
#include "decode/record_hash.hpp"
#include "pipeline/audit_rows.hpp"
#include "ports/source_condition.hpp"
#include "streams/known_repeats.hpp"
#include "text/partition_name.hpp"

namespace ratchet {

namespace {

using std::chrono::milliseconds;

[[nodiscard]] commit_owner owner_of(const store_lineage& s, const committed_offset& c) {
  if (!c.offset) return commit_owner::none;
  const std::optional<commit_mark> mark = parse_metadata(c.metadata);
  if (!mark) return commit_owner::foreign;
  if (mark->store_uuid != s.uuid()) return commit_owner::other_store;
  const auto known = s.incarnations();
  return std::find(known.begin(), known.end(), mark->incarnation) != known.end() ? commit_owner::ours
                                                                                 : commit_owner::ours_unknown;
}

/// What the store and Kafka's committed offset say; the log is not looked at.
[[nodiscard]] resume_facts facts_without_log(const store_lineage& s, const pipeline& p,
                                             const committed_offset& c, const resume_wish& wish) {
  resume_facts f;
  if (const partition_state* state = p.find(c.where)) f.stored = state->next_offset;
  f.committed = c.offset;
  f.owner = owner_of(s, c);
  f.copy = s.copy();
  f.log_end = std::numeric_limits<std::int64_t>::max();
  f.option = wish.option;
  f.rebuilt = wish.option == resume_option::rebuild && !wish.replaced_uuid.empty();
  f.other_cluster = !wish.other_cluster.empty();
  if (const partition_task* task = p.task_of(c.where.topic)) {
    const auto known = task->state.partitions.find(c.where);
    f.store_is_new = known == task->state.partitions.end() ? !task->state.has_positions()
                                                           : known->second.next_offset == k_from_log_end;
    f.start = task->stream.config.start.value_or(start_position::earliest);
    if (f.other_cluster) {
      f.store_is_new = false;  // a topic may have another name there
      f.knows_repeats = why_repeats_are_not_known(task->stream).empty();
    }
  }
  return f;
}

[[nodiscard]] resume_facts without_option(resume_facts f) {
  f.option = resume_option::none;
  f.rebuilt = false;
  return f;
}

using last_record = resume_facts::last_record;

/// What a partition's log says.
struct log_look {
  log_bounds bounds;
  last_record last{last_record::not_checked};
};

/// What is known of the last handled record without reading it; none: it must be read.
[[nodiscard]] std::optional<last_record> known_of_last(const partition_state* state, const log_bounds& log) {
  if (state == nullptr) return last_record::not_checked;
  if (state->next_offset < log.start || state->next_offset > log.end) return last_record::not_checked;
  if (!state->last_record)
    return log.start < state->next_offset ? last_record::unknown : last_record::not_checked;
  if (state->last_record->offset < log.start) return last_record::absent;
  // It was handled in part, and the log ends before it.
  if (state->last_record->offset >= log.end) return last_record::other;
  return std::nullopt;
}

/// Compares the last handled record with what lies at its offset now. Between it and the next offset there
/// are transaction markers alone, of which a topic that was made anew tells nothing.
[[nodiscard]] last_record compare_last(const partition_state& state,
                                       const std::optional<owned_record>& found) {
  if (!found) return last_record::absent;
  return record_hash(found->key, found->value) == state.last_record->hash ? last_record::same
                                                                          : last_record::other;
}

/// Of all at once: a partition after the other would cost a start a round trip for each.
[[nodiscard]] std::vector<result<log_look>> look_at_logs(source& from, const pipeline& p,
                                                         std::span<const committed_offset> all) {
  std::vector<topic_partition> partitions;
  for (const committed_offset& c : all) partitions.push_back(c.where);
  const auto bounds = from.bounds(partitions, k_query_timeout);
  std::vector<result<log_look>> looks;
  std::vector<position> unread;
  std::vector<std::size_t> of_unread;
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    if (!bounds[i]) {
      looks.emplace_back(bounds[i].error());
      continue;
    }
    const partition_state* state = p.find(partitions[i]);
    const auto known = known_of_last(state, bounds[i].value());
    looks.emplace_back(log_look{bounds[i].value(), known.value_or(last_record::not_checked)});
    if (known) continue;
    unread.push_back({partitions[i], state->last_record->offset});
    of_unread.push_back(i);
  }
  const auto found = from.read_at(unread, k_query_timeout);
  for (std::size_t i = 0; i < unread.size(); ++i) {
    result<log_look>& look = looks[of_unread[i]];
    if (found[i]) {
      look.value().last = compare_last(*p.find(unread[i].where), found[i].value());
    } else {
      look = found[i].error();
    }
  }
  return looks;
}

void note_takeover(resolved_assignment& out, const committed_offset& c, const store_lineage& s) {
  out.takeover = true;
  const auto mark = parse_metadata(c.metadata);
  if (!mark) return;
  out.takeover_counter = std::max(out.takeover_counter, mark->incarnation.counter);
  const auto known = s.incarnations();
  const auto has = [&](const std::vector<incarnation>& list) {
    return std::find(list.begin(), list.end(), mark->incarnation) != list.end();
  };
  if (!has(known) && !has(out.taken_over)) out.taken_over.push_back(mark->incarnation);
}

[[nodiscard]] std::string stream_name(const pipeline& p, const topic_partition& where) {
  const partition_task* of = p.task_of(where.topic);
  return of != nullptr ? of->stream.config.name : "";
}

/// The first is what a person reads; a program is asked of each partition.
void add_refusal(std::optional<problem>& refused, const problem& of_partition) {
  if (!refused) {
    refused = of_partition;
    return;
  }
  refused->questions.insert(refused->questions.end(), of_partition.questions.begin(),
                            of_partition.questions.end());
}

/// In order `strict` their events are gaps; empty: nobody waits for ever.
[[nodiscard]] std::string what_waits_for_them(const partition_task* task) {
  if (task == nullptr || task->stream.config.order != order::strict) return {};
  if (task->stream.config.gap.policy != gap_policy::wait) return {};
  return "; later events of an aggregate that lost one of them wait for its number until you decide about "
         "them: " +
         typed_command("waiting list", shell_word(task->stream.config.name) + " --reason gap") +
         " lists those that wait";
}

/// No record of it was ever handled: markers of transactions alone were read, or nothing.
[[nodiscard]] bool is_untouched(const partition_state* state) {
  return state != nullptr && !state->last_record && !state->highest_time && state->leaps.empty();
}

void enter(resolved_assignment& out, const resume_decision& d, const committed_offset& c,
           const resume_facts& f, const pipeline& p, const store_lineage& s, const resume_wish& wish,
           timestamp now) {
  const std::string stream = stream_name(p, c.where);
  if (d.new_identity && d.action != resume_action::refuse) note_takeover(out, c, s);
  switch (d.action) {
    case resume_action::rebuild:
      if (!out.rebuild) out.rebuild = describe(d.row, c, f, stream, true, wish.replicated);
      return;
    case resume_action::refuse:
    case resume_action::stop: {
      problem why = describe(d.row, c, f, stream, true, wish.replicated);
      if (d.action == resume_action::refuse) add_refusal(out.refused, why);
      if (d.row == resume_row::copied_directory || d.row == resume_row::other_store) ++out.claimed_by_others;
      out.stopped.emplace_back(c.where, shown_text(why.message) + "\n" + why.hint);
      out.stops.push_back(std::move(why));
      if (d.new_identity && d.action == resume_action::stop) {
        // Else what answers the stop could not be said: the copy's mark comes first.
        out.only_claimed.push_back({c.where, *f.stored});
        out.audits.push_back(audit_of_resume(d, f, c.where, stream, now));
      }
      return;
    }
    case resume_action::resume:
      break;
  }
  out.start.push_back({c.where, d.offset});
  if (d.audit) out.audits.push_back(audit_of_resume(d, f, c.where, stream, now));
  if (d.lost_to > d.lost_from) {
    out.warnings.push_back(to_string(c.where) + ": offsets " + range(d.lost_from, d.lost_to) +
                           " are not handled" + what_waits_for_them(p.task_of(c.where.topic)));
  }
  if (d.warn_unchecked && !is_untouched(p.find(c.where))) {
    const std::string why =
        f.last == resume_facts::last_record::absent
            ? "the record at offset " + std::to_string(f.last_offset) + " is gone (compacted or expired)"
            : "the state remembers no record below offset " + std::to_string(d.offset);
    out.warnings.push_back(to_string(c.where) + ": " + why +
                           ", so Ratchet cannot check whether the topic is still the same");
  }
}

}  // namespace

result<resolved_assignment> resolve_assignment(source& from, const store_lineage& s, const pipeline& p,
                                               std::span<const topic_partition> partitions,
                                               const resume_wish& wish, timestamp now) {
  resolved_assignment out;
  RATCHET_TRY(const auto committed, from.committed(partitions, k_query_timeout));
  const auto looks = look_at_logs(from, p, committed);
  for (std::size_t n = 0; n < committed.size(); ++n) {
    const committed_offset& c = committed[n];
    if (!looks[n]) {
      // That this user may not look is no matter of one partition; whatever else it is, it is of this one.
      if (access_kind_of(looks[n].error())) return looks[n].error();
      out.held.emplace_back(c.where, looks[n].error());
      continue;
    }
    const log_look& look = looks[n].value();
    resume_facts f = facts_without_log(s, p, c, wish);
    f.log_start = look.bounds.start;
    f.log_end = look.bounds.end;
    f.last = look.last;
    if (const partition_state* state = p.find(c.where); state != nullptr && state->last_record)
      f.last_offset = state->last_record->offset;
    out.logs[c.where] = look.bounds;
    const resume_decision d = resolve_resume(f);
    const bool by_option = d != resolve_resume(without_option(f));
    // A new state begins at the start of the log anyway: that is a rebuild all the same.
    const bool is_rebuilt =
        wish.option == resume_option::rebuild && d.row == resume_row::fresh && f.store_is_new;
    out.option_used = out.option_used || by_option || is_rebuilt;
    const std::size_t known = out.audits.size();
    enter(out, d, c, f, p, s, wish, now);
    for (std::size_t i = known; by_option && i < out.audits.size(); ++i)
      out.audits[i].text += decided_by(wish.who);
  }
  return out;
}

std::optional<committed_offset> overridden_claim(const store_lineage& s, const pipeline& p,
                                                 std::span<const committed_offset> committed,
                                                 const resume_wish& wish) {
  for (const committed_offset& c : committed) {
    const resume_facts f = facts_without_log(s, p, c, wish);
    if (resolve_resume(f).action == resume_action::refuse) continue;
    if (resolve_resume(without_option(f)).action != resume_action::refuse) continue;
    const auto mark = parse_metadata(c.metadata);
    if (mark && mark->store_uuid == wish.replaced_uuid) continue;
    return c;
  }
  return std::nullopt;
}

result<joining_check> check_before_joining(source& from, const store_lineage& s, const pipeline& p,
                                           std::span<const topic_partition> partitions,
                                           const resume_wish& wish, const std::string& group) {
  joining_check found;
  RATCHET_TRY(const auto committed, from.committed(partitions, k_query_timeout));
  for (const committed_offset& c : committed) {
    const resume_facts f = facts_without_log(s, p, c, wish);
    const resume_decision d = resolve_resume(f);
    if (d.action != resume_action::refuse) continue;
    add_refusal(found.refused, describe(d.row, c, f, stream_name(p, c.where), false, wish.replicated));
  }
  if (found.refused) {
    found.refused->message = "group `" + group + "` was not joined: " + found.refused->message;
    return found;
  }
  found.overridden = overridden_claim(s, p, committed, wish);
  return found;
}

bool has_own_claim(const store_lineage& s, std::span<const committed_offset> committed) {
  if (s.copy()) return false;  // they are of the store that it was taken of
  return std::any_of(committed.begin(), committed.end(),
                     [&](const committed_offset& c) { return owner_of(s, c) == commit_owner::ours; });
}

result<std::optional<problem>> foreign_claim(source& from, const store_lineage& s, const pipeline& p,
                                             std::span<const topic_partition> partitions, claims_of whose,
                                             std::chrono::milliseconds timeout) {
  std::optional<problem> found;
  RATCHET_TRY(const auto committed, from.committed(partitions, timeout));
  for (const committed_offset& c : committed) {
    const commit_owner owner = owner_of(s, c);
    const bool is_of_a_copy = owner == commit_owner::ours_unknown;
    const bool is_of_another =
        owner == commit_owner::other_store && whose == claims_of::copies_and_other_stores;
    if (!is_of_a_copy && !is_of_another) continue;
    const resume_row row = is_of_a_copy ? resume_row::copied_directory : resume_row::other_store;
    found =
        describe(row, c, facts_without_log(s, p, c, resume_wish{}), stream_name(p, c.where), false, false);
    break;
  }
  return found;
}

}  // namespace ratchet
