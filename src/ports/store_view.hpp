// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/kept_rejected.hpp"
#include "core/output.hpp"
#include "core/resume.hpp"
#include "core/step.hpp"
#include "core/stream_state.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

struct named_stream {
  std::string name;
  stream_id id{0};
  std::vector<std::pair<std::string, std::string>> meaning{};  ///< stream_meaning::lines
};

/// What a store is.
struct store_identity {
  std::string uuid;  ///< 36 characters
  std::string group;
  std::string cluster_id;
  std::uint64_t outbox_epoch{0};
  std::optional<copy_mark> copy{};  ///< it is a checkpoint that was not started yet
};

struct scanned_row {
  std::string_view aggregate;  ///< valid during the call
  const aggregate_row& row;
};

/// Under which aggregate and time an id is filed: its own time, where it has one.
struct filed_id_of {
  std::string aggregate;
  timestamp filed;
  friend auto operator<=>(const filed_id_of&, const filed_id_of&) = default;
};
using id_visit = std::function<bool(std::string_view aggregate, event_id, timestamp filed)>;

/// Where a walk through the waiting events stands.
struct waiting_place {
  std::string aggregate;
  ratchet::sequence sequence;
};

/// A consistent read of the whole store as of one step. Thread-safety: may be used on any one thread, while
/// the owner goes on writing. Must not outlive its store.
class store_view {
 public:
  virtual ~store_view() = default;
  /// The step whose state this is.
  [[nodiscard]] virtual std::uint64_t step() const = 0;
  [[nodiscard]] virtual result<store_identity> identity() const = 0;
  [[nodiscard]] virtual result<std::vector<named_stream>> streams() const = 0;
  [[nodiscard]] virtual result<stream_state> load(stream_slot) const = 0;
  /// Errors: not_found, also where nothing of it was applied yet, or it is forgotten; state_damaged.
  [[nodiscard]] virtual result<aggregate_row> get(stream_slot, std::string_view aggregate) const = 0;
  /// Every row in byte order of the aggregate id, deleted ones too, but none of which nothing was applied
  /// yet, or that is forgotten, until `visit` returns false.
  [[nodiscard]] virtual result<void> scan(stream_slot,
                                          const std::function<bool(const scanned_row&)>& visit) const = 0;
  /// Every id, in the order of time where it has one of its own, until `visit` returns false.
  [[nodiscard]] virtual result<void> scan_ids(stream_slot, const id_visit& visit) const = 0;
  /// The aggregates under which this id is filed, at most `limit`, in byte order. Ids that are filed below
  /// the window's floor may be there or not.
  [[nodiscard]] virtual result<std::vector<filed_id_of>> aggregates_with(stream_slot, event_id,
                                                                         std::size_t limit) const = 0;
  /// The newest `limit` rejected records, newest first, until `visit` returns false. One of them is in memory
  /// at a time. Null, given before them, stands for one that was read to find out which are the newest.
  [[nodiscard]] virtual result<void> newest_rejected(
      stream_id, std::size_t limit, const std::function<bool(const rejected_row*)>& visit) const = 0;
  /// Every rejected record that is kept behind `after`, in the order of position, until `visit` returns
  /// false.
  [[nodiscard]] virtual result<void> each_rejected(
      stream_id, const std::optional<kept_rejected::position>& after,
      const std::function<bool(const rejected_row&)>& visit) const = 0;
  /// Every audit row of a step behind `after`, in the order in which they were written, until `visit` returns
  /// false. There may be any number of them: they are kept for ever.
  [[nodiscard]] virtual result<void> each_audit(std::uint64_t after,
                                                const std::function<bool(const audit_row&)>& visit) const = 0;
  /// Every waiting event behind `after`, in the order of aggregate and sequence, until `visit` returns false.
  [[nodiscard]] virtual result<void> waiting(
      stream_slot, const std::optional<waiting_place>& after,
      const std::function<bool(std::string_view aggregate, const waiting_event&)>& visit) const = 0;
  /// None where the aggregate has none.
  [[nodiscard]] virtual result<std::optional<backlog>> backlog_of(stream_slot,
                                                                  std::string_view aggregate) const = 0;
  /// Every backlog in the order of aggregates, until `visit` returns false.
  [[nodiscard]] virtual result<void> backlogs(
      stream_slot, const std::function<bool(std::string_view aggregate, const backlog&)>& visit) const = 0;
  /// The aggregate with the oldest gap; none where no gap has an age.
  [[nodiscard]] virtual result<std::optional<std::string>> oldest_gap(stream_slot) const = 0;
  [[nodiscard]] virtual result<outbox_lanes> outboxes() const = 0;
  /// Kafka's lane of these.
  [[nodiscard]] result<outbox_state> outbox() const {
    RATCHET_TRY(const outbox_lanes all, outboxes());
    return all.of({});
  }
  /// The value of a table's row; `key` is as it is stored, here and below (core/tables). Errors: not_found,
  /// also where the stream has no such table; state_damaged.
  [[nodiscard]] virtual result<std::string> table_row(stream_slot, std::string_view table,
                                                      std::string_view key) const = 0;
  /// Every row of a table from `from` on whose key starts with `prefix`, in the order of the stored keys,
  /// until `visit` returns false.
  [[nodiscard]] virtual result<void> scan_table(
      stream_slot, std::string_view table, std::string_view prefix, std::string_view from,
      const std::function<bool(std::string_view key, std::string_view value)>& visit) const = 0;
};

}  // namespace ratchet
