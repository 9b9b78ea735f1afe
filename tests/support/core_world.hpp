// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <ostream>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/retention.hpp"
#include "core/step.hpp"
#include "ratchet/reducer.hpp"

namespace ratchet {

inline void PrintTo(const stream_state& s, std::ostream* out) {
  const counters& c = s.counters;
  *out << "floor " << (s.floor ? std::to_string(s.floor->time_since_epoch().count()) : "-") << ", consumed "
       << c.consumed << ", applied " << c.applied << ", superseded " << c.superseded << ", duplicate "
       << c.duplicate << ", stale " << c.stale << ", rejected " << c.rejected();
  for (const auto& [where, p] : s.partitions) {
    *out << ", " << where.topic << "/" << static_cast<int>(where.partition) << " at " << p.next_offset
         << " time " << (p.highest_time ? std::to_string(p.highest_time->time_since_epoch().count()) : "-");
  }
}

inline void PrintTo(const aggregate_row& r, std::ostream* out) {
  if (r.waits) *out << "waits ";
  if (!r.has_last) *out << "(nothing applied) ";
  *out << "{" << r.last.epoch << ", " << r.last.number << "} " << (r.deleted ? "deleted" : r.snapshot.str())
       << " id " << (r.id ? std::to_string(r.id->low) : "-");
}

}  // namespace ratchet

/// The least that run_step() needs around it: specs that own the bytes of a batch, and a store of plain maps.
/// A world is a value: copying it is a checkpoint, assigning it is a crash.
namespace ratchet::testing {

inline timestamp at_ms(std::int64_t ms) {
  return timestamp{std::chrono::milliseconds{ms}};
}

/// A UUIDv7-shaped id of this time.
inline event_id id_at(std::int64_t ms, std::uint64_t n) {
  return {static_cast<std::uint64_t>(ms) << 16U | 0x7000U, std::uint64_t{1} << 63U | n};
}

struct spec {
  std::string aggregate{"a"};
  ratchet::sequence sequence{0, 1};
  std::optional<event_id> id{};
  std::string payload{"x"};
  std::optional<std::int64_t> time{};      ///< the record's, ms
  std::optional<std::int64_t> own_time{};  ///< the event's
  decoded_kind kind{decoded_kind::event};
  std::string type{};
  std::string topic{"t"};
  int partition{0};
  std::int64_t offset{0};
  std::string source{};
  std::optional<std::uint64_t> begins_at{};
  malformed_reason fault{malformed_reason::invalid_json};  ///< of a malformed one
  bool keeps_columns{false};
  std::uint32_t index{0};  ///< in a record that holds several events
  bool more{false};
  friend bool operator==(const spec&, const spec&) = default;
};

inline spec bad(std::int64_t offset, int partition = 0) {
  return {.kind = decoded_kind::malformed, .partition = partition, .offset = offset};
}

/// Decoded events that borrow from specs. The specs must outlive it.
class batch {
 public:
  explicit batch(const std::vector<spec>& specs) {
    for (const spec& s : specs) add(s);
  }
  explicit batch(std::vector<spec>&&) = delete;
  batch(const batch&) = delete;
  batch& operator=(const batch&) = delete;

  std::vector<decoded_event> events;

 private:
  void add(const spec& s) {
    const auto [where, is_new] = partitions_.insert({s.topic, static_cast<partition_id>(s.partition)});
    record& r = records_.emplace_back();
    r.where = &*where;
    r.offset = s.offset;
    r.index = s.index;
    r.more = s.more;
    if (s.time) r.time = at_ms(*s.time);
    decoded_event e;
    e.from = &r;
    e.kind = s.kind;
    e.record_time = r.time;
    if (s.kind == decoded_kind::malformed) {
      e.malformed = {s.fault, {}, 7};
    } else if (s.kind != decoded_kind::ignored) {
      e.aggregate = s.aggregate;
      e.has_sequence = true;
      e.sequence = s.sequence;
      e.begins_at = s.begins_at;
      e.has_id = s.id.has_value();
      e.id = s.id.value_or(event_id{});
      e.id_number = {0, e.id.low};
      e.source = s.source;
      e.type = s.type;
      if (s.own_time) e.time = at_ms(*s.own_time);
      if (s.kind == decoded_kind::event) {
        e.payload = s.payload;
        e.keeps_columns = s.keeps_columns;
        e.payload_hash = {std::hash<std::string>{}(s.payload), 1};
      }
    }
    events.push_back(e);
  }

  std::set<topic_partition> partitions_;
  std::deque<record> records_;
};

/// A stream's rules and its whole state.
struct world {
  stream_rules rules{};
  ratchet::reducer reduce;
  timestamp now{at_ms(1'000'000'000)};
  stream_state state{};
  std::map<std::string, aggregate_row> rows{};
  std::map<std::pair<std::string, event_id>, timestamp> ids{};  ///< and what they are filed under
  std::map<std::string, backlog> backlogs{};
  std::map<std::string, std::map<ratchet::sequence, waiting_event>> waiting{};
  std::vector<audit_row> audits{};
  std::map<std::string, std::string> published{};  ///< by aggregate: payloads, a semicolon behind each
  std::set<std::tuple<std::string, std::optional<event_id>, ratchet::sequence>> causes{};  ///< of these
  std::map<std::pair<std::string, std::string>, std::string> tables{};  ///< by table and stored key
  std::map<std::string, std::string> fates{};  ///< by aggregate: partition, offset, sequence, end, one by one
  std::size_t queue_events{k_queue_events};    ///< what a look-up loads at most, but for the lowest of each
  std::size_t most_queued{k_no_limit};         ///< of each aggregate, in a step without a batch

  explicit world(ratchet::reducer r, order o = order::latest) : reduce{std::move(r)} {
    rules.stream = "s";
    rules.gate.order = o;
    rules.outputs.topics.reset();
    rules.outputs.tables.reset();
    rules.window = std::chrono::milliseconds{1000};
    rules.max_skew = std::chrono::milliseconds{100};
  }

  [[nodiscard]] step_rows look_up(const step_plan& plan) const {
    step_rows found;
    std::size_t room = queue_events;
    for (const std::string_view aggregate : plan.aggregates) {
      const auto at = rows.find(std::string{aggregate});
      found.aggregates.push_back(at == rows.end() ? std::nullopt : std::optional{at->second});
      if (!plan.needs_snapshots && found.aggregates.back()) found.aggregates.back()->snapshot.clear();
      if (at == rows.end() || !at->second.waits) continue;
      const auto index = static_cast<std::uint32_t>(found.aggregates.size() - 1);
      found.backlogs.emplace_back(index, read_backlog(plan, index, room));
    }
    for (const id_of_aggregate& id : plan.ids) {
      const auto at = ids.find({std::string{plan.aggregates[id.aggregate]}, id.id});
      found.id_stored.push_back(at == ids.end() ? 0 : 1);
      if (plan.opaque_ids) found.id_filed.push_back(at == ids.end() ? timestamp{} : at->second);
    }
    for (const auto& [name, b] : backlogs) {
      if (b.gap_since && (!found.oldest_gap || *b.gap_since < *found.oldest_gap))
        found.oldest_gap = b.gap_since;
    }
    return found;
  }

  /// All of it, kept: as many steps as that takes, each followed by what is due behind it. Decisions and
  /// stops of all of them.
  stream_change step(const std::vector<spec>& specs) {
    const batch b{specs};
    std::vector<decoded_event> left = b.events;
    std::vector<std::size_t> places(left.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    stream_change all;
    all.decisions.resize(left.size());
    do {
      const step_plan plan = plan_step(rules, reduce.traits(), left);
      stream_change change = run_step(rules, reduce, state, left, plan, look_up(plan), now);
      keep(plan, change);
      resume_backlogs();
      for (std::size_t i = 0; i < change.looked_at; ++i) all.decisions[places[i]] = change.decisions[i];
      for (std::size_t i = left.size(); i-- > 0;) {
        const bool is_stopped = std::any_of(change.stops.begin(), change.stops.end(),
                                            [&](const auto& s) { return s.where == *left[i].from->where; });
        if (i >= change.looked_at && !is_stopped) continue;
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
        places.erase(places.begin() + static_cast<std::ptrdiff_t>(i));
      }
      all.stops.insert(all.stops.end(), change.stops.begin(), change.stops.end());
      all.rejected = std::move(change.rejected);
      all.touched = std::move(change.touched);
      all.rows = std::move(change.rows);
      all.ids = std::move(change.ids);
      all.backlogs = std::move(change.backlogs);
    } while (!left.empty());
    all.after = state;
    return all;
  }

  /// What is due by the clock, once.
  void resume() {
    resume_those([this](const backlog& b) { return b.wake && *b.wake <= now; }, true);
  }
  /// Takes away what is stored of aggregates that are forgotten.
  void remove_forgotten() {
    step_plan plan;
    plan.order = rules.gate.order;
    std::vector<std::string> names;
    for (const auto& [name, row] : rows) names.push_back(name);  // keep() moves the maps
    for (const std::string& name : names) plan.add(name);
    keep(plan, ratchet::remove_forgotten(rules, state, plan, look_up(plan)));
  }
  /// As the pipeline does behind each step: what a bounded step has left, and gaps that are too old. Where
  /// the stream does not defer, also what is accepted.
  void resume_backlogs() {
    for (;;) {
      const auto gaps = rules.gap.policy == gap_policy::skip ? gaps_due(rules, state) : std::nullopt;
      const auto is_due = [&](const backlog& b) {
        const bool is_ready = rules.deferred ? b.goes_on() : b.ready;
        return is_ready || (gaps && b.gap_since && *b.gap_since <= *gaps);
      };
      if (!resume_those(is_due, !rules.deferred)) return;
    }
  }
  /// Until nothing is left that has its turn.
  void work_off() {
    const auto is_ready = [](const auto& entry) { return entry.second.ready; };
    while (std::any_of(backlogs.begin(), backlogs.end(), is_ready)) {
      resume();
      resume_backlogs();
    }
  }

  /// An operator's step about one event of `aggregate`, kept.
  waiting_answer run_command(waiting_verb verb, ratchet::sequence number,
                             std::optional<std::string> payload = {}, const std::string& aggregate = "a") {
    waiting_command order{.aggregate = 0, .verb = verb, .sequence = number, .payload = payload};
    if (payload) order.payload_hash = {std::hash<std::string>{}(*payload), 1};
    return run_all({order}, aggregate).at(0);
  }
  /// Several in one step.
  std::vector<waiting_answer> run_all(const std::vector<waiting_command>& orders,
                                      const std::string& aggregate = "a") {
    step_plan plan;
    plan.order = rules.gate.order;
    plan.needs_snapshots = !reduce.traits().full_state || rules.keeps_columns;
    plan.resumes = true;
    plan.runs_accepted = true;
    plan.add(aggregate);
    for (const waiting_command& order : orders) plan.asked.push_back({0, order.sequence});
    std::vector<waiting_answer> answers;
    const stream_change change =
        run_commands(rules, reduce, state, plan, look_up(plan), orders, now, answers);
    keep(plan, change);
    resume_backlogs();
    return answers;
  }

  [[nodiscard]] const partition_state& partition(int n, const std::string& topic = "t") const {
    return state.partitions.at({topic, static_cast<partition_id>(n)});
  }
  /// The snapshot; "-" where it is deleted, "?" where there never was one.
  [[nodiscard]] std::string snapshot(const std::string& aggregate = "a") const {
    const auto at = rows.find(aggregate);
    if (at == rows.end()) return "?";
    if (!at->second.has_last) return "?";
    return at->second.deleted ? "-" : at->second.snapshot.str();
  }

 private:
  void keep(const step_plan& plan, const stream_change& change) {
    for (const aggregate_change& changed : change.rows) {
      const std::string name{plan.aggregates[changed.aggregate]};
      if (!changed.row.has_last && !changed.row.waits) {
        rows.erase(name);
        continue;
      }
      aggregate_row& row = rows[name];
      const aggregate_row before = std::move(row);
      row = changed.row;
      if (!changed.keeps_snapshot) continue;
      row.snapshot = before.snapshot;
      row.deleted = before.deleted;
    }
    for (const id_of_aggregate& id : change.ids) {
      ids.insert_or_assign({std::string{plan.aggregates[id.aggregate]}, id.id}, id.filed);
    }
    for (const backlog_change& changed : change.backlogs) {
      const std::string name{plan.aggregates[changed.aggregate]};
      for (const waiting_head& gone : changed.removals) waiting[name].erase(gone.sequence);
      for (const waiting_event& e : changed.puts) waiting[name][e.head.sequence] = e;
      if (waiting[name].empty()) waiting.erase(name);
      backlogs.erase(name);
      if (changed.after) backlogs.emplace(name, *changed.after);
    }
    audits.insert(audits.end(), change.audits.begin(), change.audits.end());
    for (const waiting_fate& f : change.fates) {
      fates[std::string{plan.aggregates[f.aggregate]}] +=
          std::to_string(static_cast<int>(f.where.partition)) + "@" + std::to_string(f.offset) + " " +
          std::to_string(f.sequence.epoch) + "/" + std::to_string(f.sequence.number) + " " + name_of(f.end) +
          ";";
    }
    for (const published_outputs& by : change.outputs) {
      const std::string name{plan.aggregates[by.aggregate]};
      for (const owned_output& o : by.outputs) published[name] += o.payload.value_or("(none)") + ";";
      causes.emplace(name, by.id, by.sequence);
    }
    for (const table_change& c : change.tables) {
      if (c.value) {
        tables.insert_or_assign({c.table, c.key}, *c.value);
      } else {
        tables.erase({c.table, c.key});
      }
    }
    state = change.after;
  }

  template <class Which>
  bool resume_those(Which which, bool runs_accepted) {
    step_plan plan;
    plan.order = rules.gate.order;
    plan.needs_snapshots = !reduce.traits().full_state || rules.keeps_columns;
    plan.resumes = true;
    plan.runs_accepted = runs_accepted;
    if (runs_accepted) plan.most_queued = most_queued;
    for (const auto& [name, b] : backlogs) {
      if (which(b)) plan.add(name);
    }
    if (plan.aggregates.empty()) return false;
    const std::vector<std::string> names(plan.aggregates.begin(), plan.aggregates.end());
    for (std::size_t i = 0; i < names.size(); ++i) plan.aggregates[i] = names[i];  // keep() moves the maps
    const stream_change change = resume_waiting(rules, reduce, state, plan, look_up(plan), now);
    keep(plan, change);
    return true;
  }

  [[nodiscard]] backlog_rows read_backlog(const step_plan& plan, std::uint32_t aggregate,
                                          std::size_t& room) const {
    const std::string name{plan.aggregates[aggregate]};
    backlog_rows out;
    out.backlog = backlogs.at(name);
    const auto all = waiting.find(name);
    if (all == waiting.end()) return out;
    std::map<ratchet::sequence, waiting_head> near;
    const bool asks = std::any_of(plan.asked.begin(), plan.asked.end(),
                                  [aggregate](const asked_event& a) { return a.aggregate == aggregate; });
    bool in_accepted = false;
    std::uint64_t accepted_below = 0;
    const waiting_event* previous = nullptr;
    for (const auto& [number, e] : all->second) {
      const bool is_accepted = out.backlog.is_accepted(number);
      if (!plan.runs_accepted && is_accepted) continue;
      if (asks && in_accepted && !is_accepted) out.complete = true;  // these are wanted as well
      const bool is_first = out.queue.empty() || (in_accepted && !is_accepted);
      in_accepted = is_accepted;
      const bool has_room = room > 0 && out.queue.size() < plan.most_queued;
      const bool is_loaded = out.complete && (is_first || has_room);
      if (is_loaded) out.queue.push_back(e);
      if (is_loaded && room > 0) --room;
      out.complete = is_loaded;
      const bool is_asked =
          std::any_of(plan.asked.begin(), plan.asked.end(), [&, wanted = number](const asked_event& a) {
            return a.aggregate == aggregate && a.sequence == wanted;
          });
      if (!is_loaded && is_asked) out.asked.push_back({e, previous->head, is_accepted ? accepted_below : 0});
      if (is_accepted) ++accepted_below;
      previous = &e;
    }
    // None but accepted ones are there: what the queue has not of them is told by their number.
    if (asks && in_accepted) out.complete = true;
    for (std::size_t i = 0; i < plan.events.size() && !out.complete; ++i) {
      if (plan.aggregate_of[i] != aggregate) continue;
      const decoded_event& e = plan.events[i];
      const ratchet::sequence counted =
          plan.restarts ? ratchet::sequence{out.queue.back().head.sequence.epoch, e.sequence.number}
                        : e.sequence;
      for (const auto& [number, held] : all->second) {
        const bool fits = plan.order == order::arrival ? e.has_id && held.head.id == e.id : number >= counted;
        if (!fits || number <= out.queue.back().head.sequence || out.backlog.is_accepted(number)) continue;
        near.emplace(number, held.head);
        break;
      }
    }
    for (const auto& [number, head] : near) out.near.push_back(head);
    return out;
  }
};

inline std::vector<verdict> verdicts_of(const stream_change& change) {
  std::vector<verdict> out;
  for (const decision& d : change.decisions) out.push_back(d.verdict);
  return out;
}

/// How an event fails, by its payload: "!" stops, "#" gives up, "?3" is to be tried again three times, and
/// "@2" throws as often.
inline std::optional<outcome> failure_of(const event& e) {
  const auto code = std::make_error_code(std::errc::invalid_argument);
  const char kind = e.payload.empty() ? ' ' : e.payload.front();
  if (kind == '!') return stop(code);
  if (kind == '#') return give_up(code);
  if (kind != '?' && kind != '@') return std::nullopt;
  if (e.attempt > static_cast<std::uint32_t>(e.payload.at(1) - '0')) return std::nullopt;
  if (kind == '@') throw std::runtime_error{"thrown"};
  return retry(code);
}

/// Replaces; whoever sees it sees one event at most. See failure_of().
struct replacing {
  static constexpr reducer_traits traits{
      .name = "replacing", .version = 1, .full_state = true, .has_effects = false};
  [[nodiscard]] outcome apply(const event& e, ratchet::state& s, effects&) const {
    if (const auto failure = failure_of(e)) return *failure;
    s.assign(e.payload);
    return done();
  }
};

/// Appends each payload, and publishes it: shows order, gaps and repeats. "~" erases.
struct folding {
  static constexpr reducer_traits traits{
      .name = "folding", .version = 1, .full_state = false, .has_effects = true};
  [[nodiscard]] outcome apply(const event& e, ratchet::state& s, effects& fx) const {
    fx.publish({.topic = "out", .payload = e.payload});  // counts only where it does not fail
    if (const auto failure = failure_of(e)) return *failure;
    if (e.payload == "~") {
      s.erase();
    } else {
      s.assign(std::string{s.value()} + std::string{e.payload} + ";");
    }
    return done();
  }
};

}  // namespace ratchet::testing
