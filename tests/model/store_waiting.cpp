// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <set>

#include "store/open/verify.hpp"
#include "store/rocks_open.hpp"
#include "store/rocks_store.hpp"
#include "store_waiting_steps.hpp"
#include "support/replica_log.hpp"

/// What a store says of waiting events is what plain maps say, by the rules as they are written down: of
/// look-ups in every order, and of what is due. Random steps, reopens, flushes, compactions, and now and then
/// more events than one look-up may give. RATCHET_SEED sets the first seed.
namespace ratchet {
namespace {

namespace fs = std::filesystem;
using store_steps::backlog_maker;
using store_steps::waiting_oracle;

/// Of how many queues a look-up gave less than all, of how many events it gave heads, how many it was asked
/// for.
struct looked_up {
  void add(const looked_up& other) {
    incomplete += other.incomplete;
    near += other.near;
    asked += other.asked;
  }
  int incomplete{0};
  int near{0};
  int asked{0};
};

class world {
 public:
  /// `replicated`: the steps are pending for a while before a log confirms them.
  world(std::uint64_t seed, order o, bool replicated = false) : random_{seed}, order_{o} {
    std::string name = (fs::temp_directory_path() / "ratchet-waiting-XXXXXX").string();
    options_.path = ::mkdtemp(name.data());
    options_.group = "group";
    options_.streams = {{"payments", {{"order", name_of(o)}}}};
    options_.database_bytes = std::uint64_t{8} << 20U;
    options_.replicated = replicated;
    options_.remembered_bytes = seed % 2 == 0 ? 0 : std::uint64_t{4} << 20U;
    reopen();
  }
  world(const world&) = delete;
  world& operator=(const world&) = delete;
  ~world() {
    store_.reset();
    std::error_code ignored;
    fs::remove_all(options_.path, ignored);
  }

  void run(int steps) {
    for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
      write();
      if (options_.replicated) confirm_some();
      look_up();
      ask_what_is_due();
      if (below(20) == 0) reopen();
      if (below(20) == 0) compact();
    }
    EXPECT_EQ(store_->load(stream_).value().counters, state_.counters);
    if (options_.replicated) log_.confirm(*store_);
    store_.reset();
    EXPECT_EQ(verify_store(options_.path).value(), std::vector<std::string>{});
  }
  [[nodiscard]] const looked_up& seen() const { return seen_; }
  [[nodiscard]] std::size_t most_pending() const { return most_pending_; }

 private:
  using queue_of = std::map<sequence, waiting_event>;

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  void reopen() {
    if (store_ && options_.replicated) log_.confirm(*store_);  // what is pending would be gone
    store_.reset();
    store_ = open_store(options_).value();
    stream_ = store_->id_of("payments");
  }
  void confirm_some() {
    const std::size_t most = below(12) == 0 ? store_support::replica_log::k_all : below(2);
    log_.confirm(*store_, most);
    most_pending_ = std::max(most_pending_, replica_of(*store_)->pending().steps);
  }
  void compact() {
    database& db = database_of(*store_);
    ASSERT_TRUE(db.db().Flush({}, db.handle(family::waiting)).ok());
    if (below(2) == 0) return;
    ASSERT_TRUE(db.db().CompactRange({}, db.handle(family::waiting), nullptr, nullptr).ok());
  }

  std::vector<std::string> choose_names(std::uint64_t most) {
    std::set<std::string> chosen;
    // Names that begin alike, and one with the byte that ends a text.
    for (std::uint64_t i = 1 + below(most); i > 0; --i) {
      const std::uint64_t n = below(14);
      chosen.insert(n < 3 ? std::string("p\0\xff", 1 + n) : "p" + std::to_string(n));
    }
    std::vector<std::string> names{chosen.begin(), chosen.end()};
    std::shuffle(names.begin(), names.end(), random_);
    return names;
  }

  void write() {
    const std::vector<std::string> names = choose_names(6);
    const std::uint64_t number = store_->last_step() + 1;
    step_plan plan;
    plan.order = order_;
    stream_change change;
    backlog_maker backlogs{random_, number, now_, state_.counters};
    for (std::uint32_t i = 0; i < names.size(); ++i) {
      plan.add(names[i]);
      change.backlogs.push_back(backlogs.make(i, names[i]));
      if (below(15) == 0) add_many(change.backlogs.back(), names[i], number);
      aggregate_row row;
      if (below(2) == 0) {
        last_[names[i]] = seq(number);
        ++state_.counters.applied;
      }
      row.waits = now_.waits(names[i]);
      row.has_last = last_.contains(names[i]);
      if (row.has_last) row.last = last_[names[i]];
      change.rows.push_back({i, row});
    }
    state_.counters.consumed = state_.counters.accounted();
    change.after = state_;
    step_batch batch;
    batch.step = number;
    batch.parts.push_back({stream_, &plan, &change, {}});
    ASSERT_TRUE(store_->write(batch));
  }

  /// More than two look-ups may give.
  void add_many(backlog_change& change, const std::string& name, std::uint64_t number) {
    queue_of& queue = now_.events[name];
    if (!change.after || change.after->held || queue.size() > 2 * k_queue_events) return;
    for (std::uint64_t i = 0; i < 3000; ++i) {
      waiting_event e;
      e.head.sequence = seq(3, number * 10'000 + i);
      e.head.id = event_id{number << 16U, e.head.sequence.number};
      state_.counters.waiting_bytes += e.bytes();
      queue.insert_or_assign(e.head.sequence, e);
      change.puts.push_back(e);
    }
    state_.counters.waiting_parked += 3000;
    change.after->parked += 3000;
    change.after->highest = std::max(change.after->highest, change.puts.back().head.sequence);
    now_.backlogs[name] = *change.after;
  }

  /// A sequence that waits, or one beside it; an id that waits, or none.
  decoded_event make_event(const std::string& name) {
    decoded_event e;
    e.kind = decoded_kind::event;
    e.aggregate = name;
    const queue_of& queue = now_.events[name];
    const auto some = queue.empty() || below(5) == 0
                          ? queue.end()
                          : std::next(queue.begin(), static_cast<std::ptrdiff_t>(below(queue.size())));
    if (order_ != order::arrival) {
      e.has_sequence = true;
      e.sequence = some == queue.end() ? seq(below(4), below(20'000)) : some->first;
      if (below(3) == 0) e.sequence.number += below(3) - 1;
    }
    if (some != queue.end() && some->second.head.id && below(4) != 0) {
      e.has_id = true;
      e.id = *some->second.head.id;
      if (below(6) == 0) e.id.low += 1;
    }
    return e;
  }

  void look_up() {
    const std::vector<std::string> names = choose_names(10);
    std::vector<decoded_event> events;
    step_plan plan;
    plan.order = order_;
    plan.needs_snapshots = below(3) == 0;
    for (const std::string& name : names) plan.add(name);
    plan.resumes = below(4) == 0;
    plan.runs_accepted = plan.resumes && below(2) == 0;
    if (plan.runs_accepted && below(4) != 0) ask_for_some(plan);
    if (plan.resumes && below(2) == 0) plan.most_queued = 1 + below(4);
    if (!plan.resumes) {
      for (std::uint64_t n = below(30); n > 0; --n) {
        const auto index = static_cast<std::uint32_t>(below(names.size()));
        const bool malformed = below(20) == 0;
        events.push_back(malformed ? decoded_event{} : make_event(names[index]));
        plan.aggregate_of.push_back(malformed ? k_no_index : index);
        plan.id_of.push_back(k_no_index);
      }
      plan.events = events;
    }
    step_rows rows;
    ASSERT_TRUE(store_->lookup(stream_, plan, rows));
    compare_rows(plan, rows);
    compare_backlogs(plan, rows);
  }

  /// Events that wait, mostly, in any order.
  void ask_for_some(step_plan& plan) {
    for (std::uint64_t n = below(12); n > 0; --n) {
      const auto index = static_cast<std::uint32_t>(below(plan.aggregates.size()));
      const queue_of& queue = now_.events[std::string{plan.aggregates[index]}];
      asked_event asked{index, seq(below(4), below(20'000))};
      if (!queue.empty() && below(5) != 0)
        asked.sequence = std::next(queue.begin(), static_cast<std::ptrdiff_t>(below(queue.size())))->first;
      plan.asked.push_back(asked);
    }
  }

  void compare_rows(const step_plan& plan, const step_rows& rows) {
    for (std::size_t i = 0; i < plan.aggregates.size(); ++i) {
      const std::string name{plan.aggregates[i]};
      const bool is_there = last_.contains(name) || now_.waits(name);
      ASSERT_EQ(rows.aggregates[i].has_value(), is_there) << name;
      if (!is_there) continue;
      EXPECT_EQ(rows.aggregates[i]->waits, now_.waits(name));
      EXPECT_EQ(rows.aggregates[i]->has_last, last_.contains(name));
      EXPECT_EQ(rows.aggregates[i]->last, last_.contains(name) ? last_[name] : sequence{});
    }
  }

  /// What of an aggregate's events the plan has use for, in their order.
  using events_for = std::vector<const waiting_event*>;
  [[nodiscard]] events_for queue_for(const step_plan& plan, std::uint32_t aggregate) {
    const std::string name{plan.aggregates[aggregate]};
    const backlog& b = now_.backlogs[name];
    events_for queue;
    for (const auto& [s, e] : now_.events[name]) {
      if (plan.runs_accepted || !b.is_accepted(s)) queue.push_back(&e);
    }
    return queue;
  }

  void compare_backlogs(const step_plan& plan, const step_rows& rows) {
    std::vector<std::uint32_t> waiting;
    std::size_t firsts = 0;
    for (std::uint32_t i = 0; i < plan.aggregates.size(); ++i) {
      const std::string name{plan.aggregates[i]};
      if (!now_.waits(name)) continue;
      waiting.push_back(i);
      firsts += queue_for(plan, i).empty() ? 0U : 1U;
    }
    ASSERT_EQ(rows.backlogs.size(), waiting.size());
    std::size_t left = k_queue_events - firsts;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      const auto& [aggregate, found] = rows.backlogs[i];
      ASSERT_EQ(aggregate, waiting[i]);
      const std::string name{plan.aggregates[aggregate]};
      const events_for queue = queue_for(plan, aggregate);
      EXPECT_EQ(found.backlog, now_.backlogs[name]);
      std::size_t size = queue.empty() ? 0 : 1;
      if (size == 1 && wants_all(plan, aggregate)) {
        size = std::min({queue.size(), 1 + left, plan.most_queued});
        left -= size - 1;
      }
      const std::set<sequence> asked = asked_of(plan, aggregate);
      events_for wanted{queue.begin(), queue.begin() + static_cast<std::ptrdiff_t>(size)};
      std::size_t others = queue.size();
      if (!asked.empty() && size < queue.size() && is_accepted(name, *queue[size - 1]))
        others = add_others(name, queue, wanted, std::min(1 + left, plan.most_queued), left);
      ASSERT_EQ(found.queue.size(), wanted.size()) << name;
      auto at = wanted.begin();
      for (const waiting_event& e : found.queue) ASSERT_TRUE(e == **at++);
      const bool has_all = wanted.empty() || wanted.back() == queue.back();
      EXPECT_EQ(found.complete, has_all || (!asked.empty() && others == 0)) << name;
      compare_asked(name, queue, wanted, asked, found.asked);
      seen_.incomplete += found.complete ? 0 : 1;
      ASSERT_EQ(found.near, near_of(plan, aggregate, size)) << name;
      seen_.near += static_cast<int>(found.near.size());
    }
  }

  [[nodiscard]] bool is_accepted(const std::string& name, const waiting_event& e) {
    return now_.backlogs[name].is_accepted(e.head.sequence);
  }

  [[nodiscard]] static std::set<sequence> asked_of(const step_plan& plan, std::uint32_t aggregate) {
    std::set<sequence> out;
    for (const asked_event& a : plan.asked) {
      if (a.aggregate == aggregate) out.insert(a.sequence);
    }
    return out;
  }

  /// The lowest of those that are not accepted, as many as there still may be; of so many in all.
  std::size_t add_others(const std::string& name, const events_for& queue, events_for& wanted,
                         std::size_t most, std::size_t& left) {
    const auto first = std::find_if(queue.begin(), queue.end(),
                                    [&](const waiting_event* e) { return !is_accepted(name, *e); });
    const auto others = static_cast<std::size_t>(std::distance(first, queue.end()));
    if (others == 0) return 0;
    const std::size_t some = std::min(others, most);
    left -= some - 1;
    wanted.insert(wanted.end(), first, first + static_cast<std::ptrdiff_t>(some));
    return others;
  }

  void compare_asked(const std::string& name, const events_for& queue, const events_for& in_queue,
                     const std::set<sequence>& asked, const std::vector<asked_row>& found) {
    auto row = found.begin();
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const waiting_event& e = *queue[i];
      if (!asked.contains(e.head.sequence)) continue;
      if (std::find(in_queue.begin(), in_queue.end(), &e) != in_queue.end()) continue;
      ASSERT_NE(row, found.end()) << name << ' ' << e.head.sequence.number;
      EXPECT_TRUE(row->event == e);
      ASSERT_GT(i, 0U);
      EXPECT_EQ(row->previous, queue[i - 1]->head);
      EXPECT_EQ(row->accepted_below, is_accepted(name, e) ? i : 0U) << name;
      ++row;
      ++seen_.asked;
    }
    EXPECT_EQ(row, found.end());
  }

  [[nodiscard]] bool wants_all(const step_plan& plan, std::uint32_t aggregate) {
    const std::string name{plan.aggregates[aggregate]};
    if (plan.resumes || order_ == order::latest || now_.backlogs[name].goes_on()) return true;
    const events_for queue = queue_for(plan, aggregate);
    bool below_first = false;
    for (std::size_t e = 0; e < plan.events.size(); ++e) {
      below_first |=
          plan.aggregate_of[e] == aggregate && plan.events[e].sequence < queue.front()->head.sequence;
    }
    return order_ == order::strict && below_first;
  }

  std::vector<waiting_head> near_of(const step_plan& plan, std::uint32_t aggregate, std::size_t in_queue) {
    const events_for queue = queue_for(plan, aggregate);
    std::map<sequence, waiting_head> near;
    for (std::size_t e = 0; e < plan.events.size(); ++e) {
      if (plan.aggregate_of[e] != aggregate) continue;
      const decoded_event& event = plan.events[e];
      std::size_t place = 0;
      for (auto at = queue.begin(); at != queue.end(); ++at, ++place) {
        const bool is_it = order_ == order::arrival ? event.has_id && (*at)->head.id == event.id
                                                    : (*at)->head.sequence >= event.sequence;
        if (!is_it) continue;
        if (place >= in_queue) near.emplace((*at)->head.sequence, (*at)->head);
        break;
      }
    }
    std::vector<waiting_head> out;
    for (const auto& [s, head] : near) out.push_back(head);
    return out;
  }

  void ask_what_is_due() {
    if (below(3) == 0) return;
    const auto some_time = [&] {
      return timestamp{std::chrono::milliseconds{static_cast<std::int64_t>(below(60))}};
    };
    const timestamp now = some_time();
    const std::optional<timestamp> gaps = below(4) == 0 ? std::nullopt : std::optional{some_time()};
    const std::size_t limit = below(4) == 0 ? below(3) : 100;
    using entries = std::set<std::pair<timestamp, std::string>>;
    entries wakes;
    entries ages;
    for (const auto& [name, b] : now_.backlogs) {
      if (b.wake) wakes.emplace(*b.wake, name);
      if (b.gap_since) ages.emplace(*b.gap_since, name);
    }
    due_aggregates want;
    const auto is_named = [&](const std::string& name) {
      return std::find(want.names.begin(), want.names.end(), name) != want.names.end();
    };
    const auto take = [&](const entries& from, std::optional<timestamp> until) {
      for (const auto& [time, name] : from) {
        if (until && time <= *until && want.names.size() < limit && !is_named(name))
          want.names.push_back(name);
      }
    };
    const auto next = [&](const entries& from) -> std::optional<timestamp> {
      for (const auto& [time, name] : from) {
        if (!is_named(name)) return time;
      }
      return std::nullopt;
    };
    take(wakes, now);
    take(ages, gaps);
    const due_aggregates found = store_->due(stream_, now, gaps, limit).value();
    ASSERT_EQ(found.names, want.names);
    ASSERT_EQ(found.next_wake, next(wakes));
    ASSERT_EQ(found.next_gap, next(ages));
    std::vector<std::string> behind;
    for (const auto& [time, name] : wakes) {
      if (time > now && behind.size() < limit) behind.push_back(name);
    }
    ASSERT_EQ(store_->due_behind(stream_, now, limit).value(), behind);
  }

  std::mt19937_64 random_;
  order order_;
  store_options options_;
  std::unique_ptr<store> store_;
  stream_id stream_{0};
  stream_state state_;
  waiting_oracle now_;
  std::map<std::string, sequence> last_;
  looked_up seen_;
  store_support::replica_log log_;  ///< of a replica
  std::size_t most_pending_{0};
};

std::uint64_t first_seed() {
  const char* text = std::getenv("RATCHET_SEED");
  return text ? std::strtoull(text, nullptr, 10) : 1;
}

TEST(what_waits, is_what_plain_maps_say) {
  const std::uint64_t first = first_seed();
  looked_up seen;
  for (std::uint64_t seed = first; seed < first + 2 && !::testing::Test::HasFailure(); ++seed) {
    for (const order o : {order::strict, order::arrival, order::latest}) {
      SCOPED_TRACE("RATCHET_SEED=" + std::to_string(seed) + ' ' + name_of(o));
      world w{seed, o};
      w.run(100);
      seen.add(w.seen());
    }
  }
  // Of all worlds together: one by itself may have queues that are looked up whole.
  EXPECT_GT(seen.incomplete, 2);
  EXPECT_GT(seen.near, 2);
  EXPECT_GT(seen.asked, 2);
}

TEST(what_waits, is_what_plain_maps_say_while_steps_are_pending) {
  const std::uint64_t first = first_seed();
  for (std::uint64_t seed = first; seed < first + 2 && !testing::Test::HasFailure(); ++seed) {
    for (const order o : {order::strict, order::arrival, order::latest}) {
      SCOPED_TRACE("RATCHET_SEED=" + std::to_string(seed) + ' ' + name_of(o));
      constexpr bool k_replicated = true;
      world w{seed, o, k_replicated};
      w.run(100);
      EXPECT_GT(w.most_pending(), 4U);
    }
  }
}

}  // namespace
}  // namespace ratchet
