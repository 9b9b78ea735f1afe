// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/transactions.hpp"
#include "pipeline/decode_worker.hpp"
#include "ports/clock.hpp"
#include "ports/store.hpp"
#include "process/decider.hpp"
#include "streams/partition_task.hpp"

namespace ratchet {

/// Called for every record of a batch in the order of its stream, after the step is written.
using explain_record =
    std::function<void(const stream_definition&, const decoded_event&, decision, const event_wait*)>;
/// Called for every waiting event that something came of, behind the record that brought it about.
using explain_waited =
    std::function<void(const stream_definition&, std::string_view aggregate, const waiting_fate&)>;

/// From decoded events to one atomic write: looks up, decides, applies, writes. One owner thread.
/// After an error of any call nothing is known of the last step: drop the pipeline and its store, and open
/// again.
class pipeline {
 public:
  pipeline(task_list&, store&, const clock_port&);

  /// Takes one batch through a step. Records of stopped partitions are passed over. An input without records
  /// writes nothing. Errors: write_indeterminate; state_damaged.
  [[nodiscard]] result<void> handle(const decoded_input&);

  /// Does what is due of the events that wait: at most one bounded step for each stream, of one that defers
  /// its events steps for a short time; but for gaps, all of which are judged. Lets rejected records go that
  /// are too old, and some aggregates that are forgotten. Errors: as handle().
  [[nodiscard]] result<void> resume_waiting();
  /// What an operator decides about one waiting event of a stream.
  struct decided {
    std::string aggregate;
    waiting_verb verb{waiting_verb::replay};
    ratchet::sequence sequence;
    std::optional<std::string> payload{};  ///< replay: in place of what came
  };
  /// Does that in one step, in this order for each aggregate, and what follows from it in others; the audit
  /// rows say who decided it. An answer for each. Errors: as handle(). A few hundred at a time: the step is
  /// as large as what they release.
  [[nodiscard]] result<std::vector<waiting_answer>> run_commands(partition_task&, std::span<const decided>,
                                                                 const decider& = {});
  /// Does transactions of one stream in one step, in this order; an answer for each that one step can take,
  /// which is one at least: those behind them are for another one. Nothing is written where none changed
  /// anything. Errors: as handle(). See run_transactions().
  [[nodiscard]] result<std::vector<transaction_answer>> transact(partition_task&,
                                                                 std::span<const transaction_request>);
  /// The error of a run_commands() or skip_output() that failed, which only who asked for it was told; none:
  /// none did.
  [[nodiscard]] std::error_code failed() const noexcept { return failed_; }
  [[nodiscard]] const clock_port& clock() const noexcept { return clock_; }

  /// Deferred events are there whose turn it is, or retries that are due: resume_waiting() goes on with them.
  [[nodiscard]] bool has_deferred() const;
  /// As many deferred events wait as may, nearly, and some of them can be handled: reading more of the stream
  /// is to pause until fewer wait. `pauses`: it does.
  [[nodiscard]] bool is_nearly_full(const partition_task&, bool pauses) const;

  /// When resume_waiting() has something to do next, by the clock; none: nothing waits for its time.
  [[nodiscard]] std::optional<timestamp> next_wake() const;

  /// Moves a partition's next offset past what holds no records (transaction markers), if it is ahead.
  [[nodiscard]] result<void> move_to(const topic_partition&, std::int64_t offset);
  /// Leaves these partitions out of their streams' floors.
  [[nodiscard]] result<void> leave_out_of_floor(std::span<const topic_partition>);
  enum class plain_files : std::uint8_t { are_read, are_not_read };
  /// Does that with partitions that hold a floor back though nothing moves them any more: of topics that the
  /// config has not, of plain files where none is read, and of transactions beside topics. Writes nothing
  /// where there are none.
  [[nodiscard]] result<void> leave_out_unread(plain_files);
  /// Has these hold their streams' floors back: they have records that were not read, or may have. Those of
  /// which nothing is known are entered without a position, to be read from where their log starts. Writes
  /// nothing where each does already.
  [[nodiscard]] result<void> hold_floor_back(std::span<const topic_partition>);
  /// Enters the positions found at assignment (a partition's state is made where there is none), with audit
  /// rows and what changes of the store as a whole, in one step. `unread` hold the floor back from there on,
  /// as above; of a new stream the others begin where its config says, too. `are_forgotten`: the positions
  /// that were known are of another cluster's logs, and go.
  enum class known_positions : std::uint8_t { stay, are_forgotten };
  [[nodiscard]] result<void> enter_positions(std::span<const position>,
                                             std::span<const topic_partition> unread, std::vector<audit_row>,
                                             store_change = {}, known_positions = known_positions::stay);

  /// Takes rows that were delivered out of the outbox, in a step of its own. Errors: as handle().
  [[nodiscard]] result<void> trim_outbox(outbox_change, std::vector<audit_row>);

  /// Puts a row in the place of a message that is not to be sent any more, and has that synced. Errors: as
  /// handle(), and failed() tells them too.
  [[nodiscard]] result<void> skip_output(skipped_output, audit_row);

  /// Partitions that a step stopped, and why. A stop is forgotten when the partition is assigned anew.
  [[nodiscard]] const std::map<topic_partition, partition_stop>& stopped() const noexcept { return stopped_; }
  void stop_partition(partition_stop);
  void forget_stops() { stopped_.clear(); }

  /// The task that handles this topic's records; null where no stream reads it.
  [[nodiscard]] partition_task* task_of(const std::string& topic) const;
  /// That of the stream of this name; null where there is none.
  [[nodiscard]] partition_task* task_named(const std::string& name) const;
  /// Where the partitions stand, as of the last step written; null for one that was not read yet.
  [[nodiscard]] const partition_state* find(const topic_partition&) const;

  /// Records without a topic (plain files) belong to this task.
  void set_plain_task(partition_task* task) noexcept { plain_task_ = task; }

  void on_record(explain_record explain) { explain_ = std::move(explain); }
  void on_fate(explain_waited explain) { explain_fate_ = std::move(explain); }

  /// Has `take` called with the rows that each step has put into the outbox, behind its write().
  using take_outputs = std::function<void(std::vector<output_row>&&)>;
  void on_outputs(take_outputs take) { take_outputs_ = std::move(take); }

  /// Has `look` called with each step, behind its write().
  using look_at_step = std::function<void(const step_batch&)>;
  void on_written(look_at_step look) { look_at_step_ = std::move(look); }

  /// Has `go_on` called between the steps of one batch, and of what follows from a step. False: the rest is
  /// left, and no record is handled from then on. For who stops: the next start reads the rest.
  void between_steps(std::function<bool()> go_on) { go_on_ = std::move(go_on); }
  /// It was said so: records were left, so that nobody may move a partition past what was read.
  [[nodiscard]] bool has_left() const noexcept { return left_; }
  /// So many records as all streams handle in a few steps that are not too long.
  [[nodiscard]] std::size_t records_in_time() const;

 private:
  /// A step ends soon that has taken so long: between steps it is seen that the program is alive, and that it
  /// is to stop.
  static constexpr std::chrono::milliseconds k_longest_step{1000};
  /// `all`: of a stream that defers events without gaps, which are no matter of its accepted events.
  /// `bounded`: what a bounded step has left. `too_late`: what is due later than any pause takes.
  enum class look_for : std::uint8_t { all, gaps, bounded, too_late };
  /// One task's part of a batch, while it goes through its steps.
  struct work {
    partition_task* task{nullptr};
    std::span<const decoded_event> events;   ///< that are left
    const step_plan* plan{nullptr};          ///< of `events`; none: to be made
    std::span<const decoded_event> taken{};  ///< the first of `events`: those of this step
    step_plan own_plan{};
    std::vector<decoded_event> filtered{};
    stream_change change{};
    std::chrono::nanoseconds took{0};  ///< by its decisions and reducers
  };
  /// Takes some of `events`, or none: deferred ones were handled to make room.
  [[nodiscard]] result<void> take_step(std::vector<work>&);
  /// Adds to `outputs` what the step has to tell others.
  [[nodiscard]] result<step_part> decide(work&, std::vector<output_row>& outputs);
  [[nodiscard]] result<void> finish(work&);
  void explain(const work&) const;
  void explain(const stream_definition&, const step_plan&, const waiting_fate&) const;
  [[nodiscard]] result<std::vector<waiting_answer>> carry_out(partition_task&, std::span<const decided>,
                                                              const decider&);
  [[nodiscard]] result<std::vector<std::size_t>> carry_out_some(partition_task&, std::span<const decided>,
                                                                const std::vector<std::size_t>& which,
                                                                const decider&, std::vector<waiting_answer>&);
  [[nodiscard]] result<void> resume_waiting_of(partition_task&);
  /// Once a minute: in a stream that goes on, each step lets them go.
  [[nodiscard]] result<void> drop_old_rejected(partition_task&);
  /// Looks at some rows, and takes away those of aggregates that are forgotten.
  [[nodiscard]] result<void> remove_forgotten(partition_task&);
  /// What must be done before the next record is decided: releases that go on, and gaps that are too old.
  [[nodiscard]] result<void> resume_backlogs(partition_task&);
  [[nodiscard]] result<bool> resume_some(partition_task&, look_for);
  /// Where the names of aggregates are known from: `start`: from the store, which a start looks through for
  /// what was left half done.
  enum class came_from : std::uint8_t { memory, store, start };
  [[nodiscard]] static came_from where_from(const partition_task&, look_for);
  static void leave_for_the_next(partition_task&, std::span<const std::string> names, came_from);
  [[nodiscard]] static bool runs_accepted(look_for what) noexcept {
    return what == look_for::all || what == look_for::too_late;
  }
  [[nodiscard]] bool may_go_on();
  void note_events_a_record(const decoded_input&);
  /// A step may have had `given` events, and came to `done` of them.
  static void note_time(partition_task&, std::size_t given, std::size_t done, std::chrono::nanoseconds took);
  /// Whether a step that begins now has had its time, whenever it is asked.
  [[nodiscard]] has_had_its_time step_time() const;
  /// Of a wall clock that was set back: what waits for times that it will have in hours.
  [[nodiscard]] result<void> call_in_what_is_too_late(partition_task&);
  /// Handles deferred events for a short time.
  [[nodiscard]] result<void> work_off(partition_task&);
  [[nodiscard]] bool is_due(const partition_task&) const;
  /// Writes a step of waiting events, and enters what it changed.
  [[nodiscard]] result<void> take_change(partition_task&, const step_plan&, stream_change&);
  /// `gap.policy: stop`, and a gap is too old.
  [[nodiscard]] result<void> stop_for_gap(partition_task&);
  [[nodiscard]] static std::vector<audit_row> audits_of(stream_change&, timestamp now);
  static void note_backlogs(partition_task&, const step_plan&, const stream_change&);
  /// Aggregates for one step: those that are ready, else those that are due.
  [[nodiscard]] result<std::vector<std::string>> take_due(partition_task&, look_for);
  /// What is behind a stop was not read: the partitions hold the floor back.
  [[nodiscard]] result<void> enter_stops(std::vector<partition_stop>&);

  /// What a step does in the task's slot. Borrows the plan and the change.
  [[nodiscard]] static step_part part_of(const partition_task&, const step_plan&, const stream_change&);
  /// What holds of a stream's state behind every step, whatever made it. Ends the program where it does not,
  /// before anything is written.
  static void assert_goes_on(const partition_task&, const stream_state& after);
  [[nodiscard]] result<void> write(std::vector<step_part>, std::vector<audit_row>, store_change = {},
                                   outbox_change = {});
  /// Writes states of streams that changed without any record.
  [[nodiscard]] result<void> write_states(std::map<partition_task*, stream_state>, std::vector<audit_row>,
                                          store_change = {});

  task_list& tasks_;
  store& store_;
  const clock_port& clock_;
  std::error_code failed_;
  std::map<topic_partition, partition_stop> stopped_;
  explain_record explain_;
  take_outputs take_outputs_;
  look_at_step look_at_step_;
  std::function<bool()> go_on_;
  bool left_{false};                ///< go_on_ has said so
  std::size_t events_a_record_{1};  ///< of the last batch, and of the stream that has the most
  partition_task* plain_task_{nullptr};
  explain_waited explain_fate_;
};

}  // namespace ratchet
