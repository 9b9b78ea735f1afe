// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// A history for a report.
#include <array>
#include <string>

#include "decode/event_id_text.hpp"
#include "sim/consumer/history.hpp"

namespace ratchet::sim {

namespace {

[[nodiscard]] std::string describe_gaps(const stream_setup& s) {
  constexpr std::array k_firsts{"0", "1", "any"};
  constexpr std::array k_policies{"wait", "skip", "stop"};
  return std::string{", first "} + k_firsts.at(static_cast<std::size_t>(s.first)) +
         (s.accepts_epochs ? ", epochs accepted" : "") + ", gap " +
         k_policies.at(static_cast<std::size_t>(s.gap)) + " " + std::to_string(s.gap_timeout) + " ms";
}

[[nodiscard]] const char* name_of(bundling how) {
  constexpr std::array k_names{"", ", arrays of events", ", lists of events", ", lines of events",
                               ", batches of events"};
  return k_names.at(static_cast<std::size_t>(how));
}

}  // namespace

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

}  // namespace ratchet::sim
