// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/transactions.hpp"

#include <algorithm>
#include <utility>

#include "core/aggregate_backlog.hpp"
#include "core/plan_keys.hpp"
#include "core/retention.hpp"
#include "core/shown_id.hpp"
#include "core/typed_command.hpp"
#include "core/window.hpp"
#include "core/work_meter.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

const topic_partition k_transactions{"", partition_id{1}};

namespace {

/// Runs a caller's function where a reducer would run.
struct called_function {
  const transaction_function* function;
  [[nodiscard]] outcome apply(const event&, state& s, effects& fx) const { return (*function)(s, fx); }
};

/// An aggregate between two transactions of the step.
struct aggregate_now {
  bool changed{false};
  bool has_waiting{false};
  std::optional<backlog> of;
  aggregate_row row;
  state snapshot;
};

class transactions_of_step {
 public:
  transactions_of_step(const stream_rules& rules, const stream_state& before, const step_plan& plan,
                       const step_rows& rows, timestamp now)
      : rules_{rules}, plan_{plan}, rows_{rows}, now_{now}, in_step_(plan.ids.size()) {
    change_.after = before;
    change_.opaque_ids = rules.opaque_ids;
    keep_up_retention(rules, change_.after);
    time_ = before.floor ? std::max(now, *before.floor) : now;
    seen_ = rules.retention ? std::max(stream_time(rules, before), std::optional{time_}) : std::nullopt;
    filed_ = time_;
    // Records, too, move the floor, and may be ahead of the clock: a key is remembered for a window by
    // either.
    if (!rules.transactions_move_floor)
      filed_ = std::max(now + rules.max_skew, stream_time(rules, before).value_or(now));
    aggregates_.resize(plan.aggregates.size());
    for (std::uint32_t i = 0; i < aggregates_.size(); ++i) {
      aggregates_[i].row.has_last = false;
      if (i >= rows.aggregates.size()) continue;  // for another step
      const auto& row = rows.aggregates[i];
      if (!row) continue;
      aggregates_[i].row = *row;
      // A backlog may be there for the numbers that were skipped alone.
      const backlog_rows* stored = find_backlog(rows, i);
      aggregates_[i].has_waiting = stored != nullptr && stored->backlog.events() > 0;
      if (stored != nullptr && !stored->backlog.reopened.empty()) aggregates_[i].of = stored->backlog;
      if (row->has_last && !row->deleted) aggregates_[i].snapshot.assign(row->snapshot);
    }
  }

  /// Whether it is for this step.
  [[nodiscard]] bool may_take(std::uint32_t index) const {
    return !work_.is_over() && plan_.aggregate_of[index] < rows_.aggregates.size() &&
           plan_.id_of[index] < rows_.id_stored.size();
  }

  [[nodiscard]] transaction_answer take(std::uint32_t index, const transaction_request& request) {
    turn_ = index;
    const std::uint32_t id = plan_.id_of[index];
    aggregate_now& aggregate = aggregates_[plan_.aggregate_of[index]];
    gate_facts facts;
    facts.id_seen = in_step_[id] || (is_seen(id) && !is_reopened(aggregate, request.id));
    facts.blocked = aggregate.has_waiting;
    switch (decide(rules_.gate, facts).verdict) {
      case verdict::duplicate:
        return repeat(id, aggregate, request);
      case verdict::applied:
        return run(id, aggregate, request);
      default:
        return {.code = make_error_code(errc::aggregate_blocked),
                .text = "events of aggregate `" + shown_id(request.aggregate) + "` wait: see " +
                        typed_command("waiting list"),
                .sequence = {},
                .reply = {}};
    }
  }

  [[nodiscard]] stream_change finish() && {
    for (std::uint32_t i = 0; i < aggregates_.size(); ++i) {
      aggregate_now& a = aggregates_[i];
      if (!a.changed) continue;
      a.row.deleted = !a.snapshot.exists();
      a.row.snapshot = std::move(a.snapshot).take();
      if (a.of && a.of != find_backlog(rows_, i)->backlog) {
        a.row.waits = !a.of->empty();
        backlog_change& change = change_.backlogs.emplace_back();
        change.aggregate = i;
        change.before = find_backlog(rows_, i)->backlog;
        if (a.row.waits) change.after = std::move(a.of);
      }
      change_.rows.push_back({i, std::move(a.row)});
    }
    if (!change_.ids.empty() && rules_.transactions_move_floor) move_floor();
    return std::move(change_);
  }

 private:
  [[nodiscard]] static bool is_reopened(const aggregate_now& aggregate, const event_id& id) {
    const auto is_it = [&id](const reopened_id& r) { return r.id == id; };
    return aggregate.of && std::any_of(aggregate.of->reopened.begin(), aggregate.of->reopened.end(), is_it);
  }
  [[nodiscard]] bool is_seen(std::uint32_t id) const {
    if (rows_.id_stored[id] == 0) return false;
    const auto& floor = change_.after.floor;
    return !floor || rows_.id_filed[id] >= *floor;
  }

  [[nodiscard]] transaction_answer repeat(std::uint32_t id, const aggregate_now& aggregate,
                                          const transaction_request& request) {
    transaction_answer answer{
        .code = {}, .text = {}, .repeated = true, .sequence = aggregate.row.last, .reply = {}};
    const kept_answer* known = nullptr;
    if (in_step_[id]) {
      known = &change_.answers[*in_step_[id]];
    } else if (rows_.answers[id]) {
      known = &*rows_.answers[id];
    }
    if (known != nullptr) {
      const bool is_other =
          known->fingerprint && request.fingerprint && *known->fingerprint != *request.fingerprint;
      if (is_other)
        return {.code = make_error_code(errc::key_reused), .text = {}, .sequence = {}, .reply = {}};
      answer.sequence = known->sequence;
      answer.reply = known->reply;
    }
    change_.after.counters.count({verdict::duplicate, reject_reason::none});
    return answer;
  }

  [[nodiscard]] transaction_answer run(std::uint32_t id, aggregate_now& aggregate,
                                       const transaction_request& request) {
    const bool anew = !aggregate.has_waiting && is_forgotten(change_.after.retention, aggregate.row.seen);
    const bool has_last = aggregate.row.has_last && !anew;
    const sequence number = seq(has_last ? aggregate.row.last.number + 1 : 1);
    const event view{.stream = rules_.stream,
                     .aggregate = request.aggregate,
                     .sequence = number,
                     .id = request.id,
                     .type = {},
                     .time = time_,
                     .payload = {},
                     .topic = k_transactions.topic,
                     .partition = k_transactions.partition,
                     .offset = 0};
    constexpr reducer_traits k_traits{.name = "transaction"};
    state after = anew ? state{} : aggregate.snapshot;
    const std::size_t before = after.value().size();
    reducer_call ended = call_reducer(reducer{k_traits, called_function{request.function}}, rules_.outputs,
                                      view, after, replies::allowed);
    work_.moved(before + after.value().size());
    work_.made(ended);
    if (ended.how != ending::done) {
      return {.code = ended.cause, .text = ended.thrown, .sequence = {}, .reply = {}};
    }
    after.keep();  // what a caller lent may go with its call
    aggregate.snapshot = std::move(after);
    aggregate.changed = true;
    const std::uint32_t index = plan_.ids[id].aggregate;
    if (anew) begin_anew(index, aggregate);
    aggregate.row.seen = anew ? seen_ : std::max(aggregate.row.seen, seen_);
    if (!rules_.retention) aggregate.row.seen.reset();
    aggregate.row.has_last = true;
    aggregate.row.last = number;
    aggregate.row.id = request.id;
    aggregate.row.payload_hash = request.fingerprint.value_or(hash128{});
    aggregate.row.time = time_;
    if (aggregate.of)
      std::erase_if(aggregate.of->reopened, [&](const reopened_id& r) { return r.id == request.id; });
    in_step_[id] = static_cast<std::uint32_t>(change_.ids.size());
    change_.ids.push_back({index, request.id, filed_});
    change_.answers.push_back({number, request.fingerprint, ended.reply});
    if (!ended.outputs.empty())
      change_.outputs.push_back(outputs_of(index, view, time_, std::move(ended.outputs)));
    add_changes(change_.tables, index, turn_, std::move(ended.tables));
    change_.after.counters.count({verdict::applied, reject_reason::none});
    return {.code = {}, .text = {}, .sequence = number, .reply = std::move(ended.reply)};
  }

  /// The function ran as for a new aggregate.
  void begin_anew(std::uint32_t index, aggregate_now& aggregate) {
    if (aggregate.row.has_last) ++change_.after.counters.forgotten;
    // What may be left of a backlog is of numbers that were skipped.
    if (find_backlog(rows_, index) != nullptr) aggregate.of = backlog{};
  }

  void move_floor() {
    partition_state& partition = change_.after.partitions.try_emplace(k_transactions).first->second;
    const partition_state was = partition;
    window_floor floor{change_.after, rules_.window};
    floor.handled(partition, time_, now_ + rules_.max_skew);
    keep_up_retention(rules_, change_.after);
    if (partition != was) change_.touched.push_back(k_transactions);
  }

  const stream_rules& rules_;
  const step_plan& plan_;
  const step_rows& rows_;
  timestamp now_;
  timestamp time_;
  std::optional<timestamp> seen_;    ///< of those that it changes
  timestamp filed_;                  ///< what its keys are filed under
  std::uint32_t turn_{0};            ///< which request it is
  const has_had_its_time no_clock_;  ///< one that is called decides for itself how long it takes
  work_meter work_{no_clock_};
  std::vector<aggregate_now> aggregates_;
  std::vector<std::optional<std::uint32_t>> in_step_;  ///< by id: which of change_.ids is it
  stream_change change_;
};

}  // namespace

step_plan plan_transactions(const stream_rules& rules, std::span<const transaction_request> requests) {
  step_plan plan;
  plan.order = rules.gate.order;
  plan.needs_snapshots = true;
  plan.opaque_ids = rules.opaque_ids;
  plan.wants_answers = true;
  plan.most_queued = 1;  // what waits is not handled here
  plan_keys keys{plan, requests.size()};
  for (const transaction_request& r : requests) {
    plan.aggregate_of.push_back(keys.aggregate(r.aggregate));
    plan.id_of.push_back(keys.id(plan.aggregate_of.back(), r.id));
  }
  return plan;
}

stream_change run_transactions(const stream_rules& rules, const stream_state& before,
                               std::span<const transaction_request> requests, const step_plan& plan,
                               const step_rows& rows, timestamp now,
                               std::vector<transaction_answer>& answers) {
  transactions_of_step step{rules, before, plan, rows, now};
  answers.clear();
  answers.reserve(requests.size());
  for (std::uint32_t i = 0; i < requests.size() && step.may_take(i); ++i)
    answers.push_back(step.take(i, requests[i]));
  return std::move(step).finish();
}

}  // namespace ratchet
