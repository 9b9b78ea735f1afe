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

#include "model/plain_times.hpp"
#include "support/core_world.hpp"

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
  bool is_strict{false};
  int first{1};  ///< -1: any
  bool accepts_epochs{false};
  std::optional<std::int64_t> gap_timeout{};  ///< then gaps are skipped
  std::size_t may_wait{1'000'000};            ///< for each aggregate
  bool has_ties{false};                       ///< the later of two events of one number is the newer one
  bool opaque{false};                         ///< ids have no time but their record's
  bool deferred{false};                       ///< what is let through is run by finish()
  bool checks_times{false};                   ///< times far ahead have to be borne out
  std::optional<std::int64_t> retention{};    ///< then aggregates are forgotten
  bool parks_too_old{false};                  ///< for an operator who never decides
};

class oracle {
 public:
  using place = std::pair<std::uint64_t, std::uint64_t>;
  struct waiter {
    spec event;
    std::optional<std::int64_t> since;  ///< when the gap below it began
    bool dead{false};
    std::optional<std::int64_t> began;  ///< itself to wait
    bool too_old{false};
  };
  struct aggregate {
    bool has_last{false};
    std::map<place, waiter> waiting;
    bool held{false};
    std::vector<std::pair<place, place>> skipped;  ///< both ends included
    std::optional<place> adopted;
    std::uint64_t epoch{0};
    std::uint64_t number{0};
    std::optional<event_id> id;
    std::optional<std::string> payload;  ///< of the last event; none for a tombstone
    std::optional<std::string> snapshot;
    std::string published;             ///< each payload, a semicolon behind it
    std::map<place, waiter> accepted;  ///< let through, and not run
    std::optional<std::int64_t> seen;  ///< when something of it was handled last
    bool is_touched{false};            ///< by what the record at hand released
  };
  struct partition {
    std::int64_t next{0};
    std::uint32_t next_index{0};
    std::optional<std::int64_t> highest;
    plain_times times{};
    std::uint32_t malformed{0};
  };

  explicit oracle(oracle_rules rules) : rules_{rules} {}

  void feed(const spec& e) {
    if (stopped.contains(e.partition)) return;
    const auto known = partitions.find(e.partition);
    const std::pair here{e.offset, e.index};
    if (known != partitions.end() && here < std::pair{known->second.next, known->second.next_index}) {
      ++counts["duplicate"];
      return;
    }
    if (must_stop(e)) {
      stopped.insert(e.partition);
      return;
    }
    kept_.reset();
    older_.reset();
    if (gone(e)) begin_anew(e);
    const std::string what = handle(e);
    if (what != "waits") ++counts[what];
    partition& p = partitions[e.partition];
    p.malformed = what == "malformed" ? p.malformed + (e.index == 0 ? 1U : 0U) : 0;
    p.next = e.more ? e.offset : e.offset + 1;
    p.next_index = e.more ? e.index + 1 : 0;
    if (e.more) {
      // The record has come when its last event has.
    } else if (e.time && rules_.checks_times) {
      p.times.take(*e.time, rules_.now, rules_.skew);
      p.highest = p.times.highest;
    } else if (e.time) {
      p.highest = std::max(p.highest.value_or(*capped(e.time)), *capped(e.time));
    }
    raise_floor();
    for (auto& [name, a] : aggregates) {
      if (std::exchange(a.is_touched, false)) touch(a, time());
    }
    forget_more();
    if (kept_) date(aggregates[e.aggregate], *kept_, e.time);
    if (rules_.gap_timeout && floor) {
      for (auto& [name, a] : aggregates) skip_old_gaps(a);
    }
  }

  /// Runs what was deferred: of each aggregate up to the first one that fails. From then on the last one of
  /// an aggregate is the last one that was run, where not all were.
  void finish() {
    for (auto& [name, a] : aggregates) {
      aggregate done;
      auto next = a.accepted.begin();
      for (; next != a.accepted.end() && !fails(next->second.event); next = a.accepted.erase(next)) {
        ++counts["applied"];
        move_to(done, next->first, next->second.event);
        run(a, next->second.event);
      }
      if (next == a.accepted.end()) continue;
      next->second.dead = true;
      a.has_last = done.has_last;
      a.epoch = done.epoch;
      a.number = done.number;
      a.id = done.id;
    }
  }

  /// What a store shows no more, and may take away.
  void remove_forgotten() {
    for (auto& [name, a] : aggregates) {
      if (!a.waiting.empty() || !a.accepted.empty() || !is_over(a, forgotten_before, since)) continue;
      if (a.has_last) ++counts["forgotten"];
      clear(a);
    }
  }

  std::optional<std::int64_t> forgotten_before;  ///< what was handled last before this is forgotten
  std::optional<std::int64_t> since;             ///< aggregates without a time count from then
  std::map<std::string, aggregate> aggregates;
  std::map<std::pair<std::string, event_id>, std::int64_t> ids;  ///< and when they are of
  std::map<int, partition> partitions;
  std::optional<std::int64_t> floor;
  std::map<std::string, std::uint64_t> counts;
  std::set<int> stopped;

 private:
  [[nodiscard]] std::optional<std::int64_t> time() const {
    return floor ? std::optional{*floor + rules_.window} : std::nullopt;
  }
  /// The time of the record's partition, or of the stream where that is ahead.
  [[nodiscard]] std::optional<std::int64_t> reached(const spec& e) const {
    const auto known = partitions.find(e.partition);
    return std::max(time(), known == partitions.end() ? std::nullopt : known->second.highest);
  }
  [[nodiscard]] static bool is_over(const aggregate& a, std::optional<std::int64_t> before,
                                    std::optional<std::int64_t> since) {
    const auto last = a.seen ? a.seen : since;
    return before && last && *last < *before;
  }
  [[nodiscard]] std::optional<std::int64_t> before_at(const spec& e) const {
    const auto here = reached(e);
    return std::max(forgotten_before,
                    here ? std::optional{*here - rules_.retention.value_or(0)} : std::nullopt);
  }
  /// What is stored of the event's aggregate is forgotten.
  [[nodiscard]] bool gone(const spec& e) const {
    if (!rules_.retention || e.kind == decoded_kind::malformed || e.kind == decoded_kind::ignored)
      return false;
    const auto known = aggregates.find(e.aggregate);
    if (known == aggregates.end()) return false;
    const aggregate& a = known->second;
    return a.waiting.empty() && a.accepted.empty() && is_over(a, before_at(e), since);
  }
  static void clear(aggregate& a) {
    std::string published = std::move(a.published);
    a = {};
    a.published = std::move(published);
  }
  /// Where the event comes to anything.
  void begin_anew(const spec& e) {
    aggregate was = aggregates[e.aggregate];
    clear(aggregates[e.aggregate]);
    const std::string what = judge(e);
    if (what != "let through" && what != "waits" && what != "too old, and waits") {
      aggregates[e.aggregate] = std::move(was);
      without_ = e.aggregate;
    } else if (was.has_last) {
      ++counts["forgotten"];
    }
  }
  void touch(aggregate& a, std::optional<std::int64_t> when) const {
    if (rules_.retention) a.seen = std::max(a.seen, when);
  }
  void forget_more() {
    without_.reset();
    if (!rules_.retention || !time()) return;
    if (!since) since = time();
    forgotten_before = std::max(forgotten_before, std::optional{*time() - *rules_.retention});
  }

  [[nodiscard]] bool must_stop(const spec& e) {
    if (e.kind == decoded_kind::malformed) {
      const std::uint32_t before = partitions.contains(e.partition) ? partitions[e.partition].malformed : 0;
      return rules_.poison != 0 && e.index == 0 && before + 1 >= rules_.poison;
    }
    if (e.kind != decoded_kind::event || !e.payload.starts_with("!")) return false;
    if (gone(e)) without_ = e.aggregate;
    const bool stops = judge(e) == "let through";
    without_.reset();
    return stops;
  }

  [[nodiscard]] std::string handle(const spec& e) {
    if (e.kind == decoded_kind::malformed) return "malformed";
    if (e.kind == decoded_kind::ignored) return "ignored";
    std::string what = judge(e);
    aggregate& a = aggregates[e.aggregate];
    const place number = rules_.is_arrival ? next_number(a) : place{e.sequence.epoch, e.sequence.number};
    if (what == "let through" && rules_.deferred) {
      waiter w{e, {}, false, {}};
      const auto above = a.waiting.upper_bound(number);
      if (above != a.waiting.end() && waited_for(a, above->first, number)) older_ = above->second.since;
      touch(a, std::max(reached(e), e.time));
      accept(a, number, std::move(w), time_of_id(e));
      kept_ = number;
      follow_up(a);
      return "waits";
    }
    if (what == "let through" && !fails(e)) {
      touch(a, std::max(reached(e), e.time));
      apply(a, number, e, time_of_id(e));
      follow_up(a);
      return "applied";
    }
    const bool is_old = what == "too old, and waits";
    if (what != "let through" && what != "waits" && !is_old) return what;
    if (const auto tie = a.waiting.find(number); tie != a.waiting.end()) supersede(a, tie);
    a.waiting[number] = {e, {}, what == "let through" || is_old, {}, is_old};
    kept_ = number;
    if (a.waiting.size() > rules_.may_wait) a.held = true;
    return "waits";
  }

  [[nodiscard]] static bool fails(const spec& e) {
    return e.kind == decoded_kind::event && e.payload.starts_with("#");
  }

  [[nodiscard]] static place next_number(const aggregate& a) {
    const std::uint64_t last = a.has_last ? a.number : 0;
    return {0, std::max(last, a.waiting.empty() ? 0 : a.waiting.rbegin()->first.second) + 1};
  }

  [[nodiscard]] bool comes_next(const aggregate& a, place p) const {
    if (rules_.is_arrival) return true;
    const auto first = static_cast<std::uint64_t>(rules_.first);
    if (!a.has_last) return rules_.first >= 0 ? p.second == first : a.adopted == p;
    if (p.first == a.epoch) return p.second == a.number + 1;
    return rules_.accepts_epochs && p.first > a.epoch && rules_.first >= 0 && p.second == first;
  }

  void supersede(aggregate& a, std::map<place, waiter>::iterator at) {
    ++counts["applied"];  // as superseded
    const spec& e = at->second.event;
    if (e.id) ids[{e.aggregate, *e.id}] = time_of_waiting(at->second);
    a.waiting.erase(at);
    if (a.waiting.empty()) a.held = false;
  }

  static std::optional<std::string> payload_of(const spec& e) {
    return e.kind == decoded_kind::tombstone ? std::nullopt : std::optional{e.payload};
  }

  /// Behind an event that was applied: what waited for it.
  void follow_up(aggregate& a) {
    if (!rules_.is_strict && !rules_.is_arrival) {
      while (!a.waiting.empty() && a.waiting.begin()->first <= place{a.epoch, a.number})
        supersede(a, a.waiting.begin());
    }
    while ((rules_.is_strict || rules_.is_arrival) && !a.held && !a.waiting.empty()) {
      auto next = a.waiting.begin();
      if (next->second.dead || is_unknown(a) || !comes_next(a, next->first) || !release(a)) break;
    }
    if (a.waiting.empty()) a.held = false;
  }

  /// Runs the lowest waiting event; false where it fails.
  bool release(aggregate& a) {
    const auto next = a.waiting.begin();
    if (!rules_.deferred && fails(next->second.event)) {
      next->second.dead = true;
      return false;
    }
    const auto [number, w] = *next;
    a.waiting.erase(next);
    touch(a, w.event.time);
    a.is_touched = true;
    if (rules_.deferred) {
      accept(a, number, w, time_of_waiting(w));
      return true;
    }
    ++counts["applied"];
    apply(a, number, w.event, time_of_waiting(w));
    return true;
  }

  /// What an id is judged by, when its record comes.
  [[nodiscard]] std::int64_t time_of_id(const spec& e) const {
    if (!rules_.opaque) return e.id ? static_cast<std::int64_t>(e.id->high / 65536) : 0;
    if (e.time) return *e.time;
    const auto known = partitions.find(e.partition);
    if (known != partitions.end() && known->second.highest) return *known->second.highest;
    return floor ? *floor + rules_.window : 0;
  }
  [[nodiscard]] std::int64_t time_of_waiting(const waiter& w) const {
    if (!rules_.opaque) return time_of_id(w.event);
    return w.event.time ? *w.event.time : w.began.value_or(0);
  }

  [[nodiscard]] std::optional<std::int64_t> capped(std::optional<std::int64_t> time) const {
    return time ? std::optional{std::min(*time, rules_.now + rules_.skew)} : std::nullopt;
  }

  void date(aggregate& a, place kept, std::optional<std::int64_t> time) {
    if (const auto accepted = a.accepted.find(kept); accepted != a.accepted.end()) {
      waiter& w = accepted->second;
      w.began = floor ? std::optional{*floor + rules_.window} : capped(time);
      w.since = w.began;
      if (older_) w.since = std::min(w.since.value_or(*older_), *older_);
      return;
    }
    const auto at = a.waiting.find(kept);
    if (at == a.waiting.end()) return;
    at->second.began = floor ? std::optional{*floor + rules_.window} : capped(time);
    at->second.since = at->second.began;
    const auto above = std::next(at);
    if (above == a.waiting.end() || !waited_for(a, above->first, kept)) return;
    if (above->second.since)
      at->second.since = std::min(at->second.since.value_or(*above->second.since), *above->second.since);
  }

  /// Whether an event that waits above another waited for its number, too: not where people are to let it in.
  [[nodiscard]] bool waited_for(const aggregate& a, place above, place below) const {
    const auto is_left_to_people = [&](place p) {
      return rules_.is_strict && a.has_last && p.first > a.epoch && !rules_.accepts_epochs;
    };
    return !rules_.gap_timeout || !is_left_to_people(above) || is_left_to_people(below);
  }

  void skip_old_gaps(aggregate& a) {
    while (!a.held && !a.waiting.empty()) {
      const auto& [number, w] = *a.waiting.begin();
      if (w.dead || is_unknown(a) || comes_next(a, number) || !w.since) return;
      if (a.has_last && number.first > a.epoch && !rules_.accepts_epochs) return;  // people let it in
      if (*w.since + *rules_.gap_timeout > *floor + rules_.window) return;
      const place next = number;
      if (!a.has_last && rules_.first < 0) {
        a.adopted = next;
      } else {
        const place from = a.has_last ? place{a.epoch, a.number + 1}
                                      : place{next.first, static_cast<std::uint64_t>(rules_.first)};
        const place to = next.second > 0 ? place{next.first, next.second - 1} : place{next.first - 1, ~0ULL};
        a.skipped.emplace_back(from, to);
        a.has_last = true;
        a.epoch = to.first;
        a.number = to.second;
        a.id.reset();
        a.payload.reset();
        touch(a, time());
      }
      if (release(a)) follow_up(a);
      if (std::exchange(a.is_touched, false)) touch(a, time());
    }
  }

  /// It waits behind what is too old: nothing of it was handled that is known of.
  [[nodiscard]] bool is_unknown(const aggregate& a) const {
    return rules_.is_strict && !a.has_last && waits_too_old(a);
  }
  [[nodiscard]] static bool waits_too_old(const aggregate& a) {
    return std::any_of(a.waiting.begin(), a.waiting.end(), [](const auto& w) { return w.second.too_old; });
  }

  /// What the table of the gate says.
  [[nodiscard]] std::string judge(const spec& e) const {
    const bool too_old = e.id && floor && time_of_id(e) < *floor;
    const auto filed = e.id ? ids.find({e.aggregate, *e.id}) : ids.end();
    const bool seen = filed != ids.end() && (!floor || filed->second >= *floor);
    const auto known = aggregates.find(e.aggregate);
    const aggregate a = known == aggregates.end() || without_ == e.aggregate ? aggregate{} : known->second;
    const place mine{e.sequence.epoch, e.sequence.number};
    const place last{a.epoch, a.number};
    if (rules_.is_arrival) {
      for (const auto& [number, w] : a.waiting) {
        if (e.id && w.event.id == e.id) return "duplicate";
      }
      if (seen) return "duplicate";
      if (too_old) return rules_.parks_too_old ? "too old, and waits" : "too_old";
      return a.waiting.empty() ? "let through" : "waits";
    }
    const auto claimed = a.waiting.find(mine);
    if (claimed != a.waiting.end()) {
      const auto& other = claimed->second.event.id;
      const bool has_ids = other && e.id;
      const bool is_equal = payload_of(claimed->second.event) == payload_of(e);
      if ((has_ids && other == e.id) || ((!has_ids || rules_.has_ties) && is_equal)) return "duplicate";
      if (!rules_.has_ties) return "conflict";
    }
    const auto skipped = [&](place p) {
      return std::any_of(a.skipped.begin(), a.skipped.end(),
                         [&](const auto& range) { return range.first <= p && p <= range.second; });
    };
    const auto own = e.own_time ? e.own_time : e.time;
    const bool knows_nothing = !a.has_last && ((a.waiting.empty() && a.accepted.empty()) || waits_too_old(a));
    const bool is_no_number =
        rules_.parks_too_old && rules_.is_strict && rules_.first > 0 && mine.second == 0;
    if (rules_.retention && knows_nothing && !is_no_number &&
        (seen || (own && before_at(e) && *own < *before_at(e))))
      return rules_.parks_too_old && !seen ? "too old, and waits" : "too_old";
    const bool is_behind_others =
        !a.waiting.empty() && (a.held || is_unknown(a) || a.waiting.begin()->first < mine);
    if (!rules_.is_strict) {
      if (!a.has_last || mine > last) return a.has_last && seen ? "id_reused" : "let through";
    } else if (!a.has_last) {
      if (rules_.first < 0) return a.adopted && mine < *a.adopted ? "stale" : "waits";
      if (mine.second < static_cast<std::uint64_t>(rules_.first)) return "below_first";
      return comes_next(a, mine) && !is_behind_others ? "let through" : "waits";
    } else if (mine > last) {
      if (seen) return "id_reused";
      if (rules_.accepts_epochs && rules_.first > 0 && mine.second < static_cast<std::uint64_t>(rules_.first))
        return "below_first";
      return comes_next(a, mine) && !is_behind_others ? "let through" : "waits";
    }
    if (mine < last) {
      const bool is_below = rules_.is_strict && rules_.first > 0 && mine.second == 0;
      return seen ? "duplicate" : skipped(mine) ? "late" : is_below ? "below_first" : "stale";
    }
    if (skipped(last)) return "late";
    // One that waits at L came behind what was applied there, so that this one comes behind both.
    const bool one_waits_here = !rules_.is_strict && claimed != a.waiting.end();
    const bool is_last = (e.id && a.id == e.id) || a.payload == payload_of(e);
    if (is_last && !one_waits_here) return "duplicate";
    if (!rules_.has_ties) return "conflict";
    return e.id && seen ? "duplicate" : "let through";
  }

  void apply(aggregate& a, place number, const spec& e, std::int64_t id_time) {
    move_to(a, number, e);
    if (e.id) ids[{e.aggregate, *e.id}] = id_time;
    run(a, e);
  }

  /// It is run later; for all that comes behind it it was applied.
  void accept(aggregate& a, place number, waiter w, std::int64_t id_time) {
    move_to(a, number, w.event);
    if (w.event.id) ids[{w.event.aggregate, *w.event.id}] = id_time;
    a.accepted.emplace(number, std::move(w));
  }

  static void move_to(aggregate& a, place number, const spec& e) {
    a.has_last = true;
    a.adopted.reset();
    a.epoch = number.first;
    a.number = number.second;
    a.id = e.id;
    a.payload = payload_of(e);
  }

  void run(aggregate& a, const spec& e) const {
    if (e.kind == decoded_kind::tombstone) {
      a.snapshot.reset();
      return;
    }
    if (rules_.folds) a.published += e.payload + ";";
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
  std::optional<std::string> without_;  ///< what is stored of this aggregate does not count
  std::optional<place> kept_;           ///< by the record that was fed last
  std::optional<std::int64_t> older_;   ///< it is accepted: since when one waited above it
};

}  // namespace ratchet::testing
