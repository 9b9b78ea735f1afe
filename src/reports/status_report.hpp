// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/stream_state.hpp"
#include "ports/replica.hpp"
#include "ports/store_view.hpp"
#include "ratchet/types.hpp"
#include "reports/row_walk.hpp"
#include "reports/wait_explanation.hpp"
#include "telemetry/instance_status.hpp"
#include "text/byte_sink.hpp"

/// The status of a store, of a running instance, or of one run, as people and programs read it.
///
///     {"running": true, "ready": true, "ready_reason": null, "started_at": TIME,         status only
///      "store": UUID, "step": N, "copy": {"of": UUID, "step": N, "taken_at": TIME} | null,
///      "outbox": {"messages": N, "bytes": N, "trouble": TEXT},
///      "sinks": {NAME: {"messages": N, "bytes": N, "trouble": TEXT}},        where there are any
///      "slot": {...},                                                        see slot_report.hpp
///      "streams": {NAME: {
///        "consumed": N,
///        "verdicts": {"applied": N, "superseded": N, "duplicate": N, "stale": N, "rejected": N, "ignored":
///        N,
///                     "skipped": N, "discarded": N},
///        "rejected": {"malformed": N, "conflict": N, "too_old": N, "late": N, "id_reused": N},
///        "waiting": {"parked": N, "retrying": N, "dead": N}, "waiting_bytes": N,
///        "oldest_gap": {"aggregate": A, "since": TIME, "age_ms": N,
///                       "missing": {"first": Q, "last": Q} | null} | null,               status only
///        "ids_ahead": N, "times_passed_over": N, "times_behind": N, "forgotten": N,
///        "fields": {"events": N, "found": {"aggregate": N, "type": N, ...}},       not of a stopped
///        directory "floor": TIME | null, "partitions": [{"topic": T, "partition": N, "next_offset": N |
///        null, "committed": N | null,
///                        "lag": N | null, "assigned": BOOL, "stopped": REASON}],
///        "rejected_records": [...]                                                       --rejected only
///      }},
///      "audit": [...]}                                                                  --audit only
///
/// TIME is RFC 3339 in UTC with milliseconds. Without Kafka `committed` and `lag` are null. `assigned` is
/// there while an instance runs, `stopped` where it has stopped the partition, `trouble` where messages do
/// not get through now. Without an instance `ready` and the two after it are missing. `copy` is there in a
/// checkpoint that was not started yet. A run's own report
/// (`apply`, `run --until-end`) is {"streams": ...} alone, its counters those of the run, but what waits, its
/// floor and offsets those at its end. `fields` are of the events that the process has read since it began:
/// in how many of them each field of the envelope was found. `since` and `age_ms` of a gap are in stream
/// time; what is missing is null where it cannot be told. Rejected records and audit rows: see
/// row_reports.hpp.
namespace ratchet {

/// One stream's part of a report.
struct stream_report {
  std::string name;
  stream_state state;
  live_partitions live;                    ///< empty without Kafka
  rejected_walk rejected;                  ///< newest first; empty: they are not listed
  std::optional<gap_report> oldest_gap{};  ///< none: no gap has an age, or none was looked for
  std::optional<live_fields> fields{};     ///< none: no event was read yet, or nobody runs
};

enum class report_source : std::uint8_t {
  run,        ///< what one run did: streams alone
  directory,  ///< a state directory that nobody has open
  instance,   ///< a running instance, which said `live`
};

struct status_report {
  report_source source{report_source::run};
  std::optional<store_identity> store;                     ///< none: a run's own report
  std::uint64_t step{0};                                   ///< at which the store stands
  outbox_state outbox;                                     ///< for Kafka
  std::map<std::string, outbox_state, std::less<>> sinks;  ///< for each sink that was ever used
  status_snapshot live;  ///< of an instance; its `streams` are not looked at: they are in each stream_report
  std::optional<replica_at_rest> replica{};  ///< of a directory that follows a replicated log
  std::vector<stream_report> streams;
  audit_walk audits;  ///< empty: they are not listed
  /// So many audit rows at most, and the others of the last one's step.
  std::optional<std::uint64_t> audit_limit{};
};

/// What one run did to a stream: its counters less those before it, and where it ended. What waits is as it
/// is at the end: a run may apply what an earlier one parked.
[[nodiscard]] stream_report report_of_run(std::string name, const stream_state& before, stream_state after,
                                          live_partitions live = {});

/// Writes it in pieces, with rows that are read meanwhile: one line of JSON, or lines for people, which end
/// in how to go on where the limit left audit rows out. Errors: of the walks, behind a part of the answer.
[[nodiscard]] result<void> write_status(const status_report&, bool json, const byte_sink&);
/// One line of JSON, ending in a line feed; of a report whose walks are few rows, or none.
[[nodiscard]] std::string status_json(const status_report&);
/// For people; ends in a line feed.
[[nodiscard]] std::string status_text(const status_report&);

}  // namespace ratchet
