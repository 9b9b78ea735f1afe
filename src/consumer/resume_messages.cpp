// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "consumer/assignment.hpp"
#include "core/typed_command.hpp"
#include "decode/time_text.hpp"
#include "text/partition_name.hpp"

/// The messages for each row of the resume table.
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
         "; the original store wrote the group's committed offset " + number(f.committed) + " (" + metadata +
         "), and may still run";
}

std::string found_other_cluster(const resume_facts& f) {
  if (f.option == resume_option::store)
    return "the last handled record is no longer in the log, so Ratchet cannot check that the offsets are "
           "the same on this cluster";
  std::string what = "the state's offset " + number(f.stored) + " is of another cluster";
  if (f.option != resume_option::kafka) return what;
  return what +
         "; the group has no offset on this cluster, and from the start of the log Ratchet would handle "
         "records again";
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
             ": the topic was truncated or created again";
    case resume_row::other_record:
      return "the record at offset " + std::to_string(f.last_offset) +
             " is not the one that was handled there: the topic was created again";
    case resume_row::rewound:
      return "an operator or another program set the group's offset back to " + committed +
             "; the state ends at " + stored;
    case resume_row::skipped_ahead:
      return "an operator or another program set the group's offset ahead to " + committed +
             "; the state ends at " + stored;
    case resume_row::store_lost:
      return "the group has a committed offset (" + committed +
             "), but this state directory has no entry for the partition: the state was lost, or another "
             "directory uses the group" +
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
                 ? "if the records have other offsets on this cluster, start with " +
                       typed_command("run", "--resume cluster") + " or " +
                       typed_command("run", "--resume kafka") +
                       "; see `Another cluster` in docs/reference/resume.md for when each is safe"
                 : "set the group's offset there, or let the mirror translate it; see `Another cluster` in "
                   "docs/reference/resume.md";
    case resume_row::copied_directory:
      return f.copy ? "make sure that the original is stopped and does not start again, then start with " +
                          typed_command("run", "--resume takeover") +
                          ": the copy goes on at its own offsets, and the original is refused from then on"
                    : "decide which copy goes on; stop the other copy, and make sure that it does not start "
                      "again; then start the copy that goes on, with " +
                          typed_command("run", "--resume takeover") + " if it is refused";
    case resume_row::other_store:
      return "give each state directory a `kafka.group` of its own, or start with the directory that holds "
             "the group; if this directory is the right one, see `Take the group back` in "
             "docs/reference/resume.md";
    case resume_row::below_log_start:
      return "start with " + typed_command("run", "--resume kafka") +
             " to accept this gap (an audit row is kept), or with " +
             typed_command("run", "--resume rebuild") +
             " to build a new state from the records in the log: that state lacks everything before offset " +
             std::to_string(f.log_start);
    case resume_row::past_log_end:
    case resume_row::other_record:
      return "to keep the state, give the new topic another name, and put that name into `topics`; if this "
             "is the wrong cluster, correct `kafka.brokers`; to replace the whole state by one from the "
             "records in the "
             "log, start with " +
             typed_command("run", "--resume rebuild") +
             " (in order `strict`, events then wait for first numbers that the log lacks)";
    case resume_row::rewound:
      return "start with " + typed_command("run", "--resume store") + " to go on at " + number(f.stored) +
             ", or with " + typed_command("run", "--resume rebuild") +
             " to handle all records again into a new state";
    case resume_row::skipped_ahead:
      return "start with " + typed_command("run", "--resume store") + " to handle " +
             range(f.stored.value_or(0), f.committed.value_or(0)) + " after all, or with " +
             typed_command("run", "--resume kafka") + " to skip them (an audit row is kept)";
    case resume_row::store_lost:
      return "if another instance runs in this group, leave the group to it: instances do not share a group, "
             "and in a group of its own this directory would publish everything again, under other ids; if "
             "none runs, put the right state directory back; if it is lost, accept the loss and go on at " +
             number(f.committed) + " with " + typed_command("run", "--resume kafka") +
             ", or build the state again from " +
             (f.log_start > 0 ? "offset " + std::to_string(f.log_start) + ", where the log begins now,"
                              : std::string{"the start of the log"}) +
             " with " + typed_command("run", "--resume rebuild");
    case resume_row::equal_foreign:
    case resume_row::behind_or_absent:
    case resume_row::power_loss:
    case resume_row::started_over:
    case resume_row::fresh:
      break;
  }
  return {};
}

/// On a pair another instance would go on before the answer is there, and a step carries neither a new state
/// nor a copy's claim.
std::string what_to_type_on_a_pair(resume_row row, const resume_facts& f) {
  const auto start_with = [](const std::string& command, const std::string& what) {
    return "stop the other instances of this log, then start one with " + command + " " + what +
           ", and the others without it when the first one owns the state";
  };
  const std::string anew = "to build a new state from the records in the log, " + std::string{k_new_pair};
  switch (row) {
    case resume_row::below_log_start:
      return start_with(typed_command("run", "--resume kafka"), "to accept this gap (an audit row is kept)") +
             "; or, " + anew + ": that state lacks everything before offset " + std::to_string(f.log_start);
    case resume_row::past_log_end:
    case resume_row::other_record:
      return "to keep the state, give the new topic another name, and put that name into `topics` of all "
             "instances; " +
             anew + "; if this is the wrong cluster, correct `kafka.brokers`";
    case resume_row::rewound:
      return start_with(typed_command("run", "--resume store"), "to go on at " + number(f.stored));
    case resume_row::skipped_ahead:
      return start_with(typed_command("run", "--resume store"),
                        "to handle " + range(f.stored.value_or(0), f.committed.value_or(0)) +
                            " after all, or with " + typed_command("run", "--resume kafka") +
                            " to skip them (an audit row is kept)");
    case resume_row::store_lost:
      return "if other instances run in this group, leave the group to them, and give this log a "
             "`kafka.group` of its own; if none runs, to accept the loss and go on at " +
             number(f.committed) + ", start with " + typed_command("run", "--resume kafka") + "; " + anew;
    case resume_row::copied_directory:
      return "start the instance whose directory the log began with; see `Questions on a pair` in "
             "docs/operating/high-availability.md";
    case resume_row::other_store:
      return what_to_type(row, f);
    case resume_row::other_cluster:
    case resume_row::equal_foreign:
    case resume_row::behind_or_absent:
    case resume_row::power_loss:
    case resume_row::started_over:
    case resume_row::fresh:
      break;
  }
  return {};
}

/// Those that a start with `replicate` takes.
[[nodiscard]] bool is_for_a_pair(const resume_choice& choice) {
  return choice.option == resume_option::store || choice.option == resume_option::kafka;
}

}  // namespace

std::string range(std::int64_t from, std::int64_t to) {
  return "[" + std::to_string(from) + ", " + std::to_string(to) + ")";
}

problem describe(resume_row row, const committed_offset& of, const resume_facts& f, std::string_view stream,
                 bool log_known, bool replicated) {
  const errc code = row == resume_row::other_store ? errc::group_taken : errc::resume_refused;
  problem p{make_error_code(code),
            to_string(of.where) + ": " + found(row, f, of.metadata),
            replicated ? what_to_type_on_a_pair(row, f) : what_to_type(row, f),
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
  if (replicated) std::erase_if(asked.choices, [](const resume_choice& c) { return !is_for_a_pair(c); });
  return p;
}

}  // namespace ratchet
