// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>

#include "store/layout/layout.hpp"
#include "store/rocks_open.hpp"
#include "store/rocks_store.hpp"
#include "support/core_world.hpp"
#include "support/replica_log.hpp"

/// Every short cut decides as the long way does. The same random history goes through five stores: the fast
/// one remembers everything and writes beside its owner; the next has memory for the heads of all rows, but
/// for the rest of a few only; the slow one remembers nothing, writes on the owner's thread, and is flushed,
/// compacted and opened again all the time; a replica keeps steps pending, and drops some of them, which are
/// taken again; and plain maps. Each event must
/// get the same verdict, and the states must be equal in the end. RATCHET_SEED sets the first seed.
namespace ratchet {
namespace {

namespace fs = std::filesystem;
using testing::batch;
using testing::folding;
using testing::replacing;
using testing::spec;
using testing::world;

constexpr std::int64_t k_base = 1'700'000'000'000;

/// A store with what a stream needs around it.
class lane {
 public:
  lane(std::uint64_t remembered_bytes, write_on writes, bool replicated = false) {
    std::string name = (fs::temp_directory_path() / "ratchet-paths-XXXXXX").string();
    options_.path = ::mkdtemp(name.data());
    options_.group = "group";
    options_.streams = {{"s", {}}};
    options_.database_bytes = std::uint64_t{16} << 20U;
    options_.remembered_bytes = remembered_bytes;
    options_.writes = writes;
    options_.replicated = replicated;
    reopen();
  }
  lane(const lane&) = delete;
  lane& operator=(const lane&) = delete;
  ~lane() {
    store_.reset();
    std::error_code ignored;
    fs::remove_all(options_.path, ignored);
  }

  void reopen() {
    store_.reset();
    store_ = open_store(options_).value();
    stream_ = store_->id_of("s");
    state_ = store_->load(stream_).value();
  }
  void compact() {
    database& db = database_of(*store_);
    for (const family f : {family::sequences, family::snapshots, family::dedup, family::waiting}) {
      ASSERT_TRUE(db.db().Flush({}, db.handle(f)).ok());
      ASSERT_TRUE(db.db().CompactRange({}, db.handle(f), nullptr, nullptr).ok());
    }
  }

  std::vector<decision> step(const world& rules, const std::vector<spec>& specs) {
    const batch b{specs};
    const step_plan plan = plan_step(rules.rules, rules.reduce.traits(), b.events);
    step_rows rows;
    EXPECT_TRUE(store_->lookup(stream_, plan, rows));
    const stream_change change = run_step(rules.rules, rules.reduce, state_, b.events, plan, rows, rules.now);
    step_batch out;
    out.step = store_->last_step() + 1;
    out.parts.push_back({stream_, &plan, &change, {}});
    EXPECT_TRUE(store_->write(out));
    state_ = change.after;
    return change.decisions;
  }

  // Of a replica.
  void confirm(std::size_t most = store_support::replica_log::k_all) { log_.confirm(*store_, most); }
  [[nodiscard]] std::uint64_t confirmed_step() const { return log_.last_step(); }
  /// Returns the step that it goes back to.
  std::uint64_t drop_pending() {
    EXPECT_TRUE(replica_of(*store_)->drop_pending());
    state_ = store_->load(stream_).value();
    return store_->last_step();
  }

  void expect_equal(const world& want) {
    const auto view = store_->view().value();
    EXPECT_EQ(view->load(stream_).value(), want.state);
    std::map<std::string, aggregate_row> rows;
    ASSERT_TRUE(view->scan(stream_, [&](const scanned_row& r) {
      rows.emplace(r.aggregate, r.row);
      return true;
    }));
    EXPECT_TRUE(rows == want.rows);
    std::map<std::pair<std::string, event_id>, timestamp> ids;
    ASSERT_TRUE(view->scan_ids(stream_, [&](std::string_view aggregate, event_id id, timestamp filed) {
      ids[{std::string{aggregate}, id}] = filed;
      return true;
    }));
    for (const auto& [id, filed] : want.ids) {
      if (ids.contains(id)) continue;
      EXPECT_LT(filed, want.state.floor.value()) << "lost inside the window";
    }
    for (const auto& [id, filed] : ids) {
      ASSERT_TRUE(want.ids.contains(id));
      EXPECT_EQ(filed, want.ids.at(id));
    }
  }

 private:
  store_options options_;
  std::unique_ptr<store> store_;
  stream_id stream_{0};
  stream_state state_;
  store_support::replica_log log_;
};

/// Fresh events, repeats of lately sent ones and of old ones, sequences that go back, ids used twice.
class producer {
 public:
  explicit producer(std::uint64_t seed) : random_{seed} {}

  std::vector<spec> next() {
    std::vector<spec> out;
    // Now and then a step that is large and spans much time, so that runs of all widths are made.
    const bool large = below(12) == 0;
    const std::uint64_t pace = large ? 1 + below(300) : below(20);
    for (std::uint64_t n = large ? 600 : 1 + below(60); n > 0; --n) {
      clock_ += static_cast<std::int64_t>(below(pace + 1));
      out.push_back(below(4) == 0 && !sent_.empty() ? again() : fresh());
      out.back().offset = offset_++;
    }
    return out;
  }
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

 private:
  spec fresh() {
    spec s;
    const std::uint64_t n = below(400);
    s.aggregate = "p" + std::to_string(n);
    s.sequence = seq(++sequences_[n] + below(3) - below(2));
    const std::int64_t time = k_base + clock_;
    s.time = time;
    if (below(50) != 0) s.id = testing::id_at(time - static_cast<std::int64_t>(below(3000)), counter_++);
    s.payload = std::string(below(40) == 0 ? 1100 : below(40), static_cast<char>('a' + n % 26));
    if (below(30) == 0) s.kind = decoded_kind::tombstone;
    sent_.push_back(s);
    return s;
  }
  spec again() {
    const std::uint64_t most = std::min<std::uint64_t>(sent_.size(), below(3) == 0 ? sent_.size() : 100);
    spec s = sent_[sent_.size() - 1 - below(most)];
    s.time = k_base + clock_;
    if (below(10) == 0) s.sequence = seq(s.sequence.number + 1);
    if (below(10) == 0) s.aggregate = "p" + std::to_string(below(400));
    return s;
  }

  std::mt19937_64 random_;
  std::int64_t clock_{0};
  std::int64_t offset_{0};
  std::uint64_t counter_{0};
  std::map<std::uint64_t, std::uint64_t> sequences_;
  std::vector<spec> sent_;
};

void play(std::uint64_t seed, world reference) {
  reference.rules.window = std::chrono::seconds{60};
  reference.now = timestamp{std::chrono::milliseconds{k_base * 2}};
  producer input{seed};
  lane fast{std::uint64_t{64} << 20U, write_on::own_thread};
  lane partial{std::uint64_t{48} << 10U, write_on::own_thread};
  lane slow{0, write_on::owner_thread};
  constexpr bool k_replicated = true;
  lane replica{input.below(2) == 0 ? 0 : std::uint64_t{48} << 10U, write_on::own_thread, k_replicated};
  std::vector<std::pair<std::vector<spec>, std::vector<decision>>> history;
  std::map<verdict, int> seen;
  for (int step = 0; step < 150 && !::testing::Test::HasFailure(); ++step) {
    const std::vector<spec> specs = input.next();
    const std::vector<decision> want = reference.step(specs).decisions;
    ASSERT_TRUE(fast.step(reference, specs) == want) << "fast, step " << step;
    ASSERT_TRUE(partial.step(reference, specs) == want) << "partial, step " << step;
    ASSERT_TRUE(slow.step(reference, specs) == want) << "slow, step " << step;
    ASSERT_TRUE(replica.step(reference, specs) == want) << "replica, step " << step;
    history.emplace_back(specs, want);
    if (input.below(4) == 0) replica.confirm(input.below(6));
    if (input.below(15) == 0) {
      for (std::size_t i = replica.drop_pending(); i < history.size(); ++i)
        ASSERT_TRUE(replica.step(reference, history[i].first) == history[i].second) << "again, step " << i;
    }
    if (input.below(20) == 0) replica.compact();
    if (input.below(30) == 0) {
      replica.confirm();
      replica.reopen();
    }
    for (const decision d : want) ++seen[d.verdict];
    if (input.below(20) == 0) slow.compact();
    if (input.below(20) == 0) slow.reopen();
    if (input.below(60) == 0) fast.reopen();
  }
  fast.expect_equal(reference);
  partial.expect_equal(reference);
  slow.expect_equal(reference);
  replica.confirm();
  replica.expect_equal(reference);
  EXPECT_GT(seen[verdict::applied], 1000);
  EXPECT_GT(seen[verdict::duplicate], 300);
}

std::uint64_t first_seed() {
  const char* text = std::getenv("RATCHET_SEED");
  return text ? std::strtoull(text, nullptr, 10) : 1;
}

TEST(fast_and_slow_paths, decide_alike) {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + 2 && !HasFailure(); ++seed) {
    SCOPED_TRACE("RATCHET_SEED=" + std::to_string(seed));
    play(seed, world{replacing{}});
    play(seed, world{folding{}});
    play(seed, world{replacing{}, order::arrival});
    for (const order o : {order::latest, order::arrival}) {
      world opaque{replacing{}, o};
      opaque.rules.opaque_ids = true;
      play(seed, opaque);
    }
  }
}

}  // namespace
}  // namespace ratchet
