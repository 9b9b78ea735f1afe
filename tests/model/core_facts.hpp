// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "model/core_oracle.hpp"
#include "support/core_print.hpp"
#include "support/core_world.hpp"

namespace ratchet::testing {

/// The parts of the state, as text: so that rapidcheck shows what differs.
using facts = std::map<std::string, std::string>;

inline std::string text(const std::optional<event_id>& id) {
  return id ? std::to_string(id->high >> 16U) + "-" + std::to_string(id->low & 0xFFFFU) : "none";
}

inline std::string waiting_key(const std::string& aggregate, std::uint64_t epoch, std::uint64_t number) {
  return "waiting " + aggregate + " " + std::to_string(epoch) + "/" + std::to_string(number);
}

/// What an aggregate's backlog says of itself must be what its events say.
inline void check_backlogs(const world& w) {
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
  for (const auto& [name, b] : w.backlogs) {
    const auto all = w.waiting.find(name);
    std::array<std::uint64_t, 3> by_state{};
    if (all != w.waiting.end()) {
      for (const auto& [number, e] : all->second) {
        ++by_state.at(static_cast<std::size_t>(e.head.state));
        bytes += e.bytes();
      }
    }
    RC_ASSERT((std::array{b.parked, b.retrying, b.dead}) == by_state);
    RC_ASSERT(b.too_old <= b.dead);
    RC_ASSERT(w.rows.at(name).waits);
    RC_ASSERT(!b.empty());
    const auto is_accepted = [&b = b](const auto& e) { return b.is_accepted(e.first); };
    RC_ASSERT(!b.accepted || (b.accepted->events > 0 && !b.goes_on()));
    if (b.accepted) {
      const auto& of_it = w.waiting.at(name);
      RC_ASSERT(static_cast<std::uint64_t>(std::count_if(of_it.begin(), of_it.end(), is_accepted)) ==
                b.accepted->events);
    }
    events += b.events();
  }
  for (const auto& [name, row] : w.rows) RC_ASSERT(row.waits == w.backlogs.contains(name));
  RC_ASSERT(w.state.counters.waiting() == events);
  RC_ASSERT(w.state.counters.waiting_bytes == bytes);
}

inline facts state_of(const world& w) {
  facts out;
  check_backlogs(w);
  for (const auto& [name, all] : w.waiting) {
    for (const auto& [number, e] : all) {
      out[waiting_key(name, number.epoch, number.number)] =
          (w.backlogs.at(name).held && !w.backlogs.at(name).is_accepted(number) ? "held"
                                                                                : name_of(e.head.state)) +
          std::string{" "} + (e.head.since ? std::to_string(e.head.since->time_since_epoch().count()) : "-") +
          " " + (e.tombstone ? "(none)" : std::string{e.payload()});
    }
  }
  for (const auto& [name, row] : w.rows) {
    if (!row.has_last) continue;
    out["aggregate " + name] = std::to_string(row.last.epoch) + "/" + std::to_string(row.last.number) + " " +
                               text(row.id) + " " + (row.deleted ? "deleted" : row.snapshot.str());
    if (row.seen) out["seen " + name] = std::to_string(row.seen->time_since_epoch().count());
  }
  const auto put_time = [&out](const char* name, const std::optional<timestamp>& t) {
    if (t) out[name] = std::to_string(t->time_since_epoch().count());
  };
  put_time("forgotten before", w.state.retention.before);
  put_time("untimed since", w.state.retention.since);
  for (const auto& [key, filed] : w.ids)
    out["id " + key.first + " " + text(key.second)] = std::to_string(filed.time_since_epoch().count());
  for (const auto& [name, all] : w.published) out["published " + name] = all;
  out["floor"] = w.state.floor ? std::to_string(w.state.floor->time_since_epoch().count()) : "none";
  for (const auto& [where, p] : w.state.partitions) {
    out["partition " + std::to_string(static_cast<int>(where.partition))] =
        std::to_string(p.next_offset) + "." + std::to_string(p.next_index) + " " +
        (p.highest_time ? std::to_string(p.highest_time->time_since_epoch().count()) : "none") + " " +
        std::to_string(p.malformed_run);
  }
  return out;
}

inline facts state_of(const oracle& o) {
  facts out;
  for (const auto& [name, a] : o.aggregates) {
    const auto put = [&, &name = name](const auto& those, bool held) {
      for (const auto& [number, waits] : those) {
        out[waiting_key(name, number.first, number.second)] =
            (held         ? "held"
             : waits.dead ? "dead"
                          : "parked") +
            std::string{" "} + (waits.since ? std::to_string(*waits.since) : "-") + " " +
            (waits.event.kind == decoded_kind::tombstone ? "(none)" : waits.event.payload);
      }
    };
    put(a.waiting, a.held);
    put(a.accepted, false);
    if (!a.has_last) continue;
    out["aggregate " + name] = std::to_string(a.epoch) + "/" + std::to_string(a.number) + " " + text(a.id) +
                               " " + a.snapshot.value_or("deleted");
    if (a.seen) out["seen " + name] = std::to_string(*a.seen);
  }
  if (o.forgotten_before) out["forgotten before"] = std::to_string(*o.forgotten_before);
  if (o.since) out["untimed since"] = std::to_string(*o.since);
  for (const auto& [key, filed] : o.ids)
    out["id " + key.first + " " + text(key.second)] = std::to_string(filed);
  for (const auto& [name, a] : o.aggregates) {
    if (!a.published.empty()) out["published " + name] = a.published;
  }
  out["floor"] = o.floor ? std::to_string(*o.floor) : "none";
  for (const auto& [n, p] : o.partitions) {
    out["partition " + std::to_string(n)] = std::to_string(p.next) + "." + std::to_string(p.next_index) +
                                            " " + (p.highest ? std::to_string(*p.highest) : "none") + " " +
                                            std::to_string(p.malformed);
  }
  return out;
}

/// applied and superseded as a sum: how they split depends on the cut.
inline facts counts_of(const world& w) {
  const counters& c = w.state.counters;
  const std::pair<const char*, std::uint64_t> all[] = {
      {"applied", c.applied + c.superseded},
      {"duplicate", c.duplicate},
      {"stale", c.stale},
      {"ignored", c.ignored},
      {"malformed", c.rejected_malformed},
      {"conflict", c.rejected_conflict},
      {"too_old", c.rejected_too_old},
      {"id_reused", c.rejected_id_reused},
      {"late", c.rejected_late},
      {"below_first", c.rejected_below_first},
      {"sequence_mixed", c.rejected_sequence_mixed},
      {"times passed over", c.times_passed_over},
      {"forgotten", c.forgotten},
      {"waiting", c.waiting_parked + c.waiting_retrying + c.waiting_dead}};
  facts out;
  for (const auto& [name, n] : all) {
    if (n != 0) out[name] = std::to_string(n);
  }
  return out;
}

inline facts counts_of(const oracle& o) {
  facts out;
  std::uint64_t waiting = 0;
  for (const auto& [name, a] : o.aggregates) waiting += a.waiting.size() + a.accepted.size();
  if (waiting != 0) out["waiting"] = std::to_string(waiting);
  for (const auto& [name, n] : o.counts) out[name] = std::to_string(n);
  std::uint64_t passed_over = 0;
  for (const auto& [number, p] : o.partitions) passed_over += p.times.passed_over;
  if (passed_over != 0) out["times passed over"] = std::to_string(passed_over);
  return out;
}

}  // namespace ratchet::testing
