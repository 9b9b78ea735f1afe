// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <set>

#include "store/layout/layout.hpp"
#include "store/rocks_open.hpp"
#include "store/rocks_store.hpp"

/// What is remembered in memory must never show: lookup() answers as plain maps do, and as the database does
/// when it is asked key by key. Random steps, look-ups, reopens, moves of the floor, compactions, ids far
/// ahead, and so little memory that both memories forget all the time. RATCHET_SEED sets the first seed.
namespace ratchet {
namespace {

namespace fs = std::filesystem;
using filed_id = std::pair<event_id, std::string>;

constexpr std::int64_t k_base = 1'700'000'000'000;

class world {
 public:
  world(std::uint64_t seed, std::uint64_t database_bytes, std::uint64_t remembered_bytes, bool forgets)
      : random_{seed}, forgets_{forgets} {
    std::string name = (fs::temp_directory_path() / "ratchet-memory-XXXXXX").string();
    options_.path = ::mkdtemp(name.data());
    options_.group = "group";
    options_.streams = {{"payments", {}}};
    options_.database_bytes = database_bytes;
    options_.remembered_bytes = remembered_bytes;
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
      const std::vector<std::string> names = choose_names();
      step_plan plan = plan_for(names);
      step_rows rows;
      const bool looked_up = below(10) != 0;
      if (looked_up) look_up_and_compare(plan, rows);
      if (looked_up && below(10) == 0) {  // another plan comes between
        const std::vector<std::string> others = choose_names();
        const step_plan other = plan_for(others);
        look_up_and_compare(other, rows);
      }
      if (below(8) != 0) write(plan);
      if (below(10) == 0) {
        ASSERT_TRUE(store_->sync());
      }
      if (below(15) == 0) reopen();
      if (below(15) == 0) compact();
      if (forgets_ && below(10) == 0) forget();
    }
  }
  [[nodiscard]] std::size_t seen() const { return seen_; }
  [[nodiscard]] std::size_t ids() const { return ids_.size(); }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  void reopen() {
    store_.reset();
    auto opened = open_store(options_);
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = std::move(opened).assume_value();
    stream_ = store_->id_of("payments");
  }

  void compact() {
    database& db = database_of(*store_);
    ASSERT_TRUE(db.db().Flush({}, db.handle(family::dedup)).ok());
    ASSERT_TRUE(db.db().CompactRange({}, db.handle(family::dedup), nullptr, nullptr).ok());
  }

  /// Rows that are older than some of the others are found, a few at a time, and go.
  void forget() {
    retention_state of;
    of.before =
        timestamp{std::chrono::milliseconds{static_cast<std::int64_t>(below(store_->last_step() + 2))}};
    std::set<std::string> want;
    for (const auto& [name, row] : rows_) {
      if (row.seen && *row.seen < *of.before) want.insert(name);
    }
    std::set<std::string> found;
    std::optional<std::string> after;
    do {
      const auto some = store_->find_forgotten(stream_, of, after, 1 + below(200));
      ASSERT_TRUE(some);
      found.insert(some.assume_value().names.begin(), some.assume_value().names.end());
      after = some.assume_value().last;
    } while (after);
    ASSERT_EQ(found, want);
    step_plan plan;
    for (const std::string& name : found) plan.add(name);
    step_rows rows;
    look_up_and_compare(plan, rows);
    stream_change change;
    change.after = state_;
    for (std::uint32_t i = 0; i < plan.aggregates.size(); ++i) {
      aggregate_row gone;
      gone.has_last = false;
      change.rows.push_back({i, gone});
      rows_.erase(std::string{plan.aggregates[i]});
    }
    step_batch batch;
    batch.step = store_->last_step() + 1;
    batch.parts.push_back({stream_, &plan, &change, {}});
    ASSERT_TRUE(store_->write(batch));
    std::uint64_t snapshots = 0;  // none stays behind without its row
    const auto outside = [&](std::string_view, std::string_view) -> result<bool> { return ++snapshots > 0; };
    ASSERT_TRUE(
        database_of(*store_).for_each({}, family::snapshots, layout::stream_prefix(stream_), outside));
    ASSERT_EQ(snapshots, std::count_if(rows_.begin(), rows_.end(), [](const auto& row) {
                return row.second.snapshot.size() > layout::k_inline_snapshot_bytes;
              }));
  }

  std::vector<std::string> choose_names() {
    std::set<std::string> names;
    for (std::uint64_t i = 1 + below(150); i > 0; --i) {
      const std::uint64_t n = below(600);
      // Short ones lie inside a string, long ones outside.
      names.insert((n % 3 == 0 ? "a-name-too-long-to-lie-inside-of-a-string-" : "p") + std::to_string(n));
    }
    std::vector<std::string> out{names.begin(), names.end()};
    std::shuffle(out.begin(), out.end(), random_);
    return out;
  }

  event_id fresh_id() {
    std::int64_t milliseconds = k_base + clock_ + static_cast<std::int64_t>(below(200));
    if (below(500) == 0) milliseconds += std::int64_t{1000} * 3600 * 24 * 365 * 10;
    if (below(50) == 0) milliseconds -= static_cast<std::int64_t>(below(3000));
    return {static_cast<std::uint64_t>(milliseconds) << 16U | 0x7000U | below(4), below(1000)};
  }

  /// Fresh ids, ids that are stored, and near ones of either.
  step_plan plan_for(const std::vector<std::string>& names) {
    step_plan plan;
    plan.needs_snapshots = below(3) == 0;
    for (const std::string& name : names) plan.add(name);
    std::set<std::pair<std::uint32_t, event_id>> distinct;
    for (std::uint32_t i = 0; i < names.size(); ++i) {
      for (std::uint64_t n = below(4); n > 0; --n) {
        event_id id = fresh_id();
        if (below(3) == 0 && !recent_.empty()) {
          const filed_id& known = recent_[below(recent_.size())];
          id = known.first;
          const auto same = std::find(names.begin(), names.end(), known.second);
          if (same != names.end() && below(4) != 0) {
            distinct.insert({static_cast<std::uint32_t>(same - names.begin()), id});
            continue;
          }
          if (below(3) == 0) id.low ^= 1;
        }
        distinct.insert({i, id});
      }
    }
    for (const auto& [aggregate, id] : distinct) plan.ids.push_back({aggregate, id});
    std::shuffle(plan.ids.begin(), plan.ids.end(), random_);
    return plan;
  }

  bool in_database(const event_id& id, const std::string& aggregate) {
    const auto found = store_->view().value()->aggregates_with(stream_, id, 1'000'000);
    EXPECT_TRUE(found);
    return std::any_of(found.assume_value().begin(), found.assume_value().end(),
                       [&](const filed_id_of& one) { return one.aggregate == aggregate; });
  }

  void look_up_and_compare(const step_plan& plan, step_rows& rows) {
    ASSERT_TRUE(store_->lookup(stream_, plan, rows));
    for (std::size_t i = 0; i < plan.aggregates.size(); ++i) {
      const auto want = rows_.find(std::string{plan.aggregates[i]});
      ASSERT_EQ(rows.aggregates[i].has_value(), want != rows_.end()) << plan.aggregates[i];
      if (want == rows_.end()) continue;
      aggregate_row expected = want->second;
      if (!plan.needs_snapshots) expected.snapshot.clear();
      ASSERT_TRUE(*rows.aggregates[i] == expected) << plan.aggregates[i];
    }
    for (std::size_t i = 0; i < plan.ids.size(); ++i) {
      const std::string aggregate{plan.aggregates[plan.ids[i].aggregate]};
      const event_id& id = plan.ids[i].id;
      const bool answer = rows.id_stored[i] != 0;
      if (state_.floor && id.time() < *state_.floor) {
        // It may have gone at any moment; but never the other way about.
        ASSERT_TRUE(!answer || ids_.contains({id, aggregate}));
        continue;
      }
      ASSERT_EQ(answer, ids_.contains({id, aggregate})) << aggregate << ' ' << id.high << ' ' << id.low;
      ASSERT_EQ(answer, in_database(id, aggregate));
      seen_ += answer ? 1 : 0;
    }
  }

  void write(const step_plan& plan) {
    stream_change change;
    const std::uint64_t number = store_->last_step() + 1;
    for (std::uint32_t i = 0; i < plan.aggregates.size(); ++i) {
      if (below(4) == 0) continue;
      aggregate_row row;
      row.last = {below(2), number};
      if (below(2) == 0) row.id = fresh_id();
      row.payload_hash = {number, below(100)};
      if (below(2) == 0) row.time = timestamp{std::chrono::milliseconds{static_cast<std::int64_t>(number)}};
      if (forgets_ && below(3) != 0)
        row.seen = timestamp{std::chrono::milliseconds{static_cast<std::int64_t>(number)}};
      row.deleted = below(6) == 0;
      if (!row.deleted) row.snapshot = std::string(below(20) == 0 ? 1500 : below(30), 'a');
      change.rows.push_back({i, row});
      rows_[std::string{plan.aggregates[i]}] = row;
    }
    for (const id_of_aggregate& id : plan.ids) {
      if (below(5) == 0 || (state_.floor && id.id.time() < *state_.floor)) continue;
      change.ids.push_back(id);
      const filed_id filed{id.id, std::string{plan.aggregates[id.aggregate]}};
      ids_.insert(filed);
      if (recent_.size() < 3000) {
        recent_.push_back(filed);
      } else {
        recent_[below(recent_.size())] = filed;
      }
    }
    clock_ += 20;
    if (below(5) == 0) state_.floor = timestamp{std::chrono::milliseconds{k_base + clock_ - 1500}};
    change.after = state_;
    step_batch batch;
    batch.step = number;
    batch.parts.push_back({stream_, &plan, &change, {}});
    ASSERT_TRUE(store_->write(batch));
  }

  std::mt19937_64 random_;
  bool forgets_;
  store_options options_;
  std::unique_ptr<store> store_;
  stream_id stream_{0};
  std::int64_t clock_{0};
  stream_state state_;
  std::map<std::string, aggregate_row> rows_;
  std::set<filed_id> ids_;
  std::vector<filed_id> recent_;  ///< some of ids_, at random
  std::size_t seen_{0};
};

TEST(a_look_up, answers_as_plain_maps_do_whatever_is_remembered) {
  const char* text = std::getenv("RATCHET_SEED");
  const std::uint64_t first = text ? std::strtoull(text, nullptr, 10) : 1;
  for (std::uint64_t seed = first; seed < first + 8 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("RATCHET_SEED=" + std::to_string(seed));
    const bool little = seed % 4 != 0;
    constexpr std::uint64_t k_enough = std::uint64_t{1} << 26U;
    // So little that ids go through all that is known of forgotten ones, and past it.
    const bool forgets = seed % 2 == 0;
    world w = little ? world{seed, 1U << 18U, 1U << 14U, forgets} : world{seed, k_enough, k_enough, forgets};
    w.run(120);
    EXPECT_GT(w.seen(), 200U);
    EXPECT_GT(w.ids(), 5000U) << "too few for the memory of ids to forget any";
  }
}

}  // namespace
}  // namespace ratchet
