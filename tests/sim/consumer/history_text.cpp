// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// A history for a report.
#include <array>
#include <string>

#include "decode/event_id_text.hpp"
#include "sim/consumer/history.hpp"

namespace ratchet::sim {

namespace {

constexpr std::array<const char*, k_fault_kinds> k_names{"kill",
                                                         "power_cut",
                                                         "drain",
                                                         "rebalance",
                                                         "lost",
                                                         "zombie",
                                                         "brokers_down",
                                                         "commit_lost",
                                                         "commit_late",
                                                         "client_fatal",
                                                         "redelivery",
                                                         "retention",
                                                         "compaction",
                                                         "markers",
                                                         "topic_anew",
                                                         "foreign_commit",
                                                         "foreign_member",
                                                         "other_store",
                                                         "directory_lost",
                                                         "directory_backup",
                                                         "directory_restore",
                                                         "write_fails",
                                                         "sync_fails",
                                                         "sync_slow",
                                                         "disk_low",
                                                         "disk_full",
                                                         "bit_rot",
                                                         "clock_jump",
                                                         "slow_reducers",
                                                         "decision",
                                                         "transaction",
                                                         "cluster_moved"};

[[nodiscard]] std::string describe_gaps(const stream_setup& s) {
  constexpr std::array k_firsts{"0", "1", "any"};
  constexpr std::array k_policies{"wait", "skip", "stop"};
  return std::string{", first "} + k_firsts.at(static_cast<std::size_t>(s.first)) +
         (s.accepts_epochs ? ", epochs accepted" : "") + ", gap " +
         k_policies.at(static_cast<std::size_t>(s.gap)) + " " + std::to_string(s.gap_timeout) + " ms";
}

[[nodiscard]] const char* name_of(bundling how) {
  constexpr std::array k_ways{"", ", arrays of events", ", lists of events", ", lines of events",
                              ", batches of events"};
  return k_ways.at(static_cast<std::size_t>(how));
}

}  // namespace

const char* name_of(fault_kind kind) noexcept {
  return k_names[static_cast<std::size_t>(kind)];
}

std::string describe(const history& h) {
  std::string text = "seed " + std::to_string(h.seed) + ": " + std::to_string(h.log.size()) + " records, " +
                     std::to_string(h.faults.size()) + " faults, steps of " + std::to_string(h.step_records) +
                     (h.sync_every_step ? ", each synced" : "") +
                     (h.sink_refuses != 0 ? ", the sink refuses some for good" : "") + ", " +
                     std::to_string(h.queue_events) + " waiting events looked up\n";
  for (const stream_setup& s : h.streams) {
    text += std::string{"  stream: "} +
            (s.arrival  ? "arrival"
             : s.strict ? "strict"
                        : "latest") +
            (s.deferred ? ", deferred" : "") + ", ids " + name_of(s.ids) +
            (s.folds ? ", folds" : ", replaces") + (s.in_headers ? ", fields in headers" : "") +
            (s.is_cloudevents ? ", CloudEvents" : "") + name_of(s.bundles) +
            (s.has_epochs ? ", epochs" : "") + (s.starts_at_end ? ", starts at the end" : "") + ", " +
            std::to_string(s.partitions) + " partitions, window " + std::to_string(s.window) + " ms";
    if (s.strict) text += describe_gaps(s);
    if (s.fails) {
      text += ", events fail, " + std::to_string(s.retry.attempts) + " attempts, backoff " +
              std::to_string(s.retry.backoff.count()) + ".." + std::to_string(s.retry.most.count()) + " ms";
    }
    if (s.stops) text += ", some stop";
    if (s.retention)
      text +=
          ", forgets after " + std::to_string(*s.retention) + (s.changes_retention ? " ms, or not" : " ms");
    if (s.parks_too_old) text += ", parks what is too old";
    text += ", at most " + std::to_string(s.most_of_aggregate) + " wait";
    if (s.most_events) text += ", in all " + std::to_string(*s.most_events);
    if (s.most_bytes) text += ", in all " + std::to_string(*s.most_bytes) + " bytes";
    text += "\n";
  }
  for (const request& r : h.requests) {
    text += "  at turn " + std::to_string(r.at) + ": `" + r.key + "` of a" + std::to_string(r.aggregate) +
            " is asked for: " + (r.payload.empty() ? "gone" : r.payload) + (r.fails ? ", which fails" : "") +
            ", patience " + std::to_string(r.patience) + "\n";
  }
  for (const fault& f : h.faults) {
    text += "  at turn " + std::to_string(f.at) + ": " + name_of(f.kind) + " (" + std::to_string(f.amount) +
            ", " + std::to_string(f.choice) + ")\n";
  }
  return text;
}

std::string describe(const message& record) {
  constexpr std::array k_kinds{"", " deleted", " malformed", " none"};
  std::string text = "(";
  for (const auto& [m, at] : events_of(record, 0)) {
    if (at.index != 0) text += ", ";
    text += "a" + std::to_string(m->aggregate) + " ";
    if (m->epoch != 0) text += std::to_string(m->epoch) + ".";
    text += std::to_string(m->number) + k_kinds.at(static_cast<std::size_t>(m->kind));
  }
  return text + (record.time ? " at " + std::to_string(*record.time - k_begin) : " at no time") + ")";
}

}  // namespace ratchet::sim
