// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "reports/status_report.hpp"

#include <algorithm>
#include <utility>

#include "reports/row_reports.hpp"
#include "reports/slot_report.hpp"
#include "reports/status_rows.hpp"
#include "telemetry/count_names.hpp"
#include "text/json_writer.hpp"

namespace ratchet {

std::vector<partition_report> partitions_of(const stream_report& stream) {
  std::map<topic_partition, partition_report> all;
  for (const auto& [where, state] : stream.state.partitions) {
    if (where.topic.empty()) continue;  // a plain file: its positions mean nothing
    partition_report& report = all[where];
    if (state.has_position()) report.next_offset = state.next_offset;
  }
  for (const auto& [where, live] : stream.live) all[where].live = live;
  std::vector<partition_report> reports;
  for (auto& [where, report] : all) {
    report.where = where;
    // Where another one reads it, the log end is as old as the assignment here.
    if (report.live && report.live->assigned && report.live->log_end && report.next_offset) {
      // The view may be younger than the log end that was last seen.
      report.lag = std::max<std::int64_t>(0, *report.live->log_end - *report.next_offset);
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

stream_report report_of_run(std::string name, const stream_state& before, stream_state after,
                            live_partitions live) {
  counters run = after.counters.since(before.counters);
  run.waiting_parked = after.counters.waiting_parked;
  run.waiting_retrying = after.counters.waiting_retrying;
  run.waiting_dead = after.counters.waiting_dead;
  run.waiting_bytes = after.counters.waiting_bytes;
  after.counters = run;
  return {std::move(name), std::move(after), std::move(live), {}, {}};
}

namespace {

template <class T>
void optional_number(json_writer& json, const std::optional<T>& value) {
  value ? json.number(*value) : json.null();
}

void write_counters(json_writer& json, const counters& c) {
  json.key("consumed").number(c.consumed);
  json.key("verdicts").begin_object();
  for (const auto& [name, value] : verdict_counts(c)) json.key(name).number(value);
  json.end_object();
  json.key("rejected").begin_object();
  for (const auto& [name, value] : reason_counts(c)) json.key(name).number(value);
  json.end_object();
  json.key("waiting").begin_object();
  for (const auto& [name, value] : counts_of_waiting(c)) json.key(name).number(value);
  json.end_object().key("waiting_bytes").number(c.waiting_bytes);
  json.key("ids_ahead").number(c.ids_ahead);
  json.key("times_passed_over").number(c.times_passed_over);
  json.key("times_behind").number(c.times_behind);
  json.key("forgotten").number(c.forgotten);
}

void write_partition(json_writer& json, const partition_report& p) {
  json.begin_object();
  json.key("topic").string(p.where.topic);
  json.key("partition").number(static_cast<std::int32_t>(p.where.partition));
  optional_number(json.key("next_offset"), p.next_offset);
  optional_number(json.key("committed"), p.live ? p.live->committed : std::nullopt);
  optional_number(json.key("lag"), p.lag);
  if (p.live) json.key("assigned").boolean(p.live->assigned);
  if (p.live && p.live->held_back) json.key("transaction_open_at").number(*p.live->held_back);
  if (p.live && p.live->stopped) json.key("stopped").string(*p.live->stopped);
  json.end_object();
}

void write_gap(json_writer& json, const stream_report& stream) {
  if (!stream.oldest_gap) {
    json.null();
    return;
  }
  const gap_report& gap = *stream.oldest_gap;
  json.begin_object().key("aggregate").string(gap.aggregate).key("since").time(gap.since);
  json.key("age_ms").number(age_of(gap, stream.state).count());
  write_missing(json.key("missing"), gap.missing);
  json.end_object();
}

void write_fields(json_writer& json, const live_fields& fields) {
  json.begin_object().key("events").number(fields.events).key("found").begin_object();
  for (const live_field& field : fields.fields) json.key(field.name).number(field.found);
  json.end_object().end_object();
}

result<void> write_stream(json_writer& json, const stream_report& stream, report_source source,
                          answer_pieces& out) {
  json.key(stream.name).begin_object();
  write_counters(json, stream.state.counters);
  if (stream.fields) write_fields(json.key("fields"), *stream.fields);
  if (source != report_source::run) write_gap(json.key("oldest_gap"), stream);
  json.key("floor").time(stream.state.floor);
  json.key("partitions").begin_array();
  for (const partition_report& p : partitions_of(stream)) write_partition(json, p);
  json.end_array();
  if (stream.rejected) {
    json.key("rejected_records").begin_array();
    RATCHET_TRY(out.add_array<rejected_row>(json, stream.rejected, write_rejected));
    json.end_array();
  }
  json.end_object();
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

void write_store(json_writer& json, const status_report& report) {
  json.key("store").string(report.store->uuid).key("step").number(report.step);
  json.key("copy");
  if (const auto& copy = report.store->copy) {
    json.begin_object().key("of").string(report.store->uuid);
    json.key("step").number(copy->step).key("taken_at").time(copy->taken_at).end_object();
  } else {
    json.null();
  }
  json.key("outbox").begin_object().key("messages").number(report.outbox.rows());
  json.key("bytes").number(report.outbox.bytes);
  const std::string& trouble = report.live.outbox_trouble;
  if (!trouble.empty()) json.key("trouble").string(trouble);
  json.end_object();
  if (report.sinks.empty()) return;
  json.key("sinks").begin_object();
  for (const auto& [name, waiting] : report.sinks) {
    json.key(name).begin_object().key("messages").number(waiting.rows()).key("bytes").number(waiting.bytes);
    const auto live = report.live.sinks.find(name);
    if (live != report.live.sinks.end() && !live->second.trouble.empty())
      json.key("trouble").string(live->second.trouble);
    if (live != report.live.sinks.end()) json.key("refused").number(live->second.refused);
    json.end_object();
  }
  json.end_object();
}

}  // namespace

result<void> write_status_json(const status_report& report, answer_pieces& out) {
  json_writer json;
  json.begin_object();
  if (report.source != report_source::run) {
    json.key("running").boolean(report.source == report_source::instance);
  }
  if (report.source == report_source::instance) {
    json.key("ready").boolean(report.live.ready).key("ready_reason");
    report.live.ready_reason.empty() ? json.null() : json.string(report.live.ready_reason);
    json.key("started_at").time(report.live.started_at);
  }
  if (report.store) write_store(json, report);
  if (report.live.slot) write_slot(json.key("slot"), *report.live.slot);
  if (report.replica) write_slot(json.key("slot"), *report.replica);
  json.key("streams").begin_object();
  for (const stream_report& stream : report.streams) {
    RATCHET_TRY(write_stream(json, stream, report.source, out));
  }
  json.end_object();
  if (report.audits) {
    audits_listed listed;
    json.key("audit").begin_array();
    RATCHET_TRY(out.add_array<audit_row>(json, limited_audits(report, listed), write_audit));
    json.end_array();
  }
  json.end_object();
  out.add(json.take() + "\n");
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

audit_walk limited_audits(const status_report& report, audits_listed& listed) {
  return [&report, &listed](const visit_row<audit_row>& visit) {
    return report.audits([&](const audit_row* row) {
      if (row == nullptr) return visit(row);
      if (report.audit_limit && listed.shown >= *report.audit_limit && row->step != listed.last_step) {
        listed.more = true;
        return false;
      }
      ++listed.shown;
      listed.last_step = row->step;
      return visit(row);
    });
  };
}

result<void> write_status(const status_report& report, bool json, const byte_sink& sink) {
  answer_pieces out{sink};
  RATCHET_TRY(json ? write_status_json(report, out) : write_status_text(report, out));
  out.end();
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

namespace {

std::string whole(const status_report& report, bool json) {
  std::string text;
  const auto written = write_status(report, json, [&text](std::string_view piece) {
    text += piece;
    return true;
  });
  if (!written) text += written.error().message() + "\n";
  return text;
}

}  // namespace

std::string status_json(const status_report& report) {
  return whole(report, true);
}

std::string status_text(const status_report& report) {
  return whole(report, false);
}

}  // namespace ratchet
