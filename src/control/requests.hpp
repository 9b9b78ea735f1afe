// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "control/protocol.hpp"
#include "control/table_requests.hpp"
#include "ports/replica.hpp"
#include "ports/store_view.hpp"
#include "ratchet/error.hpp"
#include "reports/waiting_list.hpp"
#include "telemetry/instance_status.hpp"
#include "text/byte_sink.hpp"

/// The questions that can be put to a store, and their answers: the same bytes, whether the running instance
/// answers on its control socket or the command reads the directory itself.
namespace ratchet {

struct read_request {
  enum class kind_of : std::uint8_t {
    get,
    scan,
    status,
    explain,
    waiting_list,
    waiting_show,
    table,
  } kind{kind_of::status};
  std::string stream;                   ///< all but status and table; waiting_list: empty: every stream
  std::string aggregate;                ///< get, explain, waiting_show
  ratchet::sequence sequence;           ///< waiting_show
  waiting_filter waiting;               ///< waiting_list
  std::string event;                    ///< explain, in place of the aggregate: see read_asked_id()
  bool json{false};                     ///< all but scan, which is always JSON, and table
  bool deleted{false};                  ///< scan: deleted aggregates, too
  std::optional<std::size_t> rejected;  ///< status: list at most so many rejected records of each stream
  bool audit{false};                    ///< status
  std::optional<std::uint64_t> audit_limit{};  ///< with audit: so many at most, and the rest of their step
  std::optional<std::uint64_t> audit_after{};  ///< with audit: those of later steps
  table_question table;                        ///< table: all of it
  friend bool operator==(const read_request&, const read_request&) = default;
};

/// As words on the control socket.
[[nodiscard]] std::vector<std::string> to_words(const read_request&);
/// Errors: usage.
[[nodiscard]] reported<read_request> parse_words(std::span<const std::string> words);

/// What the answer is drawn from.
struct read_context {
  const store_view& view;
  std::span<const std::string>
      streams;  ///< known by config; those that the store does not know yet are empty
  const status_snapshot* live{nullptr};      ///< null: no instance is running
  std::optional<replica_at_rest> replica{};  ///< of a directory that follows a replicated log
};

/// The stream of this name, where the view knows it; none where only `streams`, those of the config, has it.
/// Errors: usage, with the names that there are; of the store.
[[nodiscard]] reported<std::optional<named_stream>> find_named_stream(const store_view&,
                                                                      std::span<const std::string> streams,
                                                                      const std::string& name);

/// Answers, in pieces of about 64 KiB; memory is bounded by the largest snapshot or row. Ends early, as
/// success, once the sink wants no more.
///   get: the snapshot's bytes, or {aggregate, sequence, event_id, time, snapshot} and a line feed;
///   scan: one such object a line, in byte order of the aggregate id; deleted ones have "deleted": true and
///   no
///     snapshot;
///   status: see status_report.hpp;
///   explain: see explain_report.hpp. Where nothing is known, JSON says so too, and then it is not_found;
///   waiting_list, waiting_show: see waiting_list.hpp. Where a list for people reached its limit, its last
///   line
///     says how to go on;
///   table: see table_requests.hpp.
/// A snapshot stands raw where it is JSON (in scan with line feeds as spaces), else as "snapshot_base64".
/// Errors: not_found (get: there is no snapshot; explain: nothing is known; waiting_show: no such event
/// waits); usage (no such stream, no event id); state_damaged and other errors of the store, maybe after a
/// part of the answer.
[[nodiscard]] reported<void> answer_request(const read_context&, const read_request&, const byte_sink&);

/// The status of an instance whose state nobody may look at: what it says of itself.
void answer_live_status(const status_snapshot&, const read_request&, const byte_sink&);

}  // namespace ratchet
