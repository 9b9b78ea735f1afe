// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "core/folded_state.hpp"
#include "core/reducer_call.hpp"
#include "core/retention.hpp"
#include "core/step.hpp"
#include "core/waiting.hpp"
#include "core/work_meter.hpp"

namespace ratchet {

/// What waits in a stream during a step, against its limits; shared by all aggregates.
struct waiting_room {
  std::uint64_t events{0};
  std::uint64_t bytes{0};
  std::uint64_t most_events{0};
  std::uint64_t most_bytes{0};
  bool exceeded{false};  ///< something found no room: the step must take fewer records
  void add(std::uint64_t event_bytes) noexcept;
  void remove(std::uint64_t event_bytes) noexcept;
};

[[nodiscard]] waiting_room room_of(const stream_rules&, const counters&);

/// An event that is too old, and waits for an operator as the stream wants it. One whose id is in the window
/// was handled: of that there is nothing to decide.
[[nodiscard]] inline bool is_kept_as_dead(const stream_rules& rules, decision d,
                                          const gate_facts& facts) noexcept {
  return rules.parks_too_old && d.reason == reject_reason::too_old && !facts.id_seen;
}

/// Null where the aggregate has none. Borrowed from `rows`.
[[nodiscard]] const backlog_rows* find_backlog(const step_rows& rows, std::uint32_t aggregate);

/// The stop with what the reducer said.
[[nodiscard]] partition_stop stop_of(partition_stop, const reducer_call&);

/// What the reducer published for this event.
[[nodiscard]] published_outputs outputs_of(std::uint32_t aggregate, const event&,
                                           std::optional<timestamp> record_time, std::vector<owned_output>);

/// One event of the batch, and what was known when its record came.
struct incoming_event {
  std::uint32_t index{0};  ///< in the batch
  const decoded_event* event{nullptr};
  ratchet::sequence sequence{};          ///< that it counts as in its aggregate
  timestamp id_time;                     ///< what its id is filed under, and judged by
  std::optional<timestamp> id_filed;     ///< when its id was filed that the store has
  bool number_known{false};              ///< of a monotonic id: it came before
  std::optional<timestamp> floor;        ///< before the record
  std::optional<timestamp> stream_time;  ///< behind it
  event_age age{};
};

/// Of an event that waits, alone or in an aggregate that is held.
[[nodiscard]] verdict verdict_of(waiting_state, bool held) noexcept;

/// What is said of an event of the batch, or became of it.
struct resolved_event {
  std::uint32_t index{0};
  ratchet::decision decision;
};

/// The way of one aggregate's events where some of them have to wait, during one step: decides, runs the
/// reducer in the order of the aggregate, keeps what fails or comes early, and releases what waited. Events
/// are run one by one as they come: nothing is superseded unseen here.
///
/// In a stream that defers events, and elsewhere while accepted ones are left, an event that may be run is
/// accepted instead: it goes on waiting, but L, and its id, are for the gate as if it had been applied. What
/// was accepted is run by steps that no record begins, in its order.
/// Everything that it is made of is borrowed. Thread-safety: none.
class aggregate_backlog {
 public:
  struct dependencies {
    const stream_rules& rules;
    const reducer& reduce;
    timestamp now;
    waiting_room& room;
    counters& counts;  ///< of events that waited before this step, and of what waits
    work_meter& work;
    std::optional<timestamp> stream_time{};  ///< in a step without records
  };

  aggregate_backlog(const dependencies&, std::string_view aggregate, const aggregate_row* row,
                    const backlog_rows* stored);

  /// An event of the batch, in the order of its records. False: it or an earlier one ended the step, see
  /// stopped().
  bool take(const incoming_event&);
  /// What is due: retries, gaps that began at `gaps` or before, what a bounded step has left, and accepted
  /// events where `runs_accepted`.
  void resume(std::optional<timestamp> gaps, bool runs_accepted);

  /// Does what an operator decided, and what follows from it.
  waiting_answer run(const waiting_command&);

  /// More can be released than was loaded: that is for the next step, and what comes behind it, too. So it is
  /// with accepted events, unless the stream defers them.
  [[nodiscard]] bool is_ready() const noexcept {
    return ready_ || (!deps_.rules.deferred && accepted_is_ready());
  }

  /// The event of the batch before which its partition must stop, and why.
  struct stop {
    const decoded_event* event{nullptr};
    reducer_call call;
  };
  [[nodiscard]] const std::optional<stop>& stopped() const noexcept { return stopped_; }

  /// What is said of the events that were taken, each once: what the gate and its own run came to. What the
  /// events behind it made of it is not in there, as they may as well come in another step.
  [[nodiscard]] const std::vector<resolved_event>& said() const noexcept { return said_; }

  /// What became of the events that were taken by the end of the step, each once, and the changes of the
  /// aggregate.
  void finish(std::uint32_t aggregate, std::vector<resolved_event>&, stream_change&);

 private:
  /// The reducers of all aggregates have done as much as one step may.
  [[nodiscard]] bool has_done_enough() const noexcept { return deps_.work.is_over(); }

  struct entry {
    waiting_event event;
    bool whole{true};    ///< false: only the head is known
    bool stored{false};  ///< the store has an event of this number
    bool changed{false};
    std::optional<std::uint32_t> index{};  ///< of an event of this batch
    bool asked{false};  ///< the one before it is known, too, while that is there: none is hidden between them
  };
  using entries = std::map<sequence, entry>;
  /// Of the last one handled.
  struct position {
    bool exists{false};
    sequence number;
    std::optional<event_id> id;
    hash128 payload_hash;
    std::optional<timestamp> time;
  };

  [[nodiscard]] bool is_latest() const noexcept { return deps_.rules.gate.order == order::latest; }
  [[nodiscard]] bool is_strict() const noexcept { return deps_.rules.gate.order == order::strict; }
  [[nodiscard]] bool is_arrival() const noexcept { return deps_.rules.gate.order == order::arrival; }
  [[nodiscard]] gate_facts facts_of(incoming_event&, bool anew);
  [[nodiscard]] bool is_gone(const event_age&) const;
  void begin_anew();
  [[nodiscard]] std::optional<std::string> completed(std::string_view type, std::string_view payload,
                                                     entries::const_iterator end) const;
  void touch(std::optional<timestamp> when);
  void touch_late();
  [[nodiscard]] sequence count(const decoded_event&, bool seen) const;
  [[nodiscard]] claim claimed_by(const decoded_event&, sequence);
  [[nodiscard]] bool is_blocked(sequence, std::optional<std::uint64_t> begins_at) const;
  [[nodiscard]] bool has_hidden_below(sequence) const;
  [[nodiscard]] bool is_unknown() const noexcept;
  [[nodiscard]] bool waits_for_unknown(const waiting_head&) const noexcept;
  [[nodiscard]] bool has_before(const waiting_head&) const;
  [[nodiscard]] entries::iterator next_in_turn();
  [[nodiscard]] bool next_is_hidden() const;
  [[nodiscard]] bool is_behind_hidden(entries::const_iterator) const;
  [[nodiscard]] bool is_accepted(sequence s) const { return defers_ && has_last_ && s <= last_; }
  [[nodiscard]] std::uint64_t not_accepted() const { return backlog_.events() - accepted_events_; }
  [[nodiscard]] bool accepted_is_ready() const noexcept;
  [[nodiscard]] bool is_reopened(const event_id&) const;
  void forget_reopened(std::optional<timestamp> floor);
  [[nodiscard]] bool is_due(const waiting_event&) const;
  [[nodiscard]] bool may_be_next(const waiting_head&) const;
  [[nodiscard]] std::uint64_t first_of_epoch() const noexcept;
  [[nodiscard]] bool is_left_to_people(sequence) const;
  [[nodiscard]] bool is_never_skipped(sequence) const;
  [[nodiscard]] bool begins_an_epoch(entries::iterator);
  [[nodiscard]] sequence next_number() const;
  void run_incoming(const incoming_event&);
  void decide_now(const incoming_event&, decision);
  void wait(const incoming_event&, waiting_state, const reducer_call*);
  entries::iterator keep(const incoming_event&, waiting_state, const reducer_call*);
  void hold_if_too_many();
  void accept(const incoming_event&);
  void accept_entry(entries::iterator);
  void accept_next();
  void run_accepted();
  [[nodiscard]] bool has_room_to_reopen(const waiting_event&) const;
  void reopen(const waiting_event&);
  void take_back(const waiting_head& gone);
  [[nodiscard]] std::uint64_t accepted_below(sequence) const;
  void skip_accepted(const waiting_head&);
  void note_failure(waiting_event&, const reducer_call&) const;
  [[nodiscard]] reducer_call call(const event&, std::optional<timestamp> record_time, bool tombstone);
  [[nodiscard]] reducer_call call_folding(const event&);
  /// True where it was applied, and is no entry any more.
  bool run_entry(entries::iterator);
  void cascade();
  void skip_gaps(timestamp began);
  [[nodiscard]] std::optional<timestamp> age_of_gap(const waiting_head& above) const;
  void skip_gap();
  void pass_over_gap(const char* why);
  void skip_range(const sequence_range&, const char* why);
  void pass_skipped();
  void drop_passed(sequence up_to);
  void retry_latest();
  void supersede_older();
  void look_behind();
  [[nodiscard]] bool is_out_of_order(sequence) const;
  void leave_to_people(entries::iterator);
  void moved_to(sequence, std::optional<event_id>, hash128 payload_hash, std::optional<timestamp>);
  void count_entry(waiting_state, std::int64_t);
  void count_undecided(const waiting_event&, std::int64_t);
  void set_state(entry&, waiting_state);
  void remove(entries::iterator, std::uint64_t counters::*becomes);
  [[nodiscard]] bool waits_under(const event_id&);
  void enter_id(const waiting_head&);
  void forget_id(const waiting_head&);
  [[nodiscard]] wait_reason reason_of(sequence, std::optional<std::uint64_t> begins_at) const;
  void tell(const waiting_head&, waiting_end, topic_partition where, event_place, std::string error = {});
  [[nodiscard]] timestamp filed_time_of(const waiting_event&) const;
  void file(const event_id&, timestamp filed, std::optional<timestamp> record_time);
  void count_if_ahead(timestamp filed, std::optional<timestamp> record_time, std::int64_t change);
  void follow_up();
  waiting_answer replay(entries::iterator, const waiting_command&);
  void try_again(entries::iterator);
  waiting_answer carry_out(const waiting_command&);
  void skip_number(const waiting_head&);
  waiting_answer skip_to(sequence);
  [[nodiscard]] sequence first_missing_below(sequence lowest) const;
  void audit(const char* kind, std::string text, audit_subject about = {});
  void audit_skipped(const sequence_range&, const char* why);
  [[nodiscard]] ratchet::backlog backlog_after();
  void catch_up();
  void take_over_position();
  [[nodiscard]] std::optional<timestamp> wake_of(const ratchet::backlog&, bool goes_on);
  [[nodiscard]] std::optional<timestamp> wake_of_accepted(bool is_ready) const;

  dependencies deps_;
  std::string_view aggregate_;
  const aggregate_row* row_;
  const backlog_rows* stored_;
  bool defers_{false};
  // What the gate takes for the last one handled.
  bool has_last_{false};
  sequence last_;
  std::optional<event_id> id_;
  hash128 payload_hash_;
  std::optional<timestamp> time_;
  std::optional<timestamp> seen_;       ///< aggregate_row::seen
  std::optional<timestamp> time_here_;  ///< stream time, as far as the step has come
  bool began_anew_{false};              ///< as it was forgotten
  bool moved_{false};                   ///< L
  bool ran_{false};                     ///< the snapshot is that of state_
  state state_;
  folded_state folded_{state_};
  ratchet::backlog backlog_;
  entries entries_;  ///< but for accepted ones
  /// Arrival: the ids of entries_, once somebody asked for one; as many records may come as wait.
  std::optional<std::set<event_id>> ids_;
  // Where events are accepted. What was handled lies behind what the gate knows:
  position handled_;
  entries accepted_;
  std::uint64_t accepted_events_{0};  ///< also of those that were not loaded
  std::uint64_t lowest_gone_{0};      ///< so many accepted ones went from the low end
  bool accepted_are_loaded_{true};    ///< from the lowest on
  bool others_are_loaded_{true};      ///< from the lowest on
  bool ran_accepted_{false};
  std::vector<waiting_head> newly_accepted_;  ///< arrival: of those stored
  std::optional<sequence> last_loaded_;       ///< of a queue that is not complete
  std::optional<sequence> accepted_end_;      ///< of a queue that has not all accepted ones: its last of them
  bool ready_{false};
  std::map<event_id, timestamp> filed_;
  std::vector<published_outputs> outputs_;
  std::vector<table_change> tables_;
  std::uint32_t at_{0};  ///< the event of the batch that is taken; 0 in steps without a batch
  std::vector<waiting_head> removed_;
  std::vector<resolved_event> said_;
  std::vector<event_wait> waits_;
  std::vector<waiting_fate> fates_;
  std::vector<resolved_event> resolved_;
  std::vector<audit_row> audits_;
  std::vector<partition_stop> stops_;  ///< of events that waited
  std::optional<stop> stopped_;
  std::uint64_t ids_ahead_{0};
};

}  // namespace ratchet
