// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "unit/core_world.hpp"

/// What Ratchet must come to, worked out the slow way: one event at a time, over plain maps, with every
/// minimum computed anew. Shares nothing with src/core but the names of the verdicts, so that an error there
/// does not repeat itself here.
namespace ratchet::testing {

struct oracle_rules {
  bool is_arrival{false};
  bool folds{false};  ///< each event is appended; else the last one replaces
  std::int64_t window{1000};
  std::int64_t skew{100};
  std::int64_t now{0};
  std::uint32_t poison{0};
};

class oracle {
 public:
  struct aggregate {
    std::uint64_t epoch{0};
    std::uint64_t number{0};
    std::optional<event_id> id;
    std::optional<std::string> payload;  ///< of the last event; none for a tombstone
    std::optional<std::string> snapshot;
  };
  struct partition {
    std::int64_t next{0};
    std::optional<std::int64_t> highest;
    std::uint32_t malformed{0};
  };

  explicit oracle(oracle_rules rules) : rules_{rules} {}

  void feed(const spec& e) {
    if (stopped.contains(e.partition)) return;
    const auto known = partitions.find(e.partition);
    if (known != partitions.end() && e.offset < known->second.next) {
      ++counts["duplicate"];
      return;
    }
    if (must_stop(e)) {
      stopped.insert(e.partition);
      return;
    }
    const std::string what = handle(e);
    ++counts[what];
    partition& p = partitions[e.partition];
    p.malformed = what == "malformed" ? p.malformed + 1 : 0;
    p.next = e.offset + 1;
    if (e.time) {
      const std::int64_t capped = std::min(*e.time, rules_.now + rules_.skew);
      p.highest = p.highest ? std::max(*p.highest, capped) : capped;
    }
    raise_floor();
  }

  std::map<std::string, aggregate> aggregates;
  std::set<std::pair<std::string, event_id>> ids;
  std::map<int, partition> partitions;
  std::optional<std::int64_t> floor;
  std::map<std::string, std::uint64_t> counts;
  std::set<int> stopped;

 private:
  [[nodiscard]] bool must_stop(const spec& e) {
    if (e.kind == decoded_kind::malformed) {
      const std::uint32_t before = partitions.contains(e.partition) ? partitions[e.partition].malformed : 0;
      return rules_.poison != 0 && before + 1 >= rules_.poison;
    }
    return e.kind == decoded_kind::event && e.payload.starts_with("!") && judge(e) == "applied";
  }

  [[nodiscard]] std::string handle(const spec& e) {
    if (e.kind == decoded_kind::malformed) return "malformed";
    if (e.kind == decoded_kind::ignored) return "ignored";
    const std::string what = judge(e);
    if (what == "applied") apply(e);
    return what;
  }

  /// What the table of the gate says.
  [[nodiscard]] std::string judge(const spec& e) const {
    const auto own_time = e.id ? static_cast<std::int64_t>(e.id->high / 65536) : 0;
    const bool too_old = e.id && floor && own_time < *floor;
    const bool seen = e.id && !too_old && ids.contains({e.aggregate, *e.id});
    if (rules_.is_arrival) {
      if (seen) return "duplicate";
      return too_old ? "too_old" : "applied";
    }
    const auto known = aggregates.find(e.aggregate);
    if (known == aggregates.end()) return "applied";
    const aggregate& a = known->second;
    const auto mine = std::pair{e.sequence.epoch, e.sequence.number};
    const auto last = std::pair{a.epoch, a.number};
    if (mine > last) return seen ? "id_reused" : "applied";
    if (mine < last) return seen ? "duplicate" : "stale";
    const auto payload = e.kind == decoded_kind::tombstone ? std::nullopt : std::optional{e.payload};
    return !e.id || a.id == e.id || a.payload == payload ? "duplicate" : "conflict";
  }

  void apply(const spec& e) {
    aggregate& a = aggregates[e.aggregate];
    a.epoch = rules_.is_arrival ? 0 : e.sequence.epoch;
    a.number = rules_.is_arrival ? a.number + 1 : e.sequence.number;
    a.id = e.id;
    if (e.id) ids.insert({e.aggregate, *e.id});
    if (e.kind == decoded_kind::tombstone) {
      a.payload.reset();
      a.snapshot.reset();
      return;
    }
    a.payload = e.payload;
    if (!rules_.folds) {
      a.snapshot = e.payload;
    } else if (e.payload == "~") {
      a.snapshot.reset();
    } else {
      a.snapshot = a.snapshot.value_or("") + e.payload + ";";
    }
  }

  void raise_floor() {
    std::vector<std::int64_t> highest;
    for (const auto& [n, p] : partitions) {
      if (!p.highest) return;
      highest.push_back(*p.highest);
    }
    const std::int64_t now_floor = *std::min_element(highest.begin(), highest.end()) - rules_.window;
    if (!floor || now_floor > *floor) floor = now_floor;
  }

  oracle_rules rules_;
};

}  // namespace ratchet::testing
