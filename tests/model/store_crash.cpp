// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "store/rocks_open.hpp"
#include "store/rocks_store.hpp"
#include "store/synced_file.hpp"

/// The fault model: the machine loses power. What was synced is there. Of the write-ahead log behind that,
/// any part may be missing, zero or wrong, in any order. Column families may have been flushed at any moment
/// before. Wanted: an exact prefix of the steps in every column family, not below SYNCED; or a refusal that
/// changed no file. RATCHET_CRASHES sets the number of crashes, RATCHET_SEED the first seed. A failure prints
/// its seed.
namespace ratchet {
namespace {

namespace fs = std::filesystem;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

class scratch {
 public:
  scratch() {
    // Memory, where there is a file system for it: thousands of syncs on a disk take minutes.
    std::error_code code;
    const fs::path base =
        fs::is_directory("/dev/shm", code) ? fs::path{"/dev/shm"} : fs::temp_directory_path();
    std::string name = (base / "ratchet-crash-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  ~scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

store_options options_for(const fs::path& path) {
  store_options o;
  o.path = path;
  o.group = "group";
  o.streams = {{"payments", {{"order", "latest"}}}};
  o.memory_bytes = std::uint64_t{32} << 20U;
  return o;
}

/// The state as one text, from the oracle or from a store: equal texts are equal states.
struct oracle {
  std::map<std::string, aggregate_row> rows;
  std::set<std::pair<event_id, std::string>> ids;
  stream_state state;
  std::vector<std::string> audits;
  std::map<std::uint64_t, std::string> rejected;  // by step
};

void print_row(std::ostream& out, std::string_view aggregate, const aggregate_row& row) {
  out << "row " << aggregate << ' ' << row.last.number << ' ' << row.deleted << ' ' << row.snapshot.size()
      << ' ' << std::hash<std::string>{}(row.snapshot) << '\n';
}

void print_state(std::ostream& out, const stream_state& s) {
  out << "applied " << s.counters.applied << " consumed " << s.counters.consumed << '\n';
  for (const auto& [where, p] : s.partitions)
    out << "partition " << where.topic << ' ' << p.next_offset << '\n';
}

std::string text_of(const oracle& o) {
  std::ostringstream out;
  for (const auto& [aggregate, row] : o.rows) print_row(out, aggregate, row);
  for (const auto& [id, aggregate] : o.ids)
    out << "id " << id.high << ' ' << id.low << ' ' << aggregate << '\n';
  print_state(out, o.state);
  for (auto at = o.rejected.rbegin(); at != o.rejected.rend(); ++at) out << "rejected " << at->second << '\n';
  for (const std::string& a : o.audits) out << "audit " << a << '\n';
  return out.str();
}

std::string text_of(const store& s) {
  std::ostringstream out;
  const stream_id stream = s.id_of("payments");
  const auto view = s.view();
  EXPECT_TRUE(view);
  EXPECT_TRUE(view.assume_value()->scan(stream, [&](const scanned_row& r) {
    print_row(out, r.aggregate, r.row);
    return true;
  }));
  EXPECT_TRUE(view.assume_value()->scan_ids(stream, [&](std::string_view aggregate, event_id id) {
    out << "id " << id.high << ' ' << id.low << ' ' << aggregate << '\n';
    return true;
  }));
  const auto state = view.assume_value()->load(stream);
  EXPECT_TRUE(state);
  print_state(out, state.assume_value());
  const auto rejected = view.assume_value()->rejected(stream, 1000);
  EXPECT_TRUE(rejected);
  for (const rejected_row& r : rejected.assume_value()) out << "rejected " << r.detail << '\n';
  const auto audits = view.assume_value()->audits();
  EXPECT_TRUE(audits);
  for (const audit_row& a : audits.assume_value()) out << "audit " << a.text << '\n';
  return out.str();
}

/// Takes random steps on a store and on the oracle alike.
class driver {
 public:
  explicit driver(std::mt19937_64& random) : random_{&random} {}

  std::uint64_t below(std::uint64_t bound) { return (*random_)() % bound; }

  void step(store& s) {
    const std::uint64_t number = s.last_step() + 1;
    step_plan plan;
    stream_change change;
    std::vector<std::string> names;
    std::set<std::uint64_t> chosen;
    for (std::uint64_t i = 1 + below(6); i > 0; --i) chosen.insert(below(20));
    for (const std::uint64_t c : chosen) names.push_back("p" + std::to_string(c));
    for (std::uint32_t i = 0; i < names.size(); ++i) {
      plan.aggregates.push_back(names[i]);
      // The step's number is in everything that it writes, so that no part of a step can pass for another's.
      aggregate_row row;
      row.last = seq(number);
      row.deleted = below(8) == 0;
      if (!row.deleted) row.snapshot = std::string(snapshot_size(), static_cast<char>('a' + number % 26));
      const event_id id{number << 16U, below(1U << 20U)};
      change.rows.push_back({i, row});
      change.ids.push_back({i, id});
      now_.rows[names[i]] = row;
      now_.ids.emplace(id, names[i]);
    }
    stream_state& after = now_.state;
    after.counters.applied += names.size();
    after.counters.consumed += names.size();
    const topic_partition where{"topic", partition_id{static_cast<std::int32_t>(below(3))}};
    after.partitions[where].next_offset = static_cast<std::int64_t>(number);
    change.touched = {where};
    change.after = after;
    step_batch batch;
    batch.step = number;
    batch.parts.push_back({s.id_of("payments"), &plan, &change, {}});
    if (below(3) == 0) {
      rejected_row r;
      r.where = where;
      r.offset = static_cast<std::int64_t>(number);
      r.step = number;
      r.reason = reject_reason::malformed;
      r.detail = "at " + std::to_string(number);
      batch.parts[0].rejected.push_back(r);
      now_.rejected[number] = r.detail;
    }
    if (below(5) == 0) {
      batch.audits.push_back({number, timestamp{}, "test", "payments", "audit " + std::to_string(number)});
      now_.audits.push_back(batch.audits.back().text);
    }
    ASSERT_TRUE(s.write(batch));
    history_[number] = text_of(now_);
    states_[number] = now_;
  }

  void start(const store& s) {
    history_[s.last_step()] = text_of(now_);
    states_[s.last_step()] = now_;
  }
  /// Goes on from what was recovered.
  void rewind(std::uint64_t step) { now_ = states_.at(step); }
  [[nodiscard]] const std::string& at(std::uint64_t step) const { return history_.at(step); }
  [[nodiscard]] bool knows(std::uint64_t step) const { return history_.contains(step); }

 private:
  std::size_t snapshot_size() {
    switch (below(8)) {
      case 0:
        return 1025 + below(3000);
      case 1:
        return 20'000 + below(30'000);  // several blocks of the log
      default:
        return below(600);
    }
  }
  std::mt19937_64* random_;
  oracle now_;
  std::map<std::uint64_t, std::string> history_;
  std::map<std::uint64_t, oracle> states_;
};

std::map<std::string, std::uintmax_t> log_sizes(const fs::path& directory) {
  std::map<std::string, std::uintmax_t> out;
  for (const auto& entry : fs::directory_iterator{directory}) {
    if (entry.path().extension() == ".log") out[entry.path().filename().string()] = entry.file_size();
  }
  return out;
}

std::map<std::string, std::string> contents(const fs::path& directory) {
  std::map<std::string, std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator{directory}) {
    std::ifstream in{entry.path(), std::ios::binary};
    out[entry.path().filename().string()] = {std::istreambuf_iterator<char>{in}, {}};
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
  EXPECT_TRUE(database_of(s).db().PauseBackgroundWork().ok());
  fs::remove_all(copy);
  fs::copy(live, copy, fs::copy_options::recursive);
  EXPECT_TRUE(database_of(s).db().ContinueBackgroundWork().ok());
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
  auto opened = open_store(options_for(copy));
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
  opened = open_store(options_for(copy));
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
  for (std::uint64_t seed = first_seed; seed < first_seed + crashes && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("RATCHET_SEED=" + std::to_string(seed) + " RATCHET_CRASHES=1");
    std::mt19937_64 random{seed};
    driver d{random};
    const scratch room;
    const fs::path live = room.path() / "live";
    const fs::path copy = room.path() / "copy";
    auto opened = open_store(options_for(live));
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
  for (std::uint64_t seed = first_seed; seed < first_seed + crashes && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("RATCHET_SEED=" + std::to_string(seed));
    std::mt19937_64 random{seed};
    driver d{random};
    const scratch room;
    const fs::path live = room.path() / "live";
    auto opened = open_store(options_for(live));
    ASSERT_TRUE(opened) << opened.error().message;
    store& s = *opened.assume_value();
    d.start(s);
    const auto at_start = log_sizes(live);
    for (std::uint64_t i = 2 + d.below(10); i > 0; --i) d.step(s);
    ASSERT_TRUE(s.sync());
    const std::uint64_t synced = s.last_step();
    const fs::path copy = room.path() / "copy";
    fs::copy(live, copy, fs::copy_options::recursive);
    for (const auto& [name, size] : log_sizes(copy)) {
      const auto start = at_start.find(name);
      spoil(d, copy / name, start == at_start.end() ? 0 : start->second);
    }
    const auto before = contents(copy);
    const auto again = open_store(options_for(copy));
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
