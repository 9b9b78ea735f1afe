// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

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
  *out << "{" << r.last.epoch << ", " << r.last.number << "} " << (r.deleted ? "deleted" : r.snapshot)
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
  batch(const batch&) = delete;
  batch& operator=(const batch&) = delete;

  std::vector<decoded_event> events;

 private:
  void add(const spec& s) {
    const auto [where, is_new] = partitions_.insert({s.topic, static_cast<partition_id>(s.partition)});
    record& r = records_.emplace_back();
    r.where = &*where;
    r.offset = s.offset;
    if (s.time) r.time = at_ms(*s.time);
    decoded_event e;
    e.from = &r;
    e.kind = s.kind;
    e.record_time = r.time;
    if (s.kind == decoded_kind::malformed) {
      e.malformed = {malformed_reason::invalid_json, {}, 7};
    } else if (s.kind != decoded_kind::ignored) {
      e.aggregate = s.aggregate;
      e.has_sequence = true;
      e.sequence = s.sequence;
      e.has_id = s.id.has_value();
      e.id = s.id.value_or(event_id{});
      e.type = s.type;
      if (s.own_time) e.time = at_ms(*s.own_time);
      if (s.kind == decoded_kind::event) {
        e.payload = s.payload;
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
  std::set<std::pair<std::string, event_id>> ids{};

  explicit world(ratchet::reducer r, order o = order::latest) : reduce{std::move(r)} {
    rules.stream = "s";
    rules.gate.order = o;
    rules.window = std::chrono::milliseconds{1000};
    rules.max_skew = std::chrono::milliseconds{100};
  }

  [[nodiscard]] step_rows look_up(const step_plan& plan) const {
    step_rows found;
    for (const std::string_view aggregate : plan.aggregates) {
      const auto at = rows.find(std::string{aggregate});
      found.aggregates.push_back(at == rows.end() ? std::nullopt : std::optional{at->second});
      if (!plan.needs_snapshots && found.aggregates.back()) found.aggregates.back()->snapshot.clear();
    }
    for (const id_of_aggregate& id : plan.ids) {
      found.id_stored.push_back(ids.contains({std::string{plan.aggregates[id.aggregate]}, id.id}) ? 1 : 0);
    }
    return found;
  }

  /// One step, kept.
  stream_change step(const std::vector<spec>& specs) {
    const batch b{specs};
    const step_plan plan = plan_step(rules, reduce.traits(), b.events);
    stream_change change = run_step(rules, reduce, state, b.events, plan, look_up(plan), now);
    for (const aggregate_change& row : change.rows) {
      rows[std::string{plan.aggregates[row.aggregate]}] = row.row;
    }
    for (const id_of_aggregate& id : change.ids) {
      ids.insert({std::string{plan.aggregates[id.aggregate]}, id.id});
    }
    state = change.after;
    return change;
  }

  [[nodiscard]] const partition_state& partition(int n, const std::string& topic = "t") const {
    return state.partitions.at({topic, static_cast<partition_id>(n)});
  }
  /// The snapshot; "-" where it is deleted, "?" where there never was one.
  [[nodiscard]] std::string snapshot(const std::string& aggregate = "a") const {
    const auto at = rows.find(aggregate);
    if (at == rows.end()) return "?";
    return at->second.deleted ? "-" : at->second.snapshot;
  }
};

inline std::vector<verdict> verdicts_of(const stream_change& change) {
  std::vector<verdict> out;
  for (const decision& d : change.decisions) out.push_back(d.verdict);
  return out;
}

/// Replaces; whoever sees it sees one event at most. A payload that starts with "!" makes it fail.
struct replacing {
  static constexpr reducer_traits traits{
      .name = "replacing", .version = 1, .full_state = true, .has_effects = false};
  [[nodiscard]] outcome apply(const event& e, ratchet::state& s, effects&) const {
    if (e.payload.starts_with("!")) return give_up(std::make_error_code(std::errc::invalid_argument));
    s.assign(e.payload);
    return done();
  }
};

/// Appends each payload: shows order, gaps and repeats. A payload that starts with "!" makes it fail; "~"
/// erases.
struct folding {
  static constexpr reducer_traits traits{
      .name = "folding", .version = 1, .full_state = false, .has_effects = false};
  [[nodiscard]] outcome apply(const event& e, ratchet::state& s, effects&) const {
    if (e.payload.starts_with("!")) return give_up(std::make_error_code(std::errc::invalid_argument));
    if (e.payload == "~") {
      s.erase();
    } else {
      s.assign(std::string{s.value()} + std::string{e.payload} + ";");
    }
    return done();
  }
};

}  // namespace ratchet::testing
