// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/decoded_event.hpp"
#include "core/kept_answer.hpp"
#include "core/reducer_call.hpp"
#include "core/sequence_range.hpp"
#include "core/stream_state.hpp"
#include "core/tables.hpp"
#include "core/waiting.hpp"
#include "ratchet/gate.hpp"
#include "ratchet/reducer.hpp"

/// The core: what one step does to one stream, as a pure function
///     (rules, state before, decoded batch, rows looked up, clock reading) -> (rows, ids, state after,
///     decisions).
/// No I/O, no clock, no random number. Two calls with the rows' look-up between them:
///     plan_step() names what must be looked up, run_step() decides and applies.
namespace ratchet {

/// What of a stream's config a step depends on.
struct stream_rules {
  std::string_view stream;
  gate_rules gate;
  bool dedup{true};  ///< false: ids are neither looked at nor kept
  /// Ids have no time of their own: they are filed under that of their record, see filed_time().
  bool opaque_ids{false};
  /// How its sequences are written for people.
  std::string (*number_text)(sequence){&to_text};
  /// An aggregate that was deleted may begin again with the number 0 or 1, in an epoch of its own: events
  /// then count in the epoch of their aggregate.
  bool restarts{false};
  /// An event that is too old waits for an operator.
  bool parks_too_old{false};
  /// Ids are numbers that grow in each partition, of each source: partition_state::last_ids tells a repeat.
  bool monotonic_ids{false};
  /// It has no topics, so that the times of its transactions move the floor.
  bool transactions_move_floor{false};
  /// Every event that is let through is accepted and waits; its reducer runs in steps that resume_waiting()
  /// makes.
  bool deferred{false};
  /// Events may keep some of what is stored (decoded_event::keeps_columns), also such as waited.
  bool keeps_columns{false};
  /// What stands for such a column; borrowed.
  std::string_view unavailable{};
  /// Events may cover ranges of numbers (decoded_event::begins_at), which may overlap.
  bool has_ranges{false};
  std::chrono::milliseconds window{0};
  std::chrono::milliseconds max_skew{0};
  /// An aggregate whose last event is older is forgotten.
  std::optional<std::chrono::milliseconds> retention{};
  /// A record time that is far ahead of its neighbours' has to be borne out, see believe_time().
  bool checks_times{false};
  /// `gap.policy: stop`: what the stream's time was when it was started. A gap that is older is waited for as
  /// if it had begun then, so that what is missing has the whole time-out to come.
  std::optional<timestamp> gaps_from{};
  /// The floor of a stream whose window was made longer since: until it moves, floor and window say nothing
  /// of the stream's time, and no gap is too old.
  std::optional<timestamp> floor_of_shorter_window{};
  std::uint32_t poison_limit{100};  ///< 0: off
  gap_config gap;
  waiting_config waiting;
  retry_config retry;
  output_rules outputs;
};

/// An id of an aggregate; `aggregate` is an index into step_plan::aggregates.
struct id_of_aggregate {
  std::uint32_t aggregate{0};
  event_id id;
  timestamp filed{};  ///< the time that it is filed under; looked at in stream_change::ids alone
};

constexpr std::uint32_t k_no_index = 0xFFFFFFFF;
constexpr std::size_t k_no_limit = std::numeric_limits<std::size_t>::max();

/// Of so many sources a partition keeps the last number; each of its steps writes all of them.
constexpr std::size_t k_most_sources = 1000;

/// So many stored waiting events are taken into one step at most, so that a long queue costs no step much.
constexpr std::size_t k_queue_events = 4096;
/// And so many bytes of them, but for the first of each aggregate.
constexpr std::uint64_t k_queue_bytes = std::uint64_t{32} << 20U;

/// A waiting event that is asked for by its number; `aggregate` is an index into step_plan::aggregates.
struct asked_event {
  std::uint32_t aggregate{0};
  ratchet::sequence sequence;
};

/// The distinct keys of a batch. Views are borrowed from the batch.
struct step_plan {
  ratchet::order order{order::latest};
  std::span<const decoded_event> events;  ///< none in a timer's or an operator's step
  std::vector<std::string_view> aggregates;
  std::vector<hash128> hashes;  ///< hash_of_aggregate() of each
  std::vector<id_of_aggregate> ids;
  std::vector<std::uint32_t> aggregate_of;  ///< per event, or k_no_index
  std::vector<std::uint32_t> id_of;         ///< per event, or k_no_index
  bool needs_snapshots{false};              ///< the state before is read: by the reducer, or by one event
  bool opaque_ids{false};                   ///< stream_rules::opaque_ids
  bool restarts{false};                     ///< stream_rules::restarts
  bool has_ranges{false};                   ///< stream_rules::has_ranges
  /// The aggregates are there for their waiting events: the queue of each is wanted. Without events.
  bool resumes{false};
  /// With `resumes`: the accepted events are to be run, so that the queue begins with them. Without it the
  /// queue begins behind them.
  bool runs_accepted{false};
  /// Of the queue of each aggregate that many events are wanted at most; one at least.
  std::size_t most_queued{k_no_limit};
  /// With `resumes` and `runs_accepted`: these events are wanted wherever they lie, and of those that are not
  /// accepted the lowest, whatever lies before them.
  std::vector<asked_event> asked;
  /// What was answered under each id is wanted, too. Of opaque ids alone.
  bool wants_answers{false};

  /// Adds an aggregate that is not in here yet.
  void add(std::string_view aggregate);
};

/// What the store knew of the plan's keys, index by index.
struct step_rows {
  std::vector<std::optional<aggregate_row>> aggregates;  ///< the first ones: all, or see state_bytes.hpp
  /// 1: an entry exists, at whatever time. Of a plan that wants_answers the first ones, as above.
  std::vector<std::uint8_t> id_stored;
  std::vector<timestamp> id_filed;  ///< that time, where id_stored says 1; of a plan with opaque ids alone
  std::vector<std::optional<kept_answer>> answers;  ///< by id; of a plan that wants_answers alone
  /// Of the aggregates whose row says that it waits, by index. At most k_queue_events and k_queue_bytes in
  /// all queues together; behind them a queue is not complete.
  std::vector<std::pair<std::uint32_t, backlog_rows>> backlogs;
  /// When the stream's oldest gap began, or an earlier time; none where it has no gap with an age.
  std::optional<timestamp> oldest_gap;
};

/// A partition that a step stopped, and why. Its records from `offset` on were not handled.
struct partition_stop {
  topic_partition where;
  std::int64_t offset{0};
  std::error_code code;        ///< errc::poisoned, reducer_failed, waiting_full, gap_too_old
  std::error_code cause;       ///< the reducer's own code
  malformed_detail malformed;  ///< of the record that reached the poison limit
  /// The first bytes of the first such record that the step was given; none: it was null.
  std::optional<std::string> first_value{};
  std::string aggregate;   ///< of the event that failed
  std::string what;        ///< the text of an exception, or what it asked for amiss
  std::uint32_t index{0};  ///< the events of the record at `offset` that come before this one were handled
  std::string remedy{};    ///< reducer_call::remedy

  [[nodiscard]] event_place place() const noexcept { return {offset, index}; }
};

/// Stops the event's partition before this event.
[[nodiscard]] partition_stop stop_at(const decoded_event&, std::error_code);

struct aggregate_change {
  std::uint32_t aggregate{0};  ///< index into the plan
  aggregate_row row;
  /// What is stored of the snapshot stays; `row.snapshot` and `row.deleted` are not looked at.
  bool keeps_snapshot{false};
};

/// What a reducer published for one event.
struct published_outputs {
  std::uint32_t aggregate{0};  ///< index into the plan
  ratchet::sequence sequence;  ///< of the event, as the reducer saw it
  std::optional<event_id> id;
  std::string type;
  topic_partition where;  ///< of its record
  std::int64_t offset{0};
  std::optional<timestamp> record_time;
  std::vector<owned_output> outputs;
  std::uint32_t index{0};  ///< which of its record's events it is
};

/// What came of one waiting event; in an aggregate that is held the others are told of by its audit row.
struct waiting_fate {
  std::uint32_t aggregate{0};  ///< index into the plan
  std::uint32_t behind{0};  ///< the event of the batch whose record brought it about; 0 in steps without one
  ratchet::sequence sequence;
  waiting_end end{waiting_end::released};
  topic_partition where;  ///< of its own record
  std::int64_t offset{0};
  std::string error;       ///< of its last attempt, where it is dead
  std::uint32_t index{0};  ///< which of its record's events it is

  [[nodiscard]] event_place place() const noexcept { return {offset, index}; }
};

/// Why an event of the batch waits, as its record came; for people.
struct event_wait {
  std::uint32_t index{0};  ///< in the batch
  wait_reason reason{wait_reason::gap};
  std::string error;  ///< of its attempt, where that failed
};

/// A record whose time is odd among those around it.
struct odd_time {
  topic_partition where;
  time_leap of;
  timestamp believed;  ///< of its partition
};

/// Everything a step changes of one stream.
struct stream_change {
  std::vector<aggregate_change> rows;
  std::vector<backlog_change> backlogs;
  /// To be filed in the window, in record order: where one comes twice, the later one counts.
  std::vector<id_of_aggregate> ids;
  std::vector<kept_answer> answers;        ///< to be kept with each of `ids`; or none at all
  bool opaque_ids{false};                  ///< stream_rules::opaque_ids
  std::vector<published_outputs> outputs;  ///< of each aggregate in the order of its events
  std::vector<table_change> tables;        ///< in the order of events: the last one of a row counts
  std::vector<std::uint32_t> rejected;     ///< indexes of the rejected events
  std::vector<std::optional<timestamp>> rejected_floors;  ///< of each, before its record
  /// Per event of the batch: what is said of it when its record comes. One that waits may have been applied
  /// or superseded by the end of the step, and is counted as that.
  std::vector<decision> decisions;
  std::vector<event_wait> waits;  ///< of those that it lets wait; in the order of the batch
  /// Events of the batch, or aggregates of a plan that `resumes`; those behind are for the next step.
  std::size_t looked_at{0};
  std::vector<audit_row> audits;         ///< step and time are the caller's
  std::vector<topic_partition> touched;  ///< partitions whose state differs from before
  std::vector<partition_stop> stops;
  stream_state after;
  std::vector<waiting_fate> fates;  ///< in the order of the batch
  /// The first records of the step, each with what is believed of its partition since: whose time was far
  /// ahead of its neighbours', which did not bear it out (see believe_time()); whose time lies behind the
  /// window of its partition.
  std::optional<odd_time> passed_over;
  std::optional<odd_time> behind;
  /// The first that its partition's time jumped to over more than the window; with the time before.
  std::optional<odd_time> jumped;
};

[[nodiscard]] step_plan plan_step(const stream_rules&, const reducer_traits&, std::span<const decoded_event>);

/// Asked now and then while a step runs its reducers: whether they have had their time. True: the step ends
/// soon, and what is left is for the next one. Where a step ends changes nothing of what comes of its events,
/// so that this may look at a clock.
using has_had_its_time = std::function<bool()>;

/// Decides the batch in its order and runs the reducer. An event whose reducer says stop, or that finds no
/// room to wait, stops its partition before that event; the rest of the batch is decided as if the records
/// behind it had not been read. Looks at the events up to the one that moves stream time so far that a gap
/// may be too old, as that is another step's to judge first: `looked_at` says how many, at least one.
/// partition_state::last_record is left to the caller, who has the bytes. Records of plain files (an
/// empty topic) have no position that counts.
[[nodiscard]] stream_change run_step(const stream_rules&, const reducer&, const stream_state& before,
                                     std::span<const decoded_event>, const step_plan&, const step_rows&,
                                     timestamp now, const has_had_its_time& = {});

/// The timer's step for waiting events: tries those again that are due, skips gaps that are too old where the
/// stream wants that, goes on where the work of a step was bounded, and runs accepted events where the plan
/// says so. Of the plan's aggregates only, which `resumes`, and of what was looked up of their queues; where
/// there is more, the aggregate is `ready` again. Has `looked_at` say to how many of the plan's aggregates it
/// came: those behind them are as they were.
[[nodiscard]] stream_change resume_waiting(const stream_rules&, const reducer&, const stream_state& before,
                                           const step_plan&, const step_rows&, timestamp now,
                                           const has_had_its_time& = {});

/// An operator's step: does what was decided about waiting events of the plan's aggregates, which `resumes`,
/// order by order; each was asked for by the plan. `answers` gets one for each. All orders are done, however
/// long that takes; what they release goes on in other steps then.
[[nodiscard]] stream_change run_commands(const stream_rules&, const reducer&, const stream_state& before,
                                         const step_plan&, const step_rows&, std::span<const waiting_command>,
                                         timestamp now, std::vector<waiting_answer>& answers,
                                         const has_had_its_time& = {});

/// Stream time: what gaps are measured in. None while the stream has no floor.
[[nodiscard]] std::optional<timestamp> stream_time(const stream_rules&, const stream_state&);

/// No gap of the stream may grow too old at this floor.
[[nodiscard]] inline bool has_no_time(const stream_rules& rules, std::optional<timestamp> floor) noexcept {
  return !floor || (rules.floor_of_shorter_window && *floor == *rules.floor_of_shorter_window);
}

/// A gap that began then or before is too old; none where no gap ever is.
[[nodiscard]] std::optional<timestamp> gaps_due(const stream_rules&, const stream_state&);

/// The timer's step: leaves the partitions out of the floor until they deliver again, and moves the floor.
/// Partitions that the state does not know are passed over.
[[nodiscard]] stream_state leave_out(const stream_rules&, const stream_state& before,
                                     std::span<const topic_partition>);

}  // namespace ratchet
