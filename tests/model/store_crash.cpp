// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "store/open/verify.hpp"
#include "store/rocks_open.hpp"
#include "store/rocks_store.hpp"
#include "store_steps.hpp"
#include "support/killed_directory.hpp"

/// The fault model: the machine loses power. What was synced is there. Of the write-ahead log behind that,
/// any part may be missing, zero or wrong, in any order. Column families may have been flushed at any moment
/// before. Wanted: an exact prefix of the steps in every column family, not below SYNCED; or a refusal that
/// changed no file. RATCHET_CRASHES sets the number of crashes, RATCHET_SEED the first seed. A failure prints
/// its seed.
namespace ratchet {
namespace {

namespace fs = std::filesystem;

using store_steps::contents;
using store_steps::from_environment;
using store_steps::options_for;
using store_steps::scratch;
using store_steps::step_history;

std::string text_of(const store& s) {
  const auto text = store_steps::text_of(s);
  EXPECT_TRUE(text) << text.error().message();
  return text ? text.assume_value() : "";
}

/// A history, and the random numbers that it comes of.
class driver {
 public:
  driver(std::mt19937_64& random, bool opaque_ids)
      : opaque{opaque_ids}, random_{&random}, steps_{opaque_ids} {}
  std::uint64_t below(std::uint64_t bound) { return (*random_)() % bound; }
  void step(store& s) { ASSERT_TRUE(steps_.step(s, *random_)); }
  void start(const store& s) { steps_.start(s.last_step()); }
  void rewind(std::uint64_t step) { steps_.rewind(step); }
  [[nodiscard]] std::string at(std::uint64_t step) const { return steps_.at(step); }
  [[nodiscard]] bool knows(std::uint64_t step) const { return steps_.knows(step); }

  const bool opaque;  ///< the kind of ids

 private:
  std::mt19937_64* random_;
  step_history steps_;
};

std::map<std::string, std::uintmax_t> log_sizes(const fs::path& directory) {
  std::map<std::string, std::uintmax_t> out;
  for (const auto& entry : fs::directory_iterator{directory}) {
    if (entry.path().extension() == ".log") out[entry.path().filename().string()] = entry.file_size();
  }
  return out;
}

/// Spoils [from, size) of a file somewhere.
void spoil(driver& d, const fs::path& file, std::uintmax_t from) {
  const std::uintmax_t size = fs::file_size(file);
  if (size <= from) return;
  const std::uintmax_t at = from + d.below(size - from);
  if (d.below(4) == 0) {
    fs::resize_file(file, at);
    return;
  }
  std::fstream io{file, std::ios::in | std::ios::out | std::ios::binary};
  if (d.below(3) == 0) {
    io.seekg(static_cast<std::streamoff>(at));
    const char flipped = static_cast<char>(io.get() ^ (1 << d.below(8)));
    io.seekp(static_cast<std::streamoff>(at));
    io.put(flipped);
    return;
  }
  // Pages, or whole blocks of the log, that were never written.
  const std::uintmax_t page = d.below(2) == 0 ? 4096 : 32768;
  const std::uintmax_t begin = std::max(from, at / page * page);
  const std::uintmax_t end = std::min(size, begin + page * (1 + d.below(3)));
  io.seekp(static_cast<std::streamoff>(begin));
  for (std::uintmax_t i = begin; i < end; ++i) io.put('\0');
}

void flush_some(driver& d, store& s) {
  database& db = database_of(s);
  for (std::size_t f = 0; f < k_family_names.size(); ++f) {
    if (d.below(2) == 0) continue;
    ASSERT_TRUE(db.db().Flush({}, db.handle(static_cast<family>(f))).ok());
  }
}

struct crash_site {
  std::uint64_t synced{0};
  std::uint64_t written{0};
  bool flushed_since_sync{false};
  std::map<std::string, std::uintmax_t> synced_sizes;
};

/// Steps, flushes and syncs at random; then copies the directory as it is. A file that the map of synced
/// sizes lacks was made after the last sync.
crash_site run_to_crash(driver& d, store& s, const fs::path& live, const fs::path& copy) {
  crash_site site;
  site.synced = s.durable_step();
  site.synced_sizes = log_sizes(live);
  for (std::uint64_t i = 3 + d.below(20); i > 0; --i) {
    d.step(s);
    if (d.below(6) == 0) {
      flush_some(d, s);
      site.flushed_since_sync = true;
    }
    if (d.below(6) == 0) {
      EXPECT_TRUE(s.sync());
      site = {s.durable_step(), 0, false, log_sizes(live)};
    }
  }
  site.written = s.last_step();
  fs::remove_all(copy);
  store_support::copy_as_killed(s, live, copy);
  return site;
}

struct tally {
  int recovered{0};
  int refused{0};
  int lost_steps{0};
};

/// Opens a spoiled copy and judges what comes of it.
void judge(driver& d, const fs::path& copy, const crash_site& site, tally& counts) {
  const auto before = contents(copy);
  auto opened = open_store(options_for(copy, d.opaque));
  if (!opened) {
    ++counts.refused;
    EXPECT_EQ(opened.error().code, make_error_code(errc::state_damaged)) << opened.error().message;
    EXPECT_TRUE(contents(copy) == before) << "a refusal changed a file: " << opened.error().message;
    EXPECT_TRUE(site.flushed_since_sync) << "refused after a plain loss of power: " << opened.error().message;
    return;
  }
  ++counts.recovered;
  std::unique_ptr<store> s = std::move(opened).assume_value();
  const std::uint64_t step = s->last_step();
  if (step < site.written) ++counts.lost_steps;
  EXPECT_GE(step, site.synced);
  EXPECT_EQ(s->durable_step(), step);
  ASSERT_TRUE(d.knows(step));
  ASSERT_EQ(text_of(*s), d.at(step)) << "not the state of step " << step;
  // It goes on from there, and what comes next does not bring back what was lost.
  d.rewind(step);
  d.step(*s);
  s.reset();
  opened = open_store(options_for(copy, d.opaque));
  ASSERT_TRUE(opened) << opened.error().message;
  s = std::move(opened).assume_value();
  EXPECT_EQ(s->last_step(), step + 1);
  EXPECT_EQ(text_of(*s), d.at(step + 1));
  s.reset();
  const auto findings = verify_store(copy);
  ASSERT_TRUE(findings) << findings.error().message;
  EXPECT_TRUE(findings.assume_value().empty()) << findings.assume_value()[0];
}

TEST(a_crash, leaves_an_exact_prefix_of_the_steps_or_a_refusal_that_changed_no_file) {
  const std::uint64_t crashes = from_environment("RATCHET_CRASHES", 60);
  const std::uint64_t first_seed = from_environment("RATCHET_SEED", 1);
  tally counts;
  for (std::uint64_t seed = first_seed; seed < first_seed + crashes && !::testing::Test::HasFailure();
       ++seed) {
    SCOPED_TRACE("RATCHET_SEED=" + std::to_string(seed) + " RATCHET_CRASHES=1");
    std::mt19937_64 random{seed};
    driver d{random, seed % 3 == 0};
    const scratch room;
    const fs::path live = room.path() / "live";
    const fs::path copy = room.path() / "copy";
    auto opened = open_store(options_for(live, d.opaque));
    ASSERT_TRUE(opened) << opened.error().message;
    d.start(*opened.assume_value());
    const crash_site site = run_to_crash(d, *opened.assume_value(), live, copy);
    for (const auto& [name, size] : log_sizes(copy)) {
      const auto synced = site.synced_sizes.find(name);
      const std::uintmax_t from = synced == site.synced_sizes.end() ? 0 : synced->second;
      for (std::uint64_t spoils = d.below(3); spoils > 0; --spoils) spoil(d, copy / name, from);
    }
    judge(d, copy, site, counts);
  }
  std::printf("crashes: %d recovered (%d of them without their last steps), %d refused\n", counts.recovered,
              counts.lost_steps, counts.refused);
  if (crashes >= 60) {
    EXPECT_GT(counts.lost_steps, 0) << "no crash lost anything: this proved nothing";
    EXPECT_GT(counts.refused, 0) << "no hole behind a flush was met";
  }
}

TEST(a_crash, with_damage_below_what_was_synced_is_refused) {
  const std::uint64_t crashes = from_environment("RATCHET_CRASHES", 60) / 3;
  const std::uint64_t first_seed = from_environment("RATCHET_SEED", 1);
  int refused = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + crashes && !::testing::Test::HasFailure();
       ++seed) {
    SCOPED_TRACE("RATCHET_SEED=" + std::to_string(seed));
    std::mt19937_64 random{seed};
    driver d{random, seed % 3 == 0};
    const scratch room;
    const fs::path live = room.path() / "live";
    auto opened = open_store(options_for(live, d.opaque));
    ASSERT_TRUE(opened) << opened.error().message;
    store& s = *opened.assume_value();
    d.start(s);
    const auto at_start = log_sizes(live);
    for (std::uint64_t i = 2 + d.below(10); i > 0; --i) d.step(s);
    ASSERT_TRUE(s.sync());
    const std::uint64_t synced = s.last_step();
    const fs::path copy = room.path() / "copy";
    store_support::copy_as_killed(s, live, copy);
    for (const auto& [name, size] : log_sizes(copy)) {
      const auto start = at_start.find(name);
      spoil(d, copy / name, start == at_start.end() ? 0 : start->second);
    }
    const auto before = contents(copy);
    const auto again = open_store(options_for(copy, d.opaque));
    if (again) {  // the fault hit bytes that mean nothing: a block's padding
      EXPECT_EQ(again.assume_value()->last_step(), synced);
      EXPECT_EQ(text_of(*again.assume_value()), d.at(synced));
      continue;
    }
    ++refused;
    EXPECT_EQ(again.error().code, make_error_code(errc::state_damaged)) << again.error().message;
    EXPECT_TRUE(contents(copy) == before) << "a refusal changed a file";
  }
  EXPECT_GE(refused * 10, static_cast<int>(crashes) * 9);
}

}  // namespace
}  // namespace ratchet
