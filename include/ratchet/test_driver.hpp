// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "ratchet/config.hpp"
#include "ratchet/error.hpp"
#include "ratchet/export.hpp"
#include "ratchet/reducer.hpp"
#include "ratchet/table.hpp"
#include "ratchet/types.hpp"

namespace ratchet {

/// One event to be piped through a test_driver. ev() makes it; change what you like. Two that agree in
/// aggregate, sequence, type and payload are one event that was sent twice, unless `id` says otherwise.
struct RATCHET_EXPORT test_event {
  std::string aggregate;
  ratchet::sequence sequence{};  ///< not looked at in `arrival` order
  std::string type{};
  std::string payload{};
  /// None: the driver makes one, a UUIDv7 of the time at which it first sees the event. It depends on the
  /// event and on that time only, so that a run can be repeated.
  std::optional<event_id> id{};
  bool without_id{false};  ///< it carries no id at all
  /// The record's time and the event's own. None: the driver's clock.
  std::optional<timestamp> time{};
  partition_id partition{0};
  /// Where Kafka holds the record. None: behind the last record of its partition, as anything newly produced.
  /// An offset that was handled before is Kafka delivering that record again.
  std::optional<std::int64_t> offset{};
  bool tombstone{false};  ///< a null value: deletes the snapshot and keeps the sequence

  /// Copies with one thing changed, for calls in one line: t.pipe(ev("p1", 2, "paid").at(t.now())).
  [[nodiscard]] test_event at(timestamp when) const;
  [[nodiscard]] test_event with_id(event_id) const;
  [[nodiscard]] test_event on(partition_id) const;
  [[nodiscard]] test_event as_tombstone() const;

  friend bool operator==(const test_event&, const test_event&) = default;
};

/// An event of an aggregate. Without a payload it gets a JSON object that names the three.
[[nodiscard]] RATCHET_EXPORT test_event ev(std::string aggregate, std::uint64_t number,
                                           std::string type = {});
[[nodiscard]] RATCHET_EXPORT test_event ev(std::string aggregate, std::uint64_t number, std::string type,
                                           std::string payload);

/// What of a stream's config matters to a test.
struct test_options {
  ratchet::order order{order::latest};
  first_number first{first_number::one};                   ///< `strict`
  ratchet::epoch_change epoch_change{epoch_change::park};  ///< `strict`
  gap_config gap{};                                        ///< `strict`
  ratchet::handling handling{handling::direct};            ///< deferred: handled behind each step
  waiting_config waiting{};
  retry_config retry{};
  bool dedup{true};                                   ///< false: as `dedup: off`
  std::optional<std::vector<std::string>> outputs{};  ///< where it may publish to; none: anywhere
  /// The tables that it may write. None: any, and any bytes as keys.
  std::optional<std::vector<table_config>> tables{};
  std::chrono::milliseconds window{std::chrono::hours{24}};
  std::chrono::milliseconds max_skew{std::chrono::minutes{5}};
  timestamp start{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};  ///< where the clock starts
  std::string stream{"test"};
  std::string topic{"test"};
  bool opaque_ids{false};  ///< as `dedup: {ids: opaque}`: ids are kept by their record's time
  /// An aggregate is forgotten so long after its last event.
  std::optional<std::chrono::milliseconds> retention{};
};

/// Runs a reducer behind the daemon's own pipeline, over a store in memory: no Kafka, no thread, no clock but
/// its own. What it shows holds for the daemon, as the same code decides.
///
/// Times of records count as they come (`record_times: trusted`), so that one event moves window and gaps.
///
/// It remembers every record as Kafka would. crash_and_reopen() loses what was not synced, and handles the
/// lost records again from the stored offsets: so a reducer that is not deterministic shows.
///
/// Thread-safety: one thread at a time.
class RATCHET_EXPORT test_driver {
 public:
  test_driver(test_options, reducer);
  ~test_driver();
  test_driver(test_driver&&) noexcept;
  test_driver& operator=(test_driver&&) noexcept;

  /// One step with one event. `parked`, `retrying`, `dead`: it waits, and how often is in count().
  /// `unhandled`: the reducer said stop, now or at an earlier event of this partition; see last_stop().
  verdict pipe(const test_event&);
  /// One step with several events, in this order: one write for each aggregate. The answers are in the order
  /// of the events.
  std::vector<verdict> pipe_all(const std::vector<test_event>&);
  /// What became of a transaction.
  struct transaction {
    std::error_code code;  ///< none: it is done
    std::string text;      ///< of an exception, or what it published amiss
    bool repeated{false};
    ratchet::sequence sequence;
    std::optional<std::string> reply;
  };
  /// A step with one transaction, as app::transact() asks for; it is durable behind sync() alone. The driver
  /// does not repeat it after a crash: whoever called does, with the same key. errc::usage: the driver's
  /// order is not arrival, its ids are not opaque, or the key has not 1 to 1024 bytes.
  transaction transact(const std::string& aggregate, const std::string& key,
                       const std::function<outcome(state&, effects&)>&);
  /// Why the last event piped was rejected; `none` where it was not.
  [[nodiscard]] reject_reason last_reason() const noexcept;

  /// Why a partition stopped. Its events from `offset` on are not handled until crash_and_reopen().
  struct stopped {
    partition_id partition{0};
    std::int64_t offset{0};
    std::string aggregate;
    std::error_code code;   ///< errc::reducer_failed, waiting_full or gap_too_old
    std::error_code cause;  ///< what the reducer said, or what is wrong with what it asked for
    std::string text;       ///< the text of an exception, or what it published or put amiss
  };
  /// The last stop since the driver was made or reopened.
  [[nodiscard]] const std::optional<stopped>& last_stop() const noexcept;

  /// What is stored of an aggregate.
  struct snapshot {
    ratchet::sequence sequence;
    std::optional<event_id> id;     ///< of the last event applied
    std::optional<timestamp> time;  ///< its time
    std::string value;
  };
  /// None where nothing was applied, or a tombstone or the reducer deleted it.
  [[nodiscard]] std::optional<snapshot> read(const std::string& aggregate) const;
  /// The last sequence handled, of deleted ones too.
  [[nodiscard]] std::optional<sequence> last_sequence(const std::string& aggregate) const;

  /// A message that the reducer published.
  struct message {
    std::string aggregate;  ///< of the event
    std::string topic;      ///< or sink:NAME
    std::optional<std::string> key;
    std::optional<std::string> payload;
    std::string type;
    event_id id;  ///< made from its cause: the same event, handled again, publishes the same id
    std::optional<timestamp> time;  ///< of the event's record
  };
  /// All that was published, in the order in which it would be sent: to topics, then to each sink.
  [[nodiscard]] std::vector<message> published() const;

  /// The value of a row of a read-model table; none where there is none. A key that does not fit has no row.
  [[nodiscard]] std::optional<std::string> read(const table_key&) const;
  /// All rows of a table, in the order of keys.
  [[nodiscard]] std::vector<table_row> table(const std::string& name) const;

  /// How many records ended so, or wait so now; a record is in exactly one verdict, so these sum up to
  /// consumed().
  [[nodiscard]] std::uint64_t count(verdict) const;
  [[nodiscard]] std::uint64_t count(reject_reason) const;
  [[nodiscard]] std::uint64_t consumed() const;
  /// The window's floor: ids before it are too old to be told apart.
  [[nodiscard]] std::optional<timestamp> floor() const;

  [[nodiscard]] timestamp now() const noexcept;
  /// Moves the clock on, and tries those events again that are due then. Gaps are measured in stream time,
  /// which only events move.
  void advance(std::chrono::milliseconds);

  /// Makes durable what was handled so far. Nothing else does.
  void sync();
  /// A crash and a restart: what was not synced is lost, and its records are handled again. Stopped
  /// partitions are tried again.
  void crash_and_reopen();

 private:
  struct implementation;
  std::unique_ptr<implementation> self_;
};

}  // namespace ratchet
