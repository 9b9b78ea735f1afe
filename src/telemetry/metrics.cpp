// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "telemetry/metrics.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <sstream>
#include <utility>
#include <vector>

#include "telemetry/count_names.hpp"

namespace ratchet {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using labels = std::vector<ClientMetric::Label>;

template <class T>
double as_double(T value) {
  return static_cast<double>(value);
}

double seconds_of(timestamp time) {
  return std::chrono::duration<double>{time.time_since_epoch()}.count();
}

/// The families of one scrape, in the order in which they are begun.
class exposition {
 public:
  exposition& counter(const char* name, const char* help) { return begin(name, help, MetricType::Counter); }
  exposition& gauge(const char* name, const char* help) { return begin(name, help, MetricType::Gauge); }

  /// One more value of the family that was begun last.
  exposition& add(labels named, double value) {
    ClientMetric& metric = all_.back().metric.emplace_back();
    metric.label = std::move(named);
    (all_.back().type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
    return *this;
  }
  template <class T>
  exposition& add(T value) {
    return add({}, as_double(value));
  }

  void histogram(const char* name, const char* help, const histogram_counts& from) {
    if (from.counts.empty()) return;
    begin(name, help, MetricType::Histogram);
    ClientMetric::Histogram& to = all_.back().metric.emplace_back().histogram;
    for (std::size_t i = 0; i < from.counts.size(); ++i) {
      to.sample_count += from.counts[i];
      const double infinity = std::numeric_limits<double>::infinity();
      to.bucket.push_back({to.sample_count, i < from.bounds.size() ? from.bounds[i] : infinity});
    }
    to.sample_sum = from.sum;
  }

  [[nodiscard]] std::string text() {
    // A family without a value says nothing.
    std::erase_if(all_, [](const MetricFamily& f) { return f.metric.empty(); });
    std::ostringstream out;
    prometheus::TextSerializer{}.Serialize(out, all_);
    return out.str();
  }

 private:
  exposition& begin(const char* name, const char* help, MetricType type) {
    all_.push_back({name, help, type, {}});
    return *this;
  }

  std::vector<MetricFamily> all_;
};

void add_streams(exposition& out, const state_sample& state) {
  out.counter("ratchet_records_total", "Records by verdict, since the state was made.");
  for (const stream_sample& s : state.streams) {
    for (const auto& [verdict, count] : verdict_counts(s.counters))
      out.add({{"stream", s.name}, {"verdict", verdict}}, as_double(count));
  }
  out.counter("ratchet_rejected_records_total", "Rejected records by reason, since the state was made.");
  for (const stream_sample& s : state.streams) {
    for (const auto& [reason, count] : reason_counts(s.counters))
      out.add({{"stream", s.name}, {"reason", reason}}, as_double(count));
  }
  out.gauge("ratchet_waiting_events", "Events that are kept and not handled yet.");
  for (const stream_sample& s : state.streams) {
    for (const auto& [waiting, count] : counts_of_waiting(s.counters))
      out.add({{"stream", s.name}, {"state", waiting}}, as_double(count));
  }
  out.gauge("ratchet_waiting_bytes", "Bytes of waiting events, by the measure of waiting.bytes.");
  for (const stream_sample& s : state.streams)
    out.add({{"stream", s.name}}, as_double(s.counters.waiting_bytes));
  out.gauge("ratchet_oldest_gap_seconds",
            "Age of the oldest gap, in stream time; left out while it is not known.");
  for (const stream_sample& s : state.streams) {
    const bool is_unknown = !s.floor && s.counters.waiting_parked > 0;
    if (!is_unknown) out.add({{"stream", s.name}}, std::chrono::duration<double>{s.oldest_gap()}.count());
  }
  out.counter("ratchet_consumed_records_total", "Records taken in, since the state was made.");
  for (const stream_sample& s : state.streams) out.add({{"stream", s.name}}, as_double(s.counters.consumed));
  out.counter("ratchet_ids_ahead_total", "Event ids whose own time was ahead of their record's.");
  for (const stream_sample& s : state.streams) out.add({{"stream", s.name}}, as_double(s.counters.ids_ahead));
  out.counter("ratchet_times_passed_over_total",
              "Record times that were far ahead of their neighbours', and moved nothing.");
  for (const stream_sample& s : state.streams)
    out.add({{"stream", s.name}}, as_double(s.counters.times_passed_over));
  out.counter("ratchet_times_behind_total",
              "Record times that were older than the window of their partition.");
  for (const stream_sample& s : state.streams)
    out.add({{"stream", s.name}}, as_double(s.counters.times_behind));
  out.counter("ratchet_forgotten_aggregates_total", "Aggregates that were forgotten after `retention`.");
  for (const stream_sample& s : state.streams) out.add({{"stream", s.name}}, as_double(s.counters.forgotten));
  out.gauge("ratchet_largest_snapshot_bytes", "The largest snapshot that this process has written.");
  for (const stream_sample& s : state.streams) out.add({{"stream", s.name}}, as_double(s.largest.snapshot));
  out.gauge("ratchet_largest_table_row_bytes", "The largest row of a table that this process has written.");
  for (const stream_sample& s : state.streams) out.add({{"stream", s.name}}, as_double(s.largest.table_row));
  out.gauge("ratchet_floor_timestamp_seconds", "The window's floor: older event ids are not remembered.");
  for (const stream_sample& s : state.streams) {
    if (s.floor) out.add({{"stream", s.name}}, seconds_of(*s.floor));
  }
  out.gauge("ratchet_stream_timestamp_seconds", "Stream time: the floor and the window.");
  for (const stream_sample& s : state.streams) {
    if (s.floor) out.add({{"stream", s.name}}, seconds_of(*s.floor + s.window));
  }
  out.gauge("ratchet_outbox_messages", "Outbox messages that the brokers have not acknowledged.")
      .add(state.outbox.rows());
  out.gauge("ratchet_outbox_bytes", "Bytes of these messages, by the measure of outbox.bytes.")
      .add(state.outbox.bytes);
  out.gauge("ratchet_sink_messages", "Messages that the sink has not acknowledged.");
  for (const auto& [name, waiting] : state.sinks) out.add({{"sink", name}}, as_double(waiting.rows()));
  out.gauge("ratchet_sink_bytes", "Bytes of these messages, by the measure of outbox.bytes.");
  for (const auto& [name, waiting] : state.sinks) out.add({{"sink", name}}, as_double(waiting.bytes));
  out.counter("ratchet_steps_total", "The last durable step of the state.").add(state.step);
}

/// A partition as the state and the running instance know it.
struct partition_view {
  labels named;
  std::optional<std::int64_t> next_offset;
  live_partition live;
};

std::vector<partition_view> partitions_of(const metrics_input& in) {
  std::map<std::pair<std::string, topic_partition>, partition_view> all;
  for (const stream_sample& s : in.state.streams) {
    for (const auto& [where, offset] : s.next_offsets) all[{s.name, where}].next_offset = offset;
  }
  for (const auto& [stream, partitions] : in.live.streams) {
    for (const auto& [where, live] : partitions) all[{stream, where}].live = live;
  }
  std::vector<partition_view> views;
  for (auto& [key, view] : all) {
    const auto& [stream, where] = key;
    const auto number = static_cast<std::int32_t>(where.partition);
    view.named = {{"stream", stream}, {"topic", where.topic}, {"partition", std::to_string(number)}};
    views.push_back(std::move(view));
  }
  return views;
}

void add_partitions(exposition& out, const metrics_input& in) {
  const std::vector<partition_view> all = partitions_of(in);
  out.gauge("ratchet_partition_next_offset", "The offset of the next record to handle, as durable.");
  for (const partition_view& p : all) {
    if (p.next_offset) out.add(p.named, as_double(*p.next_offset));
  }
  out.gauge("ratchet_partition_committed_offset", "The group's offset in Kafka, as last confirmed.");
  for (const partition_view& p : all) {
    if (p.live.committed) out.add(p.named, as_double(*p.live.committed));
  }
  out.gauge("ratchet_partition_log_end_offset", "The end of the partition's log, as last reported.");
  for (const partition_view& p : all) {
    if (p.live.assigned && p.live.log_end) out.add(p.named, as_double(*p.live.log_end));
  }
  out.gauge(
      "ratchet_partition_transaction_offset",
      "Where all before it is read, and an open transaction holds back what follows: its first offset.");
  for (const partition_view& p : all) {
    if (p.live.assigned && p.live.held_back) out.add(p.named, as_double(*p.live.held_back));
  }
  out.gauge("ratchet_partition_lag",
            "Records of the partition that are not handled yet, those of open transactions with them.");
  for (const partition_view& p : all) {
    if (!p.live.assigned || !p.live.log_end || !p.next_offset) continue;  // whoever holds it knows
    out.add(p.named, as_double(std::max<std::int64_t>(0, *p.live.log_end - *p.next_offset)));
  }
  out.gauge("ratchet_partition_assigned", "1 if this instance holds the partition.");
  for (const partition_view& p : all) out.add(p.named, p.live.assigned ? 1 : 0);
  out.gauge("ratchet_partition_stopped", "1 if the partition is stopped; /readyz has the reason.");
  for (const partition_view& p : all) out.add(p.named, p.live.stopped ? 1 : 0);
}

void add_run(exposition& out, const run_counts& run) {
  out.histogram("ratchet_step_duration_seconds", "How long a step took: look up, decide, apply, write.",
                run.step_seconds);
  out.histogram("ratchet_step_records", "Records of a step.", run.step_records);
  out.gauge("ratchet_undurable_steps", "Steps that are written and not synced yet.").add(run.undurable_steps);
  out.gauge("ratchet_durability_lag_seconds", "For how long no step became durable while some wait for it.")
      .add(std::chrono::duration<double>{run.durability_lag}.count());
  out.counter("ratchet_commits_total", "Commits of offsets that Kafka confirmed.").add(run.commits);
  out.counter("ratchet_commit_failures_total", "Commits of offsets that failed; they are made again.")
      .add(run.commit_failures);
  out.counter("ratchet_outbox_sent_total", "Messages that the brokers have taken.").add(run.outputs_sent);
  out.counter("ratchet_outbox_given_up_total",
              "Dead letters and rejections that their topic refused; each has an audit row.")
      .add(run.outputs_given_up);
  out.gauge("ratchet_outbox_in_trouble", "1 while messages do not get through; they are sent again.")
      .add(run.outputs_in_trouble ? 1 : 0);
  out.counter("ratchet_rebalances_total", "Assignments by the group.").add(run.rebalances);
  out.counter("ratchet_client_restarts_total", "Kafka clients that replaced a failed one.")
      .add(run.new_clients);
  out.counter("ratchet_store_reopens_total", "How often the store was opened again after a failed write.")
      .add(run.store_reopens);
}

void add_sinks(exposition& out, const status_snapshot& live) {
  out.counter("ratchet_sink_sent_total", "Messages that a sink has taken.");
  for (const auto& [name, sink] : live.sinks) out.add({{"sink", name}}, as_double(sink.sent));
  out.gauge("ratchet_sink_in_trouble", "1 while messages do not get through to a sink; they are sent again.");
  for (const auto& [name, sink] : live.sinks) out.add({{"sink", name}}, sink.trouble.empty() ? 0 : 1);
  out.gauge("ratchet_sink_refused", "Messages that a sink refused; later ones of their aggregates wait.");
  for (const auto& [name, sink] : live.sinks) out.add({{"sink", name}}, as_double(sink.refused));
}

void add_slot_log(exposition& out, const slot_status& s, const labels& of) {
  out.gauge("ratchet_slot_step", "The last confirmed step of the replicated log that is in this instance.")
      .add(of, as_double(s.step));
  out.gauge("ratchet_slot_records_behind", "Records of the log that this instance has not read yet.")
      .add(of, as_double(s.records_behind));
  out.gauge("ratchet_slot_behind_seconds",
            "For how long an instance that is not the owner has not had all of the log.");
  if (s.behind) out.add(of, std::chrono::duration<double>{*s.behind}.count());
  out.gauge("ratchet_slot_log_first_offset",
            "The first offset of the log in the last answer of the brokers.");
  if (s.log_first) out.add(of, as_double(*s.log_first));
  out.gauge("ratchet_slot_log_end_offset", "The end offset of the log in the last answer of the brokers.");
  if (s.log_end) out.add(of, as_double(*s.log_end));
  out.counter("ratchet_slot_leads_total", "How often this process became the owner.")
      .add(of, as_double(s.leads));
  out.counter("ratchet_slot_fences_total", "Fences that this process has written.")
      .add(of, as_double(s.fences));
  out.counter("ratchet_slot_ignored_records_total",
              "Records of the log that do not count, of instances that had lost the lead.")
      .add(of, as_double(s.ignored_records));
  out.counter("ratchet_digests_total",
              "Pieces of the state that an instance compared with the owner's, by what it found.");
  out.add({{"log", s.log}, {"result", "same"}}, as_double(s.digests.same));
  out.add({{"log", s.log}, {"result", "different"}}, as_double(s.digests.different));
  out.counter("ratchet_slot_gaps_total", "Records of the log that follow one that was never written.")
      .add(of, as_double(s.gaps));
}

void add_slot_owner(exposition& out, const slot_status& s, const labels& of) {
  const bool owns = s.role == slot_role::owner;
  out.gauge("ratchet_slot_pending_steps", "Steps of the owner that the log has not confirmed yet.");
  if (owns) out.add(of, as_double(s.pending_steps));
  out.gauge("ratchet_slot_pending_bytes", "Bytes of the rows of these steps.");
  if (owns) out.add(of, as_double(s.pending_bytes));
  out.gauge("ratchet_slot_log_bytes", "Bytes of rows in the log since the newest base.");
  if (s.log_since_base) out.add(of, as_double(*s.log_since_base));
  out.gauge("ratchet_base_timestamp_seconds", "When the newest base was begun.");
  if (s.bases.newest) out.add(of, seconds_of(s.bases.newest->made));
  out.gauge("ratchet_base_bytes", "Bytes of the rows of the newest base.");
  if (s.bases.newest) out.add(of, as_double(s.bases.newest->bytes));
  out.gauge("ratchet_base_writing_bytes", "Bytes so far of a base that is being written.");
  if (s.bases.writes) out.add(of, as_double(*s.bases.writes));
  out.gauge("ratchet_base_restoring_bytes", "Bytes so far of a base that is being read into the state.");
  if (s.restored) out.add(of, as_double(*s.restored));
  out.counter("ratchet_bases_total", "Bases that this process has written, with the log cut before each.")
      .add(of, as_double(s.bases.written));
  out.counter("ratchet_base_failures_total",
              "How often a base could not be written or the log could not be cut, and how many ends of bases "
              "were skipped.")
      .add(of, as_double(s.bases.failures));
}

void add_slot(exposition& out, const status_snapshot& live) {
  if (!live.slot) return;
  const labels of{{"log", live.slot->log}};
  out.gauge("ratchet_slot_role", "1 for the role that this instance has, see `ratchet status`.");
  for (const slot_role role : k_slot_roles)
    out.add({{"log", live.slot->log}, {"role", std::string{name_of(role)}}}, role == live.slot->role ? 1 : 0);
  add_slot_log(out, *live.slot, of);
  add_slot_owner(out, *live.slot, of);
}

void add_resources(exposition& out, const resource_sample& held) {
  out.histogram("ratchet_sync_duration_seconds", "How long a sync of the write-ahead log took.",
                held.store.sync_seconds);
  out.gauge("ratchet_store_memory_bytes", "Memory of the store. Memtables are charged to the block cache.");
  out.add({{"kind", "memtables"}}, as_double(held.store.memtable_bytes));
  out.add({{"kind", "block_cache"}}, as_double(held.store.block_cache_bytes));
  out.add({{"kind", "table_readers"}}, as_double(held.store.table_reader_bytes));
  out.gauge("ratchet_store_table_bytes", "Table files on disk, without the write-ahead log.")
      .add(held.store.table_file_bytes);
  out.gauge("ratchet_fetch_queue_bytes", "Fetched from Kafka and not handed over yet.")
      .add(held.queued_bytes);
  if (held.free_bytes) {
    out.gauge("ratchet_state_free_bytes", "Free on the file system of the state directory.")
        .add(*held.free_bytes);
    out.gauge("ratchet_state_reserve_bytes", "The free space below which reading pauses (state.min_free).")
        .add(held.reserve_bytes);
  }
}

void add_process(exposition& out, const process_stats& process) {
  out.gauge("process_start_time_seconds", "Start time of the process since unix epoch in seconds.")
      .add(process.start_time_seconds);
  out.counter("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.")
      .add(process.cpu_seconds);
  out.gauge("process_resident_memory_bytes", "Resident memory size in bytes.").add(process.resident_bytes);
  out.gauge("process_virtual_memory_bytes", "Virtual memory size in bytes.").add(process.virtual_bytes);
  out.gauge("process_open_fds", "Number of open file descriptors.").add(process.open_descriptors);
  out.gauge("process_max_fds", "Maximum number of open file descriptors.").add(process.most_descriptors);
}

}  // namespace

std::string metrics_text(const metrics_input& in) {
  exposition out;
  out.gauge("ratchet_build_info", "1, with the version.").add({{"version", RATCHET_VERSION}}, 1);
  out.gauge("ratchet_ready", "1 while the instance is ready; else /readyz has the reason.")
      .add(in.live.ready ? 1 : 0);
  add_streams(out, in.state);
  add_partitions(out, in);
  add_run(out, in.counts);
  add_sinks(out, in.live);
  add_slot(out, in.live);
  add_resources(out, in.resources);
  add_process(out, in.process);
  return out.text();
}

}  // namespace ratchet
