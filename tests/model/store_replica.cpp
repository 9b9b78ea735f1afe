// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "store/layout/answer.hpp"
#include "store/open/verify.hpp"
#include "store/rocks_open.hpp"
#include "store/rocks_store.hpp"
#include "store_steps.hpp"
#include "support/killed_directory.hpp"
#include "support/replica_log.hpp"

/// The same steps leave the same bytes, whether they are written directly, or go through pending rows and a
/// log to their owner and to a standby, or come as a copy. And a replica that is killed at any byte of a
/// write has whole steps. RATCHET_SEED sets the first seed; with RATCHET_CRASHES no byte is left out.
namespace ratchet {
namespace {

namespace fs = std::filesystem;

using store_steps::from_environment;
using store_steps::scratch;
using store_steps::step_history;
using store_support::replica_log;

/// Their own rows each store has for itself. Of ids below the floor a store may have let go some.
std::map<std::pair<std::string, std::string>, std::string> common_rows(store& s) {
  const stream_id stream = s.id_of(store_steps::k_stream_name);
  const auto floor = s.load(stream).value().floor;
  auto rows = store_support::rows_of(s);
  if (!floor) return rows;
  std::erase_if(rows, [&](const auto& row) {
    const auto& [family_and_key, value] = row;
    const auto& [name, key] = family_and_key;
    if (name != "dedup") return false;
    if (layout::is_opaque_id_key(key)) return layout::filed_time_of(value).value() < *floor;
    const auto end = static_cast<std::int64_t>(layout::parse_id_run_key(key).value().span.end());
    return end <= floor->time_since_epoch().count();
  });
  return rows;
}

/// A store, with the history of its steps. Each step is made of its number alone, so that one that was
/// dropped is made again as it was.
class history_of {
 public:
  history_of(const fs::path& path, std::uint64_t seed, bool replicated)
      : options_{store_steps::options_for(path, seed % 3 == 0)}, seed_{seed}, steps_{seed % 3 == 0} {
    options_.replicated = replicated;
    options_.writes = seed % 2 == 0 ? write_on::own_thread : write_on::owner_thread;
    if (seed % 4 == 0) options_.remembered_bytes = 0;
    reopen();
    steps_.start(0);
  }
  store& get() { return *store_; }
  void reopen() {
    store_.reset();
    auto opened = open_store(options_);
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = std::move(opened).assume_value();
  }
  void step() {
    std::mt19937_64 random{seed_ * 1'000'003 + store_->last_step()};
    ASSERT_TRUE(steps_.step(*store_, random));
  }
  void drop() {
    ASSERT_TRUE(replica_of(*store_)->drop_pending());
    steps_.rewind(store_->last_step());
  }
  void expect_its_text() {
    const auto text = store_steps::text_of(*store_);
    ASSERT_TRUE(text);
    EXPECT_EQ(text.assume_value(), steps_.at(store_->last_step()));
  }

 private:
  store_options options_;
  std::uint64_t seed_;
  step_history steps_;
  std::unique_ptr<store> store_;
};

/// Whatever `to` has goes for a copy of `of`, part by part; it may be opened again in the middle, and begin
/// again.
void restore(history_of& to, history_of& of, std::uint64_t parts_until_reopened) {
  const auto copy = replica_of(of.get())->copy();
  ASSERT_TRUE(copy);
  ASSERT_TRUE(replica_of(to.get())->begin_restore());
  std::vector<std::string> parts;
  for (;;) {
    replicate::row_buffer rows;
    ASSERT_TRUE(copy.value()->next(500, rows));
    if (rows.empty()) break;
    parts.push_back(rows.release());
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i == parts_until_reopened) {
      to.reopen();
      ASSERT_TRUE(replica_of(to.get())->is_restoring());
      ASSERT_TRUE(replica_of(to.get())->begin_restore());
      i = 0;
      parts_until_reopened = parts.size();
    }
    ASSERT_FALSE(replica_of(to.get())->restore(parts[i]).value());
  }
  ASSERT_TRUE(replica_of(to.get())->end_restore(copy.value()->position()));
}

void compare(std::uint64_t seed) {
  const scratch room;
  std::mt19937_64 random{seed};
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  history_of direct{room.path() / "direct", seed, false};
  history_of owner{room.path() / "owner", seed, true};
  history_of standby{room.path() / "standby", seed, true};
  history_of restored{room.path() / "restored", seed, true};
  replica_log log;
  std::size_t most_pending = 0;
  for (int turn = 0; turn < 120 && !testing::Test::HasFailure(); ++turn) {
    owner.step();
    if (direct.get().last_step() < owner.get().last_step()) direct.step();
    if (direct.get().last_step() == owner.get().last_step()) {
      EXPECT_EQ(owner.get().load(stream_id{1}).value(), direct.get().load(stream_id{1}).value());
    }
    most_pending = std::max(most_pending, replica_of(owner.get())->pending().steps);
    if (below(3) == 0) log.confirm(owner.get(), below(5));
    if (below(6) == 0) log.apply_to(standby.get(), 1 + below(6));
    if (below(12) == 0) owner.drop();
    if (below(20) == 0) log.fence();
    if (below(20) == 0) {
      log.confirm(owner.get());
      owner.reopen();
    }
    if (below(30) == 0) standby.reopen();
    if (below(20) == 0 && replica_of(owner.get())->position()) restore(restored, owner, below(30));
    if (below(10) == 0) log.apply_to(restored.get());
    if (below(30) == 0) restored.reopen();
  }
  while (owner.get().last_step() < direct.get().last_step() && !testing::Test::HasFailure()) owner.step();
  log.confirm(owner.get());
  log.apply_to(standby.get());
  log.apply_to(restored.get());
  ASSERT_EQ(owner.get().last_step(), direct.get().last_step());
  EXPECT_GT(most_pending, 3U);
  direct.expect_its_text();
  owner.expect_its_text();
  const auto want = common_rows(direct.get());
  EXPECT_TRUE(common_rows(owner.get()) == want) << "the owner has other rows";
  EXPECT_TRUE(common_rows(standby.get()) == want) << "the standby has other rows";
  EXPECT_TRUE(common_rows(restored.get()) == want) << "what a copy was read into has other rows";
  EXPECT_EQ(*replica_of(owner.get())->position(), *replica_of(standby.get())->position());
}

TEST(a_replica, has_the_bytes_of_a_store_that_is_written_directly) {
  const std::uint64_t first = from_environment("RATCHET_SEED", 1);
  for (std::uint64_t seed = first; seed < first + 12 && !HasFailure(); ++seed) {
    SCOPED_TRACE("RATCHET_SEED=" + std::to_string(seed));
    compare(seed);
  }
}

std::map<std::string, std::uintmax_t> log_sizes(const fs::path& directory) {
  std::map<std::string, std::uintmax_t> out;
  for (const auto& entry : fs::directory_iterator{directory}) {
    if (entry.path().extension() == ".log") out[entry.path().filename().string()] = entry.file_size();
  }
  return out;
}

/// Zeros where pages were not written yet; the size may be there before them.
void zero_from(const fs::path& file, std::uintmax_t from) {
  const std::uintmax_t size = fs::file_size(file);
  fs::resize_file(file, from);
  fs::resize_file(file, size);
}

TEST(a_replica, that_is_killed_at_any_byte_of_a_write_has_whole_steps_and_their_number) {
  const scratch room;
  const fs::path live = room.path() / "live";
  store_options options = store_steps::options_for(live);
  options.replicated = true;
  std::unique_ptr<store> s = open_store(options).value();
  replica_log log;
  step_history history;
  history.start(0);
  std::mt19937_64 random{1};
  constexpr std::size_t k_snapshot = 1;
  const auto step = [&] { ASSERT_TRUE(history.step(*s, random, k_snapshot)); };
  step();
  log.confirm(*s);
  ASSERT_TRUE(s->sync());
  // Two steps in one write, then one: all behind the sync.
  const auto begin = log_sizes(live);
  const auto before = store_support::rows_of(*s);
  step();
  step();
  log.confirm(*s);
  const auto middle = log_sizes(live);
  const auto with_two = store_support::rows_of(*s);
  step();
  log.confirm(*s);
  const auto all = store_support::rows_of(*s);
  ASSERT_EQ(begin.size(), 1U);
  ASSERT_EQ(middle.size(), 1U);
  const std::string name = begin.begin()->first;
  const std::uintmax_t first = begin.begin()->second;
  const std::uintmax_t one_write = middle.at(name);
  const std::uintmax_t end = log_sizes(live).at(name);
  const std::uintmax_t stride = from_environment("RATCHET_CRASHES", 0) > 0 ? 1 : 5;
  int whole = 0;
  for (std::uintmax_t cut = first; cut <= end && !HasFailure(); ++cut) {
    const bool is_edge = cut < first + 3 || cut > end - 3 || (cut + 3 > one_write && cut < one_write + 3);
    if (!is_edge && cut % stride != 0) continue;
    SCOPED_TRACE("cut at " + std::to_string(cut) + " of " + std::to_string(end));
    const fs::path copy = room.path() / "copy";
    fs::remove_all(copy);
    store_support::copy_as_killed(*s, live, copy);
    if (cut % 2 == 0) {
      fs::resize_file(copy / name, cut);
    } else {
      zero_from(copy / name, cut);
    }
    store_options of_copy = options;
    of_copy.path = copy;
    auto opened = open_store(of_copy);
    ASSERT_TRUE(opened) << opened.error().message;
    store& after = *opened.assume_value();
    const auto position = replica_of(after)->position();
    ASSERT_TRUE(position);
    const std::uint64_t want = cut >= end ? 4 : cut >= one_write ? 3 : 1;
    EXPECT_EQ(position->step, want);
    EXPECT_EQ(after.last_step(), want);
    EXPECT_TRUE(store_support::rows_of(after) == (want == 4 ? all : want == 3 ? with_two : before));
    whole += want == 4 ? 1 : 0;
    log.apply_to(after);
    EXPECT_TRUE(store_support::rows_of(after) == all);
    EXPECT_EQ(replica_of(after)->position(), replica_of(*s)->position());
    opened.assume_value().reset();
    if (is_edge) {
      EXPECT_EQ(verify_store(copy).value(), std::vector<std::string>{});
    }
  }
  EXPECT_EQ(whole, 1);
}

}  // namespace
}  // namespace ratchet
