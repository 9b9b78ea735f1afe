// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "pipeline/audit_rows.hpp"

#include <utility>

#include "core/shown_id.hpp"
#include "decode/event_id_text.hpp"
#include "decode/time_text.hpp"
#include "pipeline/pipeline.hpp"
#include "text/counted.hpp"
#include "text/partition_name.hpp"

namespace ratchet {

namespace {

std::string text_of(const std::optional<std::int64_t>& offset) {
  return offset ? std::to_string(*offset) : "nothing";
}

/// Why, in words; empty where the rest of the sentence says it.
std::string reason_of(const resume_decision& d, const resume_facts& f) {
  const std::string committed = text_of(f.committed);
  switch (d.row) {
    case resume_row::below_log_start:
      return "the log begins at " + std::to_string(f.log_start) + ", and the state ended at " +
             text_of(f.stored) + ": the gap was accepted";
    case resume_row::rewound:
      return "the group's offset had been set back to " + committed + ": the state goes on where it ended";
    case resume_row::skipped_ahead:
      return "the group's offset had been set ahead to " + committed + ": " +
             (d.lost_to > d.lost_from ? "its records are skipped" : "its records are handled after all");
    case resume_row::equal_foreign:
      return "another client had committed the same offset";
    case resume_row::store_lost:
      if (d.new_identity) return "only the other store had read the partition: it is read from its beginning";
      return "the group had the offset " + committed + ", and the state had no offset of the partition";
    case resume_row::started_over:
      return "no record of it was applied before: the stream starts over with it";
    case resume_row::other_cluster:
      if (f.option == resume_option::store) return "the log is the same one on the other cluster";
      return f.option == resume_option::kafka && f.committed
                 ? "the group's offset on the other cluster"
                 : "the log of the other cluster is read from its start";
    case resume_row::other_store:
      return "another store's mark was on the group's offset " + committed;
    case resume_row::copied_directory:
    case resume_row::past_log_end:
    case resume_row::other_record:
    case resume_row::behind_or_absent:
    case resume_row::power_loss:
    case resume_row::fresh:
      break;
  }
  return {};
}

/// Rows that say nothing but that the offsets fit; what there is to tell of them is then the takeover.
bool fits_as_it_is(resume_row row) noexcept {
  return row == resume_row::behind_or_absent || row == resume_row::power_loss || row == resume_row::fresh;
}

std::string name_of(const copy_mark& mark) {
  return "the checkpoint of step " + std::to_string(mark.step) + ", taken at " + to_rfc3339(mark.taken_at);
}

audit_row row_of(std::string kind, timestamp now) {
  audit_row row;
  row.time = now;
  row.kind = std::move(kind);
  return row;
}

}  // namespace

audit_row audit_of_resume(const resume_decision& d, const resume_facts& f, const topic_partition& where,
                          const std::string& stream, timestamp now) {
  const bool is_takeover = d.new_identity && fits_as_it_is(d.row);
  audit_row row = row_of(std::string{"resume_"} + (is_takeover ? "takeover" : ratchet::name_of(d.row)), now);
  row.stream = stream;
  row.where = where;
  const bool resumed = d.action == resume_action::resume;
  row.text = to_string(where) + (resumed ? ": resumed at offset " + std::to_string(d.offset) : ": stopped");
  if (resumed && d.lost_to > d.lost_from) {
    row.not_handled = offset_range{d.lost_from, d.lost_to};
    row.text +=
        ", offsets [" + std::to_string(d.lost_from) + ", " + std::to_string(d.lost_to) + ") were not handled";
  }
  if (d.new_identity) row.text += ", the directory took over from the one it was copied from";
  if (const std::string why = reason_of(d, f); resumed && !why.empty()) row.text += "; " + why;
  return row;
}

audit_row audit_of_rebuild(const std::string& why, const std::string& kept_in, timestamp now) {
  audit_row row = row_of("state_rebuilt", now);
  row.text = "built from the beginning: " + why + "; the old state is kept in " + kept_in;
  return row;
}

audit_row audit_of_restarted_stream(const restarted_stream& s, timestamp now) {
  audit_row row = row_of("stream_started_over", now);
  row.stream = s.stream;
  row.text = "the settings changed before anything was applied: offsets and counters start over, after " +
             counted(s.forgotten.consumed, "record") + ", " + std::to_string(s.forgotten.rejected()) +
             " of them rejected";
  return row;
}

audit_row audit_of_topic_left(const std::string& stream, const std::string& topic, std::size_t partitions,
                              timestamp now) {
  audit_row row = row_of("topic_left", now);
  row.stream = stream;
  row.text = "the topic `" + topic + "` is no longer read: " + counted(partitions, "partition") +
             " of it held the window back and are left out from then on; the offsets are kept";
  return row;
}

audit_row audit_of_first_opening(const copy_mark& mark, std::uint64_t outbox_epoch, timestamp now) {
  audit_row row = row_of("copy_opened", now);
  row.text = name_of(mark) + ", was opened for writing for the first time; its outbox epoch is " +
             std::to_string(outbox_epoch);
  return row;
}

audit_row audit_of_copy(const copy_mark& mark, bool taken_over, timestamp now) {
  audit_row row = row_of(taken_over ? "copy_taken_over" : "copy_started", now);
  row.text = name_of(mark) + (taken_over ? ", took over from the store that it was taken of"
                                         : ", became a store of its own: no store had claimed the group");
  return row;
}

audit_row audit_of_other_cluster(const std::string& before, const std::string& now_read, resume_option option,
                                 timestamp now) {
  audit_row row = row_of("cluster_changed", now);
  row.text = "read from the cluster " + before + " so far, from the cluster " + now_read + " from now on; ";
  row.text += option == resume_option::store ? "offsets are the same there"
                                             : "the offsets of the cluster before are forgotten";
  return row;
}

audit_row audit_of_discarded_lane(const std::string& sink, const outbox_state& waiting, timestamp now) {
  audit_row row = row_of("sink_discarded", now);
  row.text = counted(waiting.rows(), "message") + " for the sink `" + sink + "`, from position " +
             std::to_string(waiting.first) + " on, discarded: the sink has `discard: true`";
  return row;
}

audit_row audit_of_skipped_output(const output_row& output, std::string stream, const std::string& why,
                                  timestamp now) {
  audit_row row = row_of("output_skipped", now);
  row.stream = std::move(stream);
  const std::string lane{output.lane()};
  row.text = "message " + std::to_string(output.position) +
             (lane.empty() ? " to the topic `" + output.topic : " of the sink `" + lane) + "`, " +
             to_text(output.id) + " of aggregate `" + shown_id(output.aggregate) +
             "`, was skipped and is not sent: " + why;
  return row;
}

audit_row audit_of_output_given_up(const output_row& output, std::string stream, const std::string& why,
                                   timestamp now) {
  audit_row row = row_of("output_given_up", now);
  row.stream = std::move(stream);
  row.text = std::string{name_of(output.kind)} + " " + to_text(output.id) + " of aggregate `" +
             shown_id(output.aggregate) + "` was not taken by the topic " + output.topic + ": " + why;
  return row;
}

}  // namespace ratchet
