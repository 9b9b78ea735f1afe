// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <system_error>
#include <vector>

#include "core/aggregate_backlog.hpp"
#include "core/folded_state.hpp"
#include "core/retention.hpp"
#include "core/step.hpp"
#include "core/window.hpp"
#include "core/work_meter.hpp"

namespace ratchet {

/// A partition during one pass over the batch.
struct partition_in_step {
  const topic_partition* where{nullptr};
  partition_state* state{nullptr};  ///< null until a record of a partition that is new was handled
  bool stopped{false};
};

/// An aggregate during one pass over the batch: what the gate compares with, moved by each event that it lets
/// through.
struct aggregate_in_step {
  bool exists{false};
  bool changed{false};
  sequence last;
  std::optional<event_id> id;
  hash128 payload_hash;
  std::optional<timestamp> time;
  std::uint32_t newest{k_no_index};  ///< superseding: the event to run, so far
  std::uint32_t ids_ahead{0};
  /// Some of its events wait, or will: a aggregate_backlog decides about all of them.
  bool waits{false};
  std::uint32_t forgotten{0};  ///< so often it was, and began anew
  std::optional<timestamp> seen{};
};

/// An event that the gate let through, and the number it was given.
struct admitted {
  std::uint32_t index{0};
  ratchet::sequence sequence;
  bool begins_anew{false};  ///< what came before is forgotten
};

/// Why a pass is thrown away.
struct pass_failure {
  std::optional<partition_stop> stop{};
  std::optional<std::uint32_t> end{};  ///< this event and those behind it are for another step
  /// Neither: more would have to wait than may.
};

/// One pass over the batch, without its last event where an earlier pass saw a reducer fail at it. A pass
/// that sees another failure ends early and is thrown away whole: the next one decides as if the records from
/// there on had not been read.
class pass {
 public:
  pass(const stream_rules& rules, const reducer& reduce, const stream_state& before,
       std::span<const decoded_event> events, const step_plan& plan, const step_rows& rows, timestamp now,
       work_meter& work, bool supersede)
      : rules_{rules},
        reducer_{reduce},
        events_{events},
        plan_{plan},
        rows_{rows},
        now_{now},
        work_{work},
        supersede_{supersede},
        aggregates_(rows.aggregates.size()),
        id_in_step_(plan.ids.size()),
        room_{room_of(rules, before.counters)} {
    if (rules.opaque_ids) {
      filed_.resize(events.size());
      filed_in_step_.resize(plan.ids.size());
    }
    if (rules.monotonic_ids) known_.resize(events.size());
    change_.after = before;
    keep_up_retention(rules, change_.after);
    forgets_ = forgets(rules, change_.after);
    if (forgets_) ages_.resize(events.size());
    change_.opaque_ids = rules.opaque_ids;
    change_.decisions.resize(events.size());
    change_.ids.reserve(plan.ids.size());
    to_run_.reserve(events.size());
  }

  /// Why this pass cannot stand, or none.
  [[nodiscard]] std::optional<pass_failure> run(bool without_last);
  [[nodiscard]] stream_change take(const stream_state& before);

 private:
  [[nodiscard]] partition_in_step& partition_of(const decoded_event&);
  [[nodiscard]] partition_state& state_of(partition_in_step&);
  void decide_all(bool without_last);
  void handle(std::uint32_t index, partition_in_step&);
  void move_floor(const decoded_event&, partition_state&);
  /// What is to be told of the record's time.
  void note_odd(const record&, timestamp, const odd_times&, const partition_state&);
  [[nodiscard]] decision decide_event(std::uint32_t index);
  // Apart from what a stream without a `retention` does for each event: there it cost half a percent.
  [[gnu::cold, gnu::noinline]] void note_age(std::uint32_t index, const partition_state&);
  [[nodiscard, gnu::cold, gnu::noinline]] decision decide_forgetting(std::uint32_t index);
  [[nodiscard]] gate_facts facts_of(std::uint32_t index, const aggregate_in_step&) const;
  /// What the event's id is filed under, and judged by.
  [[nodiscard]] timestamp id_time(std::uint32_t index) const {
    if (rules_.monotonic_ids) return {};  // they are filed nowhere
    return rules_.opaque_ids ? filed_[index] : events_[index].id.time();
  }
  [[nodiscard]] std::optional<timestamp> filed_before(std::uint32_t index) const;
  [[nodiscard]] std::optional<timestamp> stored_before(std::uint32_t index) const;
  void admit(std::uint32_t index, sequence, aggregate_in_step&);
  [[nodiscard]] static bool is_one_source_too_many(const decoded_event&, const partition_state&);
  void note_id_number(std::uint32_t index, partition_state&);
  [[nodiscard]] bool poisons(std::uint32_t index, partition_in_step&);
  [[nodiscard]] std::optional<std::string> first_value_of_run(std::uint32_t index,
                                                              std::uint32_t before) const;
  void wait_from_here(std::uint32_t aggregate);
  [[nodiscard]] std::optional<timestamp> stream_time() const {
    return ratchet::stream_time(rules_, change_.after);
  }
  [[nodiscard]] std::optional<pass_failure> apply_all();
  [[nodiscard]] std::optional<partition_stop> apply_one(const admitted&, state&);
  [[nodiscard]] std::optional<pass_failure> handle_waiting();
  /// How many of the events that are left to waiting_machines were taken, of all of them.
  struct progress {
    std::size_t taken{0};
    std::size_t all{0};
  };
  [[nodiscard]] std::optional<pass_failure> handle_waiting_of(std::span<const std::uint32_t> events,
                                                              progress&);
  [[nodiscard]] std::uint32_t end_in_time(progress) const;
  void count_resolved(decision);
  void count_all();

  const stream_rules& rules_;
  const reducer& reducer_;
  std::span<const decoded_event> events_;
  const step_plan& plan_;
  const step_rows& rows_;
  timestamp now_;
  work_meter& work_;
  bool supersede_;
  std::vector<aggregate_in_step> aggregates_;
  std::vector<std::uint8_t> id_in_step_;  ///< per id of the plan: filed by this step
  std::vector<timestamp> filed_in_step_;  ///< and when; opaque ids alone
  std::vector<timestamp> filed_;          ///< per event: see id_time(); opaque ids alone
  std::vector<std::uint8_t> known_;       ///< per event: its number came before; monotonic ids alone
  std::vector<partition_in_step> partitions_;
  std::vector<admitted> to_run_;  ///< in record order
  std::vector<state> states_;     ///< per aggregate, after the reducer
  folded_states folded_;          ///< of these
  std::optional<window_floor> floor_;
  bool any_wait_{false};
  bool forgets_{false};
  std::vector<event_age> ages_;                   ///< per event, where anything is ever forgotten
  std::vector<std::optional<timestamp>> floors_;  ///< per event, before it
  std::vector<std::uint8_t> reached_gate_;        ///< per event
  waiting_room room_;
  stream_change change_;
};

}  // namespace ratchet
