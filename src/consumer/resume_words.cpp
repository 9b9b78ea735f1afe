// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <string>

#include "consumer/assignment.hpp"
#include "decode/time_text.hpp"
#include "text/partition_name.hpp"

/// What a person reads where offsets and state do not fit, row by row of the resume table.
namespace ratchet {

namespace {

std::string number(const std::optional<std::int64_t>& offset) {
  return offset ? std::to_string(*offset) : "nothing";
}

std::string found_copy(const resume_facts& f, const std::string& metadata) {
  if (!f.copy) {
    return "the group's committed offset " + number(f.committed) +
           " was written by another copy of this state directory (" + metadata + ")";
  }
  return "this state directory is a checkpoint of step " + std::to_string(f.copy->step) + ", taken at " +
         to_rfc3339(f.copy->taken_at) + ", and ends at offset " + number(f.stored) +
         "; the group's committed offset " + number(f.committed) + " is of the store it was taken of (" +
         metadata + "), which may still be in use";
}

std::string found_other_cluster(const resume_facts& f) {
  if (f.option == resume_option::store)
    return "the record that was handled last is no longer in the log, so Ratchet cannot check that the "
           "offsets are the same on this cluster";
  const std::string what = "the state's offset " + number(f.stored) + " is another cluster's";
  if (f.option != resume_option::kafka) return what;
  return what +
         ", the group has no offset on this cluster, and from the log's start handled records would be "
         "handled again";
}

std::string found(resume_row row, const resume_facts& f, const std::string& metadata) {
  const std::string stored = number(f.stored);
  const std::string committed = number(f.committed);
  switch (row) {
    case resume_row::other_cluster:
      return found_other_cluster(f);
    case resume_row::copied_directory:
      return found_copy(f, metadata);
    case resume_row::other_store:
      return "the consumer group is held by another state directory (" + metadata + ")";
    case resume_row::below_log_start:
      return "the state ends at offset " + stored + ", but the log begins at " + std::to_string(f.log_start) +
             ": offsets " + range(f.stored.value_or(0), f.log_start) +
             " were deleted before they were handled";
    case resume_row::past_log_end:
      return "the state ends at offset " + stored + ", but the log ends at " + std::to_string(f.log_end) +
             ": the topic was truncated or made anew";
    case resume_row::other_record:
      return "the record at offset " + std::to_string(f.last_offset) +
             " is not the one that was handled there: the topic was made anew";
    case resume_row::rewound:
      return "somebody set the group's offset back to " + committed + "; the state ends at " + stored;
    case resume_row::skipped_ahead:
      return "somebody set the group's offset ahead to " + committed + "; the state ends at " + stored;
    case resume_row::store_lost:
      return "the group has a committed offset (" + committed +
             ") but this state directory knows nothing of the partition: the state was lost, or the group is "
             "somebody else's" +
             (metadata.empty() ? std::string{} : " (" + metadata + ")");
    case resume_row::equal_foreign:
    case resume_row::behind_or_absent:
    case resume_row::power_loss:
    case resume_row::started_over:
    case resume_row::fresh:
      break;
  }
  return name_of(row);
}

std::string what_to_type(resume_row row, const resume_facts& f) {
  switch (row) {
    case resume_row::other_cluster:
      return f.option == resume_option::store
                 ? "where the records have other offsets on this cluster, answer `--resume cluster` or "
                   "`--resume kafka`; docs/reference/resume.md says under `Another cluster` when each is safe"
                 : "set the group's offset there, or let the mirror translate it; "
                   "docs/reference/resume.md says under `Another cluster` how";
    case resume_row::copied_directory:
      return f.copy
                 ? "make sure that the other one is stopped for good, then start with `--resume takeover`: "
                   "this one goes on at its own offsets, and the other one is refused from then on"
                 : "make sure that the other copy is stopped for good, then start with `--resume takeover`";
    case resume_row::other_store:
      return "use a `kafka.group` of its own for each state directory, or start with the directory that "
             "holds it; where this one is the right one, docs/reference/resume.md says under `Take the group "
             "back` what to type";
    case resume_row::below_log_start:
      return "start with `--resume kafka` to accept that gap (an audit row is kept), or with `--resume "
             "rebuild` to build the state anew from what the log still has: it then lacks all that is older "
             "than offset " +
             std::to_string(f.log_start);
    case resume_row::past_log_end:
    case resume_row::other_record:
      return "start with `--resume rebuild` to build the state anew, which replaces all of it by what the "
             "log has now; or point the config at the right cluster; to keep the state, give the new topic "
             "another name, and name that in `topics`";
    case resume_row::rewound:
      return "start with `--resume store` to go on at " + number(f.stored) +
             ", or with `--resume rebuild` to handle everything again into a new state";
    case resume_row::skipped_ahead:
      return "start with `--resume store` to handle " + range(f.stored.value_or(0), f.committed.value_or(0)) +
             " after all, or with `--resume kafka` to skip them (an audit row is kept)";
    case resume_row::store_lost:
      return "instances do not share a group: where another one runs in it, leave it to that one (in a group "
             "of its own this one would handle and publish everything once more, under other ids); where "
             "none does, put the right state directory back, or start with `--resume rebuild` to build the "
             "state anew from the log's start, or with `--resume kafka` to accept the loss and go on at " +
             number(f.committed);
    case resume_row::equal_foreign:
    case resume_row::behind_or_absent:
    case resume_row::power_loss:
    case resume_row::started_over:
    case resume_row::fresh:
      break;
  }
  return {};
}

}  // namespace

std::string range(std::int64_t from, std::int64_t to) {
  return "[" + std::to_string(from) + ", " + std::to_string(to) + ")";
}

problem describe(resume_row row, const committed_offset& of, const resume_facts& f, std::string_view stream,
                 bool log_known) {
  const errc code = row == resume_row::other_store ? errc::group_taken : errc::resume_refused;
  problem p{make_error_code(code),
            to_string(of.where) + ": " + found(row, f, of.metadata),
            what_to_type(row, f),
            {}};
  const auto kind = question_of(row);
  if (!kind) return p;
  question& asked = p.questions.emplace_back();
  asked.kind = *kind;
  asked.stream = stream;
  asked.where = of.where;
  asked.stored = f.stored;
  asked.committed = f.committed;
  if (log_known) {
    asked.log_start = f.log_start;
    asked.log_end = f.log_end;
  }
  asked.message = p.message;
  asked.hint = p.hint;
  asked.choices = choices_of(f, row, log_known);
  return p;
}

}  // namespace ratchet
