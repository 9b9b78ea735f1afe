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
#include "ratchet/snapshot.hpp"
#include "ratchet/table.hpp"
#include "ratchet/types.hpp"

namespace ratchet {

/// One event for a test_driver. ev() makes it, and you may change each member. Two events with the same
/// aggregate, sequence, type and payload are one event that was sent twice, unless their `id` differs.
struct RATCHET_EXPORT test_event {
  std::string aggregate;
  ratchet::sequence sequence{};  ///< ignored in `arrival` order
  std::string type{};
  std::string payload{};
  /// None: the driver makes a UUIDv7 of the time at which it first sees the event. The id depends on the
  /// event and that time only, so a run can be repeated.
  std::optional<event_id> id{};
  bool without_id{false};  ///< the event has no id
  /// The time of the record and of the event. None: the driver's clock.
  std::optional<timestamp> time{};
  partition_id partition{0};
  /// The offset of the record. None: the next one of its partition, as for a new record. An offset that was
  /// handled before means that Kafka delivers that record again.
  std::optional<std::int64_t> offset{};
  bool tombstone{false};  ///< a null value: it deletes the snapshot and keeps the sequence

  /// Copies with one thing changed, for calls in one line: t.pipe(ev("p1", 2, "paid").at(t.now())).
  [[nodiscard]] test_event at(timestamp when) const;
  [[nodiscard]] test_event with_id(event_id) const;
  [[nodiscard]] test_event on(partition_id) const;
  [[nodiscard]] test_event as_tombstone() const;

  friend bool operator==(const test_event&, const test_event&) = default;
};

/// Makes an event. Without a payload it gets a JSON object with its aggregate, number and type.
[[nodiscard]] RATCHET_EXPORT test_event ev(std::string aggregate, std::uint64_t number,
                                           std::string type = {});
[[nodiscard]] RATCHET_EXPORT test_event ev(std::string aggregate, std::uint64_t number, std::string type,
                                           std::string payload);

/// The settings of a stream that matter in a test.
struct test_options {
  ratchet::order order{order::latest};
  first_number first{first_number::one};                   ///< `strict`
  ratchet::epoch_change epoch_change{epoch_change::park};  ///< `strict`
  gap_config gap{};                                        ///< `strict`
  ratchet::handling handling{handling::direct};            ///< deferred: handled after each step
  waiting_config waiting{};
  retry_config retry{};
  bool dedup{true};                                   ///< false: like `dedup: off`
  std::optional<std::vector<std::string>> outputs{};  ///< where the reducer may publish; none: anywhere
  /// The tables that the reducer may write. None: any table, with any bytes as keys.
  std::optional<std::vector<table_config>> tables{};
  std::chrono::milliseconds window{std::chrono::hours{24}};
  std::chrono::milliseconds max_skew{std::chrono::minutes{5}};
  timestamp start{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};  ///< the first time of the clock
  std::string stream{"test"};
  std::string topic{"test"};
  bool opaque_ids{false};  ///< like `dedup: {ids: opaque}`: ids count by the time of their record
  /// How long after its last event an aggregate is forgotten. None: never.
  std::optional<std::chrono::milliseconds> retention{};
};

/// Runs a reducer in the real pipeline over a store in memory, without Kafka and threads and with a clock of
/// its own. The same code decides in `ratchet run`, so the results hold there, too.
///
/// Times of records are trusted (`record_times: trusted`): one event moves the window and the age of gaps.
///
/// It keeps every record, as Kafka would. crash_and_reopen() drops all steps that were not synced, and
/// handles their records again from the stored offsets. So it exposes a reducer that is not deterministic.
///
/// Thread-safety: one thread at a time.
class RATCHET_EXPORT test_driver {
 public:
  test_driver(test_options, reducer);
  ~test_driver();
  test_driver(test_driver&&) noexcept;
  test_driver& operator=(test_driver&&) noexcept;

  /// Runs one step with one event. `parked`, `retrying`, `dead`: the event waits; count() counts it.
  /// `unhandled`: the reducer stopped this partition, at this event or an earlier one; see last_stop().
  verdict pipe(const test_event&);
  /// Runs one step with several events in this order, and one write for each aggregate. Returns the verdicts
  /// in the order of the events.
  std::vector<verdict> pipe_all(const std::vector<test_event>&);
  /// The result of a transaction.
  struct transaction {
    std::error_code code;  ///< none: the transaction is done
    std::string text;      ///< of an exception, or of the effect that is not allowed
    bool repeated{false};
    ratchet::sequence sequence;
    std::optional<std::string> reply;
  };
  /// Runs a step with one transaction, as app::transact() does. Only sync() makes it durable. After a crash
  /// repeat it yourself, with the same key. Code errc::usage: the order is not `arrival`, the ids are not
  /// opaque, or the key is empty or has more than 1024 bytes.
  transaction transact(const std::string& aggregate, const std::string& key,
                       const std::function<outcome(state&, effects&)>&);
  /// Why the last event was rejected; `none` if it was not.
  [[nodiscard]] reject_reason last_reason() const noexcept;

  /// Why a partition stopped. Events from `offset` on are not handled until crash_and_reopen().
  struct stopped {
    partition_id partition{0};
    std::int64_t offset{0};
    std::string aggregate;
    std::error_code code;   ///< errc::reducer_failed, waiting_full or gap_too_old
    std::error_code cause;  ///< the reducer's code, or the reason why its effect is not allowed
    std::string text;       ///< of an exception, or of the effect that is not allowed
  };
  /// The last stop since the driver was made or opened again.
  [[nodiscard]] const std::optional<stopped>& last_stop() const noexcept;

  using snapshot = ratchet::snapshot;  ///< as app::read() returns it
  /// None if no event was applied, or if a tombstone or the reducer deleted it.
  [[nodiscard]] std::optional<snapshot> read(const std::string& aggregate) const;
  /// The last sequence handled, also of a deleted aggregate.
  [[nodiscard]] std::optional<sequence> last_sequence(const std::string& aggregate) const;

  /// A message that the reducer published.
  struct message {
    std::string aggregate;  ///< of the event
    std::string topic;      ///< or sink:NAME
    std::optional<std::string> key;
    std::optional<std::string> payload;
    std::string type;
    event_id id;  ///< made from its cause: an event that is handled again publishes the same id
    std::optional<timestamp> time;  ///< of the event's record
  };
  /// All published messages in the order of sending: those for topics, then those for each sink.
  [[nodiscard]] std::vector<message> published() const;

  /// The value of a row of a read-model table; none if there is no such row, or if the key does not fit.
  [[nodiscard]] std::optional<std::string> read(const table_key&) const;
  /// All rows of a table in the order of their keys.
  [[nodiscard]] std::vector<table_row> table(const std::string& name) const;

  /// The number of records with this verdict now. Each record has exactly one verdict, so the counts add up
  /// to consumed().
  [[nodiscard]] std::uint64_t count(verdict) const;
  [[nodiscard]] std::uint64_t count(reject_reason) const;
  [[nodiscard]] std::uint64_t consumed() const;
  /// The floor of the window. Ratchet cannot decide whether it handled an older id.
  [[nodiscard]] std::optional<timestamp> floor() const;

  [[nodiscard]] timestamp now() const noexcept;
  /// Moves the clock forward, and tries again the events that are due then. The age of gaps is measured in
  /// stream time, which only events move.
  void advance(std::chrono::milliseconds);

  /// Makes all steps so far durable. No other call does.
  void sync();
  /// Crashes and restarts: steps that were not synced are lost, and their records are handled again. Stopped
  /// partitions are tried again.
  void crash_and_reopen();

 private:
  struct implementation;
  std::unique_ptr<implementation> self_;
};

}  // namespace ratchet
