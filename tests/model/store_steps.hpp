// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "store/rocks_store.hpp"
#include "store_waiting_steps.hpp"
#include "support/all_rows.hpp"

/// Made-up steps, and a plain oracle of what each leaves in a store. Shared by the tests that crash stores.
namespace ratchet::store_steps {

inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// A new directory, removed at the end. In memory, where there is a file system for it: thousands of syncs on
/// a disk take minutes.
class scratch {
 public:
  scratch() {
    std::error_code code;
    const std::filesystem::path base = std::filesystem::is_directory("/dev/shm", code)
                                           ? std::filesystem::path{"/dev/shm"}
                                           : std::filesystem::temp_directory_path();
    std::string name = (base / "ratchet-crash-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  ~scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline constexpr const char* k_stream_name = "payments";

/// `opaque`: the stream's ids are rows of their own, not runs.
inline store_options options_for(const std::filesystem::path& path, bool opaque = false) {
  store_options o;
  o.path = path;
  o.group = "group";
  o.streams = {{k_stream_name, {{"order", "arrival"}, {"dedup.ids", opaque ? "opaque" : "uuidv7"}}}};
  o.database_bytes = std::uint64_t{12} << 20U;
  o.remembered_bytes = std::uint64_t{4} << 20U;
  o.writes = write_on::owner_thread;  // what is on disk is looked at between two calls
  return o;
}

/// Every file below a directory with its bytes.
inline std::map<std::string, std::string> contents(const std::filesystem::path& directory) {
  std::map<std::string, std::string> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{directory}) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in{entry.path(), std::ios::binary};
    out[entry.path().lexically_relative(directory).string()] = {std::istreambuf_iterator<char>{in}, {}};
  }
  return out;
}

using filed_id = std::pair<event_id, std::string>;  ///< with its aggregate

/// What a store holds after some step.
struct oracle {
  std::map<std::string, std::string> rows;  ///< by aggregate, as print_row() prints them
  std::set<filed_id> ids;
  waiting_oracle waiting;
  stream_state state;
  std::vector<std::string> audits;
  std::map<std::uint64_t, std::string> rejected;  ///< by step
};

inline std::string print_row(const aggregate_row& row) {
  std::ostringstream out;
  out << row.last.number << ' ' << (row.id ? row.id->low : 0) << ' ' << row.deleted << ' ' << row.waits << ' '
      << row.snapshot.size() << ' ' << std::hash<std::string_view>{}(row.snapshot);
  return out.str();
}

inline void print_state(std::ostream& out, const stream_state& s) {
  const counters& c = s.counters;
  out << "applied " << c.applied << " rejected " << c.rejected_malformed << " consumed " << c.consumed
      << " waiting " << c.waiting_parked << ' ' << c.waiting_retrying << ' ' << c.waiting_dead << ' '
      << c.waiting_bytes << " floor " << (s.floor ? s.floor->time_since_epoch().count() : -1) << '\n';
  for (const auto& [where, p] : s.partitions)
    out << "partition " << static_cast<int>(where.partition) << ' ' << p.next_offset << '\n';
}

/// Ids below the floor may be there or not.
inline bool is_in_window(const stream_state& s, event_id id) {
  return !s.floor || id.time() >= *s.floor;
}

/// Both print what waits with this.
template <class Text>
void print_oldest_gap(std::ostream& out, const Text& oldest) {
  out << "oldest gap " << oldest.value_or("-") << '\n';
}

/// The state as one text, from the oracle or from a store: equal texts are equal states.
inline std::string text_of(const oracle& o) {
  std::ostringstream out;
  for (const auto& [aggregate, row] : o.rows) out << "row " << aggregate << ' ' << row << '\n';
  for (const auto& [id, aggregate] : o.ids) {
    if (is_in_window(o.state, id)) out << "id " << id.high << ' ' << id.low << ' ' << aggregate << '\n';
  }
  for (const auto& [aggregate, events] : o.waiting.events) {
    for (const auto& [s, e] : events) print_event(out, aggregate, e);
  }
  for (const auto& [aggregate, b] : o.waiting.backlogs) print_backlog(out, aggregate, b);
  print_oldest_gap(out, oldest_gap_of(o.waiting));
  print_state(out, o.state);
  for (auto at = o.rejected.rbegin(); at != o.rejected.rend(); ++at) out << "rejected " << at->second << '\n';
  for (const std::string& a : o.audits) out << "audit " << a << '\n';
  return out.str();
}

inline result<std::string> text_of(const store_view& view, stream_id stream) {
  std::ostringstream out;
  RATCHET_TRY(const stream_state state, view.load(stream));
  RATCHET_TRY(view.scan(stream, [&](const scanned_row& r) {
    out << "row " << r.aggregate << ' ' << print_row(r.row) << '\n';
    return true;
  }));
  RATCHET_TRY(view.scan_ids(stream, [&](std::string_view aggregate, event_id id, timestamp) {
    if (is_in_window(state, id)) out << "id " << id.high << ' ' << id.low << ' ' << aggregate << '\n';
    return true;
  }));
  RATCHET_TRY(view.waiting(stream, {}, [&](std::string_view aggregate, const waiting_event& e) {
    print_event(out, aggregate, e);
    return true;
  }));
  RATCHET_TRY(view.backlogs(stream, [&](std::string_view aggregate, const backlog& b) {
    print_backlog(out, aggregate, b);
    return true;
  }));
  RATCHET_TRY(const auto oldest, view.oldest_gap(stream));
  print_oldest_gap(out, oldest);
  print_state(out, state);
  RATCHET_TRY(const auto rejected, support::newest_rejected(view, stream, 1000));
  for (const rejected_row& r : rejected) out << "rejected " << r.detail << '\n';
  RATCHET_TRY(const auto audits, support::all_audits(view));
  for (const audit_row& a : audits) out << "audit " << a.text << '\n';
  return out.str();
}

inline result<std::string> text_of(const store& s) {
  RATCHET_TRY(const auto view, s.view());
  return text_of(*view, s.id_of(k_stream_name));
}

/// Takes made-up steps on a store and on the oracle alike, and remembers the oracle after each.
class step_history {
 public:
  /// `opaque`: ids are filed as those without a time are, under the time that theirs is.
  explicit step_history(bool opaque = false) : opaque_{opaque} {}

  /// Notes what the next step leaves, and writes it. `snapshot`: nothing is left to chance; one aggregate
  /// gets a snapshot of so many bytes, and steps of one size take the same room in the log.
  result<void> step(store& s, std::mt19937_64& random, std::optional<std::size_t> snapshot = {}) {
    const std::uint64_t number = s.last_step() + 1;
    const auto below = [&](std::uint64_t bound) { return snapshot ? 1 : random() % bound; };
    std::set<std::uint64_t> chosen;
    for (std::uint64_t i = snapshot ? 1 : 1 + below(6); i > 0; --i) chosen.insert(below(20));
    std::vector<std::string> names;
    for (const std::uint64_t c : chosen) names.push_back("p" + std::to_string(c));
    step_plan plan;
    plan.order = order::arrival;
    stream_change change;
    change.opaque_ids = opaque_;
    backlog_maker backlogs{random, number, now_.waiting, now_.state.counters};
    for (std::uint32_t i = 0; i < names.size(); ++i) {
      plan.add(names[i]);
      // The step's number is in everything that it writes, so that no part of a step can pass for another's.
      const event_id id{number << 16U | 0x7000U, below(1U << 20U)};
      aggregate_row row;
      row.last = seq(number);
      row.id = id;
      row.deleted = below(8) == 0;
      if (!row.deleted) {
        const std::size_t size = snapshot ? *snapshot : snapshot_size(random);
        row.snapshot = std::string(size, static_cast<char>('a' + number % 26));
      }
      if (below(3) == 0) change.backlogs.push_back(backlogs.make(i, names[i]));
      row.waits = now_.waiting.waits(names[i]);
      change.rows.push_back({i, row});
      change.ids.push_back({i, id, id.time()});
      now_.rows[names[i]] = print_row(row);
      now_.ids.emplace(id, names[i]);
    }
    if (below(2) == 0) wait_alone(backlogs, plan, change, "w" + std::to_string(below(8)));
    std::sort(change.ids.begin(), change.ids.end(),
              [](const id_of_aggregate& a, const id_of_aggregate& b) { return a.id < b.id; });
    const topic_partition where{"topic", partition_id{static_cast<std::int32_t>(below(3))}};
    step_batch batch;
    batch.step = number;
    batch.parts.push_back({s.id_of(k_stream_name), &plan, &change, {}});
    stream_state& after = now_.state;
    after.counters.applied += change.ids.size();
    after.partitions[where].next_offset = static_cast<std::int64_t>(number);
    after.partitions[where].highest_time = timestamp{std::chrono::milliseconds{number}};
    if (below(3) == 0 && number > 4) after.floor = timestamp{std::chrono::milliseconds{number - 4}};
    if (below(3) == 0) reject(batch, where);
    if (below(2) == 0) let_rejected_go(batch);
    if (below(5) == 0) {
      batch.audits.push_back({number, timestamp{}, "test", k_stream_name, "audit " + std::to_string(number)});
      now_.audits.push_back(batch.audits.back().text);
    }
    after.counters.consumed = after.counters.accounted();
    change.touched = {where};
    change.after = after;
    start(number);
    return s.write(batch);
  }

  /// What is now is the state of this step.
  void start(std::uint64_t step) { states_[step] = now_; }
  /// Goes on from what was recovered.
  void rewind(std::uint64_t step) {
    now_ = states_.at(step);
    states_.erase(states_.upper_bound(step), states_.end());
  }
  [[nodiscard]] bool knows(std::uint64_t step) const { return states_.contains(step); }
  [[nodiscard]] std::string at(std::uint64_t step) const { return text_of(states_.at(step)); }
  [[nodiscard]] const oracle& now() const { return now_; }

 private:
  /// An aggregate of which nothing was applied yet: its row is there as long as something waits.
  void wait_alone(backlog_maker& backlogs, step_plan& plan, stream_change& change, std::string name) {
    const auto index = static_cast<std::uint32_t>(plan.aggregates.size());
    lone_name_ = std::move(name);
    plan.add(lone_name_);
    change.backlogs.push_back(backlogs.make(index, lone_name_));
    aggregate_row row;
    row.has_last = false;
    row.waits = now_.waiting.waits(lone_name_);
    change.rows.push_back({index, row});
  }

  void reject(step_batch& batch, const topic_partition& where) {
    rejected_row r;
    r.where = where;
    r.offset = static_cast<std::int64_t>(batch.step);
    r.step = batch.step;
    r.at = time_of(batch.step);
    r.reason = reject_reason::malformed;
    r.detail = "at " + std::to_string(batch.step);
    batch.parts[0].rejected.push_back(r);
    now_.rejected[batch.step] = r.detail;
    now_.state.counters.rejected_malformed += 1;
  }

  /// Those go that are too old, or more than are kept.
  void let_rejected_go(step_batch& batch) {
    constexpr std::uint64_t k_age = 20;
    constexpr std::size_t k_records = 5;
    rejected_limits& keep = batch.parts[0].keep_rejected;
    keep.records = k_records;
    if (batch.step > k_age) keep.before = time_of(batch.step - k_age);
    if (batch.parts[0].rejected.empty() && !keep.before) return;
    auto& kept = now_.rejected;
    while (!kept.empty() && (kept.size() > k_records || kept.begin()->first + k_age <= batch.step))
      kept.erase(kept.begin());
  }
  static timestamp time_of(std::uint64_t step) { return timestamp{std::chrono::seconds{step}}; }

  static std::size_t snapshot_size(std::mt19937_64& random) {
    switch (random() % 8) {
      case 0:
        return 1025 + random() % 3000;
      case 1:
        return 20'000 + random() % 30'000;  // several blocks of the log
      default:
        return random() % 600;
    }
  }

  bool opaque_;
  oracle now_;
  std::string lone_name_;  ///< a plan borrows it
  std::map<std::uint64_t, oracle> states_;
};

}  // namespace ratchet::store_steps
