// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <random>
#include <string>

#include "core/step.hpp"
#include "core/waiting.hpp"

/// Made-up waiting events, and plain maps of what waits. Shared by the tests that take random steps.
namespace ratchet::store_steps {

/// What waits in one stream.
struct waiting_oracle {
  std::map<std::string, std::map<sequence, waiting_event>> events;  ///< by aggregate
  std::map<std::string, backlog> backlogs;
  [[nodiscard]] bool waits(const std::string& aggregate) const { return backlogs.contains(aggregate); }
};

/// Changes the backlogs of one step at random; keeps the oracle, the counters and every count right.
/// Waiting events lie in epoch 1 or above, so that whatever is handled in epoch 0 lies below them.
class backlog_maker {
 public:
  backlog_maker(std::mt19937_64& random, std::uint64_t step, waiting_oracle& now, counters& c)
      : random_{&random}, step_{step}, now_{&now}, counters_{&c} {}

  /// A change of the aggregate with this index and name; also one that takes everything away.
  backlog_change make(std::uint32_t index, const std::string& name) {
    auto& events = now_->events[name];
    backlog_change change;
    change.aggregate = index;
    const auto known = now_->backlogs.find(name);
    if (known != now_->backlogs.end()) change.before = known->second;
    if (change.before) count(*change.before, events, ~std::uint64_t{0});
    const auto stored = events;
    remove_some(events, change);
    put_some(events, change);
    backlog after = change.before.value_or(backlog{});
    recount(after, events);
    accept_some(after, events);
    for (const auto& [s, e] : stored) {
      const bool was_accepted = change.before && change.before->is_accepted(s);
      if (after.is_accepted(s) && !was_accepted) change.accepted.push_back(e.head);
    }
    if (!events.empty()) set_times(after);
    if (below(12) == 0) after.reopened = {{event_id{step_, 1}, some_time()}};
    if (below(10) == 0) {
      const std::uint64_t first = after.skipped.empty() ? 1 : after.skipped.back().last.number + 2;
      after.skipped.push_back({seq(first), seq(first + below(3))});
    }
    if (after.empty()) {
      now_->backlogs.erase(name);
    } else {
      count(after, events, 1);
      now_->backlogs[name] = after;
      change.after = after;
    }
    return change;
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return (*random_)() % bound; }
  timestamp some_time() { return timestamp{std::chrono::milliseconds{static_cast<std::int64_t>(below(50))}}; }

  /// Everything, now and then; else from the front, as handling does, or anywhere, as an operator does.
  void remove_some(std::map<sequence, waiting_event>& events, backlog_change& change) {
    constexpr std::size_t k_some = 40;
    const bool all = below(events.size() > k_some ? 16 : 4) == 0;
    const bool front = below(2) == 0;
    for (auto at = events.begin(); at != events.end() && (all || change.removals.size() < k_some);) {
      if (!all && below(3) != 0) {
        if (front) return;
        ++at;
        continue;
      }
      change.removals.push_back(at->second.head);
      at = events.erase(at);
    }
  }

  void put_some(std::map<sequence, waiting_event>& events, backlog_change& change) {
    const std::uint64_t most = below(40) == 0 ? 60 : 4;
    for (std::uint64_t n = below(most); n > 0; --n) {
      // In place of another one, with its id, or a new one.
      const bool again = !events.empty() && below(3) == 0;
      const auto old =
          again ? std::next(events.begin(), static_cast<std::ptrdiff_t>(below(events.size()))) : events.end();
      waiting_event e = make_event(again ? old->first : seq(1 + below(2), step_ * 64 + n));
      if (again) {
        e.head.id = old->second.head.id;
        std::erase_if(change.puts,
                      [&](const waiting_event& p) { return p.head.sequence == e.head.sequence; });
      }
      change.puts.push_back(e);
      events.insert_or_assign(e.head.sequence, std::move(e));
    }
  }

  waiting_event make_event(sequence s) {
    waiting_event e;
    e.head.sequence = s;
    e.head.state = static_cast<waiting_state>(below(3));
    if (below(4) != 0) e.head.id = event_id{step_ << 16U | 0x7000U, s.epoch << 32U | s.number};
    if (below(2) == 0) e.head.since = some_time();
    e.type = std::string(below(8), 't');
    e.attempts = static_cast<std::uint32_t>(below(5));
    if (e.head.state == waiting_state::retrying) e.due = some_time();
    e.error = "at " + std::to_string(step_);
    e.record.where = {"topic", partition_id{1}};
    e.record.offset = static_cast<std::int64_t>(step_);
    if (below(2) == 0) e.record.key = "key";
    e.record.value =
        std::string(below(20) == 0 ? below(30'000) : below(200), static_cast<char>('a' + step_ % 26));
    e.payload_size = e.record.value->size();
    if (below(3) == 0) e.record.headers = {{"trace", std::nullopt}, {"of", std::to_string(step_)}};
    return e;
  }

  static void recount(backlog& b, const std::map<sequence, waiting_event>& events) {
    b.parked = b.retrying = b.dead = 0;
    if (events.empty()) {
      b.wake.reset();
      b.gap_since.reset();
      b.held = b.ready = false;
      return;
    }
    for (const auto& [s, e] : events) {
      ++(e.head.state == waiting_state::parked     ? b.parked
         : e.head.state == waiting_state::retrying ? b.retrying
                                                   : b.dead);
    }
    b.highest = std::max(b.highest, events.rbegin()->first);
  }

  /// More and more of them, from the lowest on.
  void accept_some(backlog& b, const std::map<sequence, waiting_event>& events) {
    if (below(3) == 0 && !events.empty()) {
      const auto some = std::next(events.begin(), static_cast<std::ptrdiff_t>(below(events.size())));
      if (!b.accepted) b.accepted.emplace();
      b.accepted->sequence = std::max(b.accepted->sequence, some->first);
      b.accepted->id = some->second.head.id;
    }
    if (!b.accepted) return;
    const auto is_accepted = [&b](const auto& e) { return e.first <= b.accepted->sequence; };
    b.accepted->events = static_cast<std::uint64_t>(std::count_if(events.begin(), events.end(), is_accepted));
    if (b.accepted->events == 0) b.accepted.reset();
  }

  void set_times(backlog& b) {
    b.held = !b.accepted && below(5) == 0;
    b.ready = below(5) == 0;
    if (below(2) == 0) b.wake = below(2) == 0 ? std::optional{some_time()} : std::nullopt;
    if (below(2) == 0) b.gap_since = below(2) == 0 ? std::optional{some_time()} : std::nullopt;
    if (b.held) b.gap_since.reset();
    if (below(8) == 0) b.adopted = seq(step_);
  }

  void count(const backlog& b, const std::map<sequence, waiting_event>& events, std::uint64_t sign) {
    const waiting_counts counts = b.counted();
    counters_->waiting_parked += sign * counts.parked;
    counters_->waiting_retrying += sign * counts.retrying;
    counters_->waiting_dead += sign * counts.dead;
    for (const auto& [s, e] : events) counters_->waiting_bytes += sign * e.bytes();
  }

  std::mt19937_64* random_;
  std::uint64_t step_;
  waiting_oracle* now_;
  counters* counters_;
};

inline void print_event(std::ostream& out, std::string_view aggregate, const waiting_event& e) {
  out << "waits " << aggregate << ' ' << e.head.sequence.epoch << '/' << e.head.sequence.number << ' '
      << name_of(e.head.state) << ' ' << (e.head.id ? e.head.id->low : 0) << ' ' << e.error << ' '
      << e.bytes() << ' ' << std::hash<std::string_view>{}(e.payload()) << '\n';
}

inline void print_backlog(std::ostream& out, std::string_view aggregate, const backlog& b) {
  const auto print = [&](const char* what, const std::optional<timestamp>& time) {
    if (time) out << what << time->time_since_epoch().count();
  };
  out << "backlog " << aggregate << ' ' << b.parked << ' ' << b.retrying << ' ' << b.dead << ' '
      << b.highest.epoch << '/' << b.highest.number << (b.held ? " held" : "") << (b.ready ? " ready" : "");
  print(" wake ", b.wake);
  print(" gap ", b.gap_since);
  if (b.adopted) out << " adopted " << b.adopted->number;
  if (b.accepted) out << " accepted " << b.accepted->sequence.number << ' ' << b.accepted->events;
  out << " reopened " << b.reopened.size();
  for (const sequence_range& r : b.skipped) out << " skipped " << r.first.number << '-' << r.last.number;
  out << '\n';
}

/// The aggregate with the oldest gap: the first by name of those of one age.
inline std::optional<std::string> oldest_gap_of(const waiting_oracle& now) {
  std::optional<std::pair<timestamp, std::string>> oldest;
  for (const auto& [name, b] : now.backlogs) {
    if (b.gap_since && (!oldest || *b.gap_since < oldest->first)) oldest = {*b.gap_since, name};
  }
  if (!oldest) return std::nullopt;
  return oldest->second;
}

}  // namespace ratchet::store_steps
