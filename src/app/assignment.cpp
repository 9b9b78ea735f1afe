// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "app/assignment.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "decode/record_hash.hpp"

namespace ratchet {

namespace {

constexpr std::chrono::milliseconds k_query_timeout{10'000};

[[nodiscard]] commit_owner owner_of(const store& s, const committed_offset& c) {
  if (!c.offset) return commit_owner::none;
  const std::optional<commit_mark> mark = parse_metadata(c.metadata);
  if (!mark) return commit_owner::foreign;
  if (mark->store_uuid != s.uuid()) return commit_owner::other_store;
  const auto known = s.incarnations();
  return std::find(known.begin(), known.end(), mark->incarnation) != known.end() ? commit_owner::ours
                                                                                 : commit_owner::ours_unknown;
}

/// What the store and Kafka's committed offset say; the log is not looked at.
[[nodiscard]] resume_facts facts_without_log(const store& s, const pipeline& p, const committed_offset& c,
                                             resume_option option) {
  resume_facts f;
  if (const partition_state* state = p.find(c.where)) f.stored = state->next_offset;
  f.committed = c.offset;
  f.owner = owner_of(s, c);
  f.log_end = std::numeric_limits<std::int64_t>::max();
  f.option = option;
  if (const stream_runtime* stream = p.stream_of(c.where.topic)) {
    f.store_is_new = stream->state.partitions.empty();
    f.start = stream->config.start.value_or(start_position::earliest);
  }
  return f;
}

/// Compares the record at the last handled offset with what the store remembers of it.
[[nodiscard]] result<resume_facts::last_record> check_last_record(source& from, const partition_state& state,
                                                                  const topic_partition& where,
                                                                  const log_bounds& log) {
  using last_record = resume_facts::last_record;
  if (!state.last_record_hash || state.next_offset <= 0) return last_record::not_checked;
  if (state.next_offset < log.start || state.next_offset > log.end) return last_record::not_checked;
  if (state.next_offset - 1 < log.start) return last_record::absent;
  RATCHET_TRY(const auto found, from.read_at(where, state.next_offset - 1, k_query_timeout));
  if (!found) return last_record::absent;
  return record_hash(found->key, found->value) == *state.last_record_hash ? last_record::same
                                                                          : last_record::other;
}

[[nodiscard]] std::string range(std::int64_t from, std::int64_t to) {
  return "[" + std::to_string(from) + ", " + std::to_string(to) + ")";
}

[[nodiscard]] audit_row audit_of(const resume_decision& d, const topic_partition& where, const pipeline& p,
                                 timestamp now) {
  std::string text = to_string(where) + ": resumed at offset " + std::to_string(d.offset);
  if (d.lost_to > d.lost_from) text += ", offsets " + range(d.lost_from, d.lost_to) + " were not handled";
  if (d.new_identity) text += ", the directory took over from the one it was copied from";
  const stream_runtime* stream = p.stream_of(where.topic);
  return {0, now, std::string{"resume_"} + name_of(d.row), stream != nullptr ? stream->config.name : "",
          text};
}

void enter(resolved_assignment& out, const resume_decision& d, const committed_offset& c,
           const resume_facts& f, const pipeline& p, timestamp now) {
  switch (d.action) {
    case resume_action::rebuild:
      out.rebuild = true;
      return;
    case resume_action::refuse:
    case resume_action::stop: {
      problem why = describe(d.row, c.where, f, c.metadata);
      if (d.action == resume_action::refuse && !out.refused) out.refused = why;
      out.stopped.emplace_back(c.where, why.message);
      out.stops.push_back(std::move(why));
      return;
    }
    case resume_action::resume:
      break;
  }
  out.start.push_back({c.where, d.offset});
  if (d.audit) out.audits.push_back(audit_of(d, c.where, p, now));
  if (d.lost_to > d.lost_from) {
    out.warnings.push_back(to_string(c.where) + ": offsets " + range(d.lost_from, d.lost_to) +
                           " are not handled");
  }
  if (d.warn_unchecked) {
    out.warnings.push_back(
        to_string(c.where) + ": the record at offset " + std::to_string(d.offset - 1) +
        " is gone (compacted or expired), so it cannot be told whether the topic is still the same");
  }
  if (d.new_identity) {
    out.takeover = true;
    if (const auto mark = parse_metadata(c.metadata)) {
      out.takeover_counter = std::max(out.takeover_counter, mark->incarnation.counter);
    }
  }
}

}  // namespace

problem describe(resume_row row, const topic_partition& where, const resume_facts& f,
                 const std::string& metadata) {
  const std::string place = to_string(where);
  const std::string stored = f.stored ? std::to_string(*f.stored) : "nothing";
  const std::string committed = f.committed ? std::to_string(*f.committed) : "nothing";
  problem p{make_error_code(errc::resume_refused), place + ": ", "", {}};
  switch (row) {
    case resume_row::copied_directory:
      p.message += "the group's committed offset " + committed +
                   " was written by another copy of this state directory (" + metadata + ")";
      p.hint = "make sure that the other copy is stopped for good, then start with `--resume takeover`";
      break;
    case resume_row::other_store:
      p.code = make_error_code(errc::group_taken);
      p.message += "the consumer group is held by another state directory (" + metadata + ")";
      p.hint =
          "use a `kafka.group` of its own for each state directory, or start with the directory that holds "
          "it";
      break;
    case resume_row::below_log_start:
      p.message += "the state ends at offset " + stored + ", but the log begins at " +
                   std::to_string(f.log_start) + ": offsets " + range(f.stored.value_or(0), f.log_start) +
                   " were deleted before they were handled";
      p.hint =
          "start with `--resume kafka` to accept that gap (an audit row is kept), or with `--resume rebuild` "
          "to "
          "build the state anew from what the log still has";
      break;
    case resume_row::past_log_end:
      p.message += "the state ends at offset " + stored + ", but the log ends at " +
                   std::to_string(f.log_end) + ": the topic was truncated or made anew";
      p.hint =
          "start with `--resume rebuild` to build the state anew, or point the config at the right cluster";
      break;
    case resume_row::other_record:
      p.message += "the record at offset " + std::to_string(f.stored.value_or(1) - 1) +
                   " is not the one that was handled there: the topic was made anew";
      p.hint =
          "start with `--resume rebuild` to build the state anew, or point the config at the right cluster";
      break;
    case resume_row::rewound:
      p.message += "somebody set the group's offset back to " + committed + "; the state ends at " + stored;
      p.hint = "start with `--resume store` to go on at " + stored +
               ", or with `--resume rebuild` to handle everything again into a new state";
      break;
    case resume_row::skipped_ahead:
      p.message += "somebody set the group's offset ahead to " + committed + "; the state ends at " + stored;
      p.hint = "start with `--resume store` to handle " +
               range(f.stored.value_or(0), f.committed.value_or(0)) +
               " after all, or with `--resume kafka` to skip them (an audit row is kept)";
      break;
    case resume_row::store_lost:
      p.message +=
          "the group has a committed offset (" + committed +
          ") but this state directory knows nothing of the partition: the state was lost, or the group is "
          "somebody else's" +
          (metadata.empty() ? std::string{} : " (" + metadata + ")");
      p.hint =
          "put the right state directory back; or, when you are sure that no instance with another directory "
          "runs in this group, start with `--resume rebuild` to build the state anew from the log's start, "
          "or with `--resume kafka` to accept the loss and go on at " +
          committed + "; or use another `kafka.group`";
      break;
    case resume_row::equal_foreign:
    case resume_row::behind_or_absent:
    case resume_row::power_loss:
    case resume_row::started_over:
    case resume_row::fresh:
      p.message += name_of(row);
      break;
  }
  return p;
}

result<resolved_assignment> resolve_assignment(source& from, const store& s, const pipeline& p,
                                               std::span<const topic_partition> partitions,
                                               resume_option option, timestamp now) {
  resolved_assignment out;
  RATCHET_TRY(const auto committed, from.committed(partitions, k_query_timeout));
  for (const committed_offset& c : committed) {
    resume_facts f = facts_without_log(s, p, c, option);
    RATCHET_TRY(const log_bounds log, from.bounds(c.where, k_query_timeout));
    f.log_start = log.start;
    f.log_end = log.end;
    if (const partition_state* state = p.find(c.where)) {
      RATCHET_TRY(f.last, check_last_record(from, *state, c.where, log));
    }
    enter(out, resolve_resume(f), c, f, p, now);
  }
  return out;
}

result<std::optional<problem>> refusal_before_joining(source& from, const store& s, const pipeline& p,
                                                      std::span<const topic_partition> partitions,
                                                      resume_option option, const std::string& group) {
  RATCHET_TRY(const auto committed, from.committed(partitions, k_query_timeout));
  for (const committed_offset& c : committed) {
    const resume_facts f = facts_without_log(s, p, c, option);
    const resume_decision d = resolve_resume(f);
    if (d.action != resume_action::refuse) continue;
    problem why = describe(d.row, c.where, f, c.metadata);
    why.message = "group `" + group + "` was not joined: " + why.message;
    return std::optional{std::move(why)};
  }
  return std::optional<problem>{};
}

bool has_own_claim(const store& s, std::span<const committed_offset> committed) {
  return std::any_of(committed.begin(), committed.end(),
                     [&](const committed_offset& c) { return owner_of(s, c) == commit_owner::ours; });
}

}  // namespace ratchet
