// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/histogram.hpp"
#include "core/kept_rejected.hpp"
#include "core/output.hpp"
#include "core/resume.hpp"
#include "core/retention.hpp"
#include "core/step.hpp"
#include "core/stream_state.hpp"
#include "ports/durable_signal.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

/// What a stream's stored state depends on: a list of (config key, value), in a fixed order. A store refuses
/// a stream whose meaning changed, and lists the lines that differ; a stream of which nothing would be lost
/// starts over instead.
struct stream_meaning {
  std::string name;
  std::vector<std::pair<std::string, std::string>> lines;
  std::vector<std::string> topics{};  ///< that it reads; they may change, but not over to another stream
};

/// What a step does in one slot of a stream.
struct step_part {
  stream_id stream{0};
  const step_plan* plan{nullptr};  ///< names the aggregates that `change` speaks of by index; may be null
  const stream_change* change{nullptr};
  std::vector<rejected_row> rejected;  ///< the rows of change->rejected, with their bytes
  /// Looked at where there are such rows, or a time before which they go.
  rejected_limits keep_rejected{};
  ratchet::slot slot{k_instance_slot};

  [[nodiscard]] stream_slot place() const noexcept { return {stream, slot}; }
};

/// What a step changes of the store as a whole.
struct store_change {
  /// The outbox epoch becomes this, or one more than it is, whichever is higher.
  std::optional<std::uint64_t> outbox_epoch{};
  bool note_copy_opened{false};             ///< copy_mark::opened
  bool lift_copy_mark{false};               ///< from now on this is a store of its own
  std::vector<incarnation> taken_over{};    ///< of another copy: they count as this store's own from now on
  std::optional<std::string> cluster_id{};  ///< from now on it reads from this one
  friend bool operator==(const store_change&, const store_change&) = default;
};

/// All that one step writes, in one atomic batch.
struct step_batch {
  std::uint64_t step{0};  ///< the store's last_step() + 1
  std::vector<step_part> parts;
  std::vector<audit_row> audits;
  store_change change{};
  outbox_change outbox{};
};

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

/// Aggregates with something to do, and when there is more.
struct due_aggregates {
  std::vector<std::string> names;      ///< none twice
  std::optional<timestamp> next_wake;  ///< of those that are not named, by the clock
  std::optional<timestamp> next_gap;   ///< the oldest gap of those that are not named, in stream time
};

/// Some of the aggregates that are forgotten.
struct forgotten_aggregates {
  std::vector<std::string> names;
  /// Behind this one the walk is to go on; none: it is at its end.
  std::optional<std::string> last{};
};

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

/// A table that the first step adds to a stream which had applied events before: these are not in it.
struct added_table {
  std::string stream;
  std::string table;
};

/// A stream whose meaning changed before it held anything that could be lost.
struct restarted_stream {
  std::string stream;
  counters forgotten;
};

/// What a store takes up, and how long its syncs took; zero where it does not know.
struct store_statistics {
  std::uint64_t memtable_bytes{0};
  std::uint64_t block_cache_bytes{0};
  std::uint64_t table_reader_bytes{0};
  std::uint64_t table_file_bytes{0};  ///< on disk
  histogram_counts sync_seconds;
};

/// The durable state. One owner thread calls everything, but for view(), last_step(), durable_step(),
/// durable() and request_sync(), which are thread-safe.
class store {
 public:
  virtual ~store() = default;

  [[nodiscard]] virtual stream_id id_of(std::string_view stream) const = 0;
  [[nodiscard]] virtual result<stream_state> load(stream_slot) const = 0;
  [[nodiscard]] virtual result<void> lookup(stream_slot, const step_plan&, step_rows& out) = 0;
  /// The aggregates whose backlog says wake <= `now`, or gap_since <= `gaps`, at most `limit`, those that are
  /// due the longest first. Errors: state_damaged; of the database.
  [[nodiscard]] virtual result<due_aggregates> due(stream_slot, timestamp now, std::optional<timestamp> gaps,
                                                   std::size_t limit) = 0;
  /// The aggregates whose backlog says wake > `until`, at most `limit`. Errors: state_damaged; of the
  /// database.
  [[nodiscard]] virtual result<std::vector<std::string>> due_behind(stream_slot, timestamp until,
                                                                    std::size_t limit) = 0;

  /// Walks through the rows of a stream behind `after`, in any order that stays the same, and names those of
  /// aggregates that are forgotten, though events of some may wait. Looks at `rows` of them at most.
  /// Errors: state_damaged; of the database.
  [[nodiscard]] virtual result<forgotten_aggregates> find_forgotten(stream_slot, const retention_state&,
                                                                    const std::optional<std::string>& after,
                                                                    std::size_t rows) = 0;

  /// What the lanes of the outbox hold, as of last_step().
  [[nodiscard]] virtual outbox_lanes outboxes() const = 0;
  /// Kafka's lane of these.
  [[nodiscard]] outbox_state outbox() const { return outboxes().of({}); }
  /// Grows when the store was restored or taken over, so that {epoch, position} of the outbox only grows.
  [[nodiscard]] virtual std::uint64_t outbox_epoch() const = 0;
  /// The rows of a lane from this position up to, but without, `until`, in order, at most `limit` and,
  /// but for the first, `bytes`. They must be of durable steps; those that were trimmed are left out. Does
  /// not wait for a step that is being written. Errors: state_damaged; of the database.
  [[nodiscard]] virtual result<std::vector<output_row>> outputs(std::string_view lane, std::uint64_t from,
                                                                std::uint64_t until, std::size_t limit,
                                                                std::uint64_t bytes) const = 0;
  /// When the rejected record of the stream was rejected that goes next for its age, by the clock; none where
  /// none is kept. Costs no read.
  [[nodiscard]] virtual std::optional<timestamp> oldest_rejected(stream_id) const = 0;

  /// Writes the step atomically, without a sync. May return before it is written; every call that reads comes
  /// after it, and all that the step borrows is free.
  /// Errors: write_indeterminate, of this step or of one before it, which may or may not be there; where the
  /// step is written later, the next call tells it. Drop this store, open it again, read the truth. What had
  /// to be read first and could not be is told by its own code (state_damaged, of the system); the same holds
  /// then.
  [[nodiscard]] virtual result<void> write(const step_batch&) = 0;

  /// The last step that write() took (or that was recovered at open).
  [[nodiscard]] virtual std::uint64_t last_step() const noexcept = 0;
  /// The last step that survives a power cut: the last one that was written before a sync began.
  [[nodiscard]] virtual std::uint64_t durable_step() const noexcept = 0;
  /// Starts a sync in the background, or has one follow the sync under way; durable_step() shows the result.
  /// Any thread.
  virtual void request_sync() = 0;
  /// Syncs and waits; afterwards durable_step() == last_step() at the call.
  /// Errors: write_indeterminate, also where an earlier background sync failed. A failed sync is never tried
  /// again.
  [[nodiscard]] virtual result<void> sync() = 0;

  /// Tells that durable_step() has moved, on a thread of the store's own; a store without one tells nothing.
  /// See wait_until_durable(). Any thread.
  [[nodiscard]] durable_signal& durable() const noexcept { return durable_; }

  /// Why this store cannot write any more, in the words of the system, for people; empty while it can.
  [[nodiscard]] virtual std::string failure() const { return {}; }

  [[nodiscard]] virtual std::string uuid() const = 0;  ///< 36 characters
  /// The cluster this store reads from; empty until it was first connected.
  [[nodiscard]] virtual std::string cluster_id() const = 0;
  [[nodiscard]] virtual result<void> set_cluster_id(std::string_view) = 0;

  /// Draws the next incarnation (counter past all known and past the outbox epoch, and `random`); syncs it,
  /// or has it go with the first step.
  [[nodiscard]] virtual result<incarnation> draw_incarnation(std::uint64_t past_counter,
                                                             std::uint64_t random) = 0;
  [[nodiscard]] virtual std::vector<incarnation> incarnations() const = 0;

  /// None but in a checkpoint that was not started yet.
  [[nodiscard]] virtual std::optional<copy_mark> copy() const = 0;

  /// Flushes everything and links it into `directory`, an absolute path that must not exist: the state of
  /// last_step(), which is returned. What lies there is no store yet: see finish_checkpoint(). Takes as long
  /// as the flush, where the directory is on the same file system. Errors: operation_not_supported (this
  /// store has no files); of RocksDB and the system. After an error the directory may be there in part.
  [[nodiscard]] virtual result<std::uint64_t> checkpoint(const std::filesystem::path& directory) = 0;

  [[nodiscard]] virtual result<std::unique_ptr<store_view>> view() const = 0;

  /// What this opening changes is not written yet, and goes with the first step: a new directory's identity,
  /// another meaning of streams, the cluster, incarnations. Nothing of it is there if this store closes
  /// before.
  [[nodiscard]] virtual bool has_unwritten_start() const { return false; }
  /// Those that this opening adds; none once that is written and told.
  [[nodiscard]] virtual std::vector<added_table> added_tables() const { return {}; }
  /// Those that start over in this opening; none once that is written and told.
  [[nodiscard]] virtual std::vector<restarted_stream> restarted_streams() const { return {}; }

  /// Cheap enough for every few seconds.
  [[nodiscard]] virtual store_statistics statistics() const { return {}; }

 private:
  mutable durable_signal durable_;
};

}  // namespace ratchet
