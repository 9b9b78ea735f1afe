// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sim/store/world.hpp"

#include <rocksdb/db.h>

#include <algorithm>

#include "sim/store/file_system.hpp"
#include "store/rocks_open.hpp"

namespace ratchet::store_sim {

namespace {

std::filesystem::path made(std::filesystem::path directory) {
  std::filesystem::create_directory(directory);
  return directory;
}

/// How RocksDB divides its log.
constexpr std::uint64_t k_log_block = 32768;
constexpr std::uint64_t k_log_header = 7;

/// Where a record ends that is written at `at` of the log.
std::uint64_t end_of_record(std::uint64_t at, std::uint64_t bytes) {
  while (true) {
    const std::uint64_t left = k_log_block - at % k_log_block;
    if (left < k_log_header) {
      at += left;
      continue;
    }
    const std::uint64_t part = std::min(bytes, left - k_log_header);
    at += k_log_header + part;
    bytes -= part;
    if (bytes == 0) return at;
  }
}

}  // namespace

world::world(tally& t, trace_lines* trace)
    : tally_{&t},
      trace_{trace},
      disk_{made(room_.path() / "disk")},
      env_{make_faulty_file_system(disk_)},
      state_{disk_.root() / "state"} {
  disk_.trace_into(trace);
  observe_system_calls(&disk_);
  steps_.start(0);
}

world::~world() {
  env_.allow(stepwise_env::let::everything);
  store_.reset();
  observe_system_calls(nullptr);
}

void world::say(const std::string& line) {
  if (trace_) trace_->add(line);
}

bool world::excused() {
  struck_ = struck_ || disk_.struck();
  return struck_;
}

void world::play(const history& ops) {
  ++tally_->histories;
  for (const operation& op : ops) {
    if (finished_) return;
    ++tally_->operations;
    say(to_text(op));
    std::mt19937_64 random{op.seed};
    if (!store_) open(random);
    perform(op);
    if (finished_) return;
    if (disk_.is_dead()) end_process(end::power_cut, random);
  }
}

void world::perform(const operation& op) {
  std::mt19937_64 random{op.seed};
  switch (op.kind) {
    case op_kind::step:
      return take_step(random);
    case op_kind::steps_at_block_end:
      return take_steps_at_block_end(random);
    case op_kind::sync:
      return sync_log();
    case op_kind::sync_with_step_inside:
      return sync_with_step_inside(random);
    case op_kind::background_sync:
      return sync_in_background();
    case op_kind::flush:
      return flush_some(random);
    case op_kind::compact:
      return compact_one(random);
    case op_kind::read:
      return read_everything();
    case op_kind::checkpoint:
      return take_checkpoint();
    case op_kind::claim:
      return claim(random);
    case op_kind::name_cluster:
      return name_cluster(random);
    case op_kind::reopen:
      return end_process(end::stop, random);
    case op_kind::kill:
      return end_process(end::kill, random);
    case op_kind::power_cut:
      return end_process(end::power_cut, random);
    case op_kind::fault:
      return arm_some(random, false);
    case op_kind::read_fault:
      return arm_some(random, true);
    case op_kind::damage:
      return damage(random);
  }
}

// What the owner of a store does.

void world::note_promise() {
  const std::uint64_t durable = store_->durable_step();
  if (durable > attempted_) breach("step " + std::to_string(durable) + " is durable and was never written");
  if (durable < promised_) breach("the durable step went back to " + std::to_string(durable));
  promised_ = durable;
}

void world::take_step(std::mt19937_64& random, std::optional<std::size_t> snapshot) {
  attempted_ = store_->last_step() + 1;
  ++tally_->steps;
  const auto written = steps_.step(*store_, random, snapshot);
  env_.run_all();
  unsure_ = !written;
  if (!written) return after_failure(written.error(), random);
  note_promise();
}

/// A reader of the log that meets zeros passes over the rest of their block without a word, and begins again
/// where a record begins with a block. Left to chance that is so rare that the hole would hardly ever be met.
void world::take_steps_at_block_end(std::mt19937_64& random) {
  if (random() % 4 != 0) sync_log();
  if (!store_) return;
  constexpr std::size_t k_probe = 2000;
  const std::uint64_t before = log_bytes();
  take_step(random, k_probe);
  if (!store_) return;
  const std::uint64_t after = log_bytes();
  std::size_t record = k_probe;
  while (end_of_record(before, record) < after) ++record;
  // Too few bytes are left for a header, with room on both sides for what a length takes more or less.
  std::size_t more = 0;
  while (end_of_record(after, record + more) % k_log_block != k_log_block - k_log_header / 2 - 1) ++more;
  take_step(random, k_probe + more);
  if (!store_) return;
  if ((k_log_block - log_bytes() % k_log_block) % k_log_block < k_log_header) ++tally_->block_ends;
  for (std::uint64_t i = 1 + random() % 3; store_ && i > 0; --i) take_step(random);
}

void world::sync_log() {
  const std::uint64_t before = store_->last_step();
  std::mt19937_64 random{before};
  const auto synced = store_->sync();
  env_.run_all();
  if (!synced) return after_failure(synced.error(), random);
  if (store_->durable_step() != before) breach("a sync returned, and its steps are not durable");
  note_promise();
}

void world::sync_with_step_inside(std::mt19937_64& random) {
  const std::uint64_t before = store_->last_step();
  result<void> written = BOOST_OUTCOME_V2_NAMESPACE::success();
  disk_.at_next_log_sync([&] {
    attempted_ = before + 1;
    ++tally_->steps;
    written = steps_.step(*store_, random);
  });
  const auto synced = store_->sync();
  disk_.at_next_log_sync(nullptr);
  env_.run_all();
  unsure_ = !written;
  if (store_->durable_step() > before) breach("a sync covers a step that was written while it ran");
  if (!synced) return after_failure(synced.error(), random);
  note_promise();
  if (!written) return after_failure(written.error(), random);
}

void world::sync_in_background() {
  // Its end shows in the durable step alone.
  if (store_->durable_step() == store_->last_step()) return;
  std::mt19937_64 random{store_->last_step()};
  store_->request_sync();
  while (store_->durable_step() < store_->last_step() && store_->failure().empty()) std::this_thread::yield();
  if (!store_->failure().empty()) {
    return after_failure(store_->sync() ? std::error_code{} : make_error_code(errc::write_indeterminate),
                         random);
  }
  note_promise();
}

void world::flush_some(std::mt19937_64& random) {
  env_.allow(stepwise_env::let::flushes);
  database& db = database_of(*store_);
  for (std::size_t f = 0; f < k_family_names.size(); ++f) {
    if (random() % 2 == 0) continue;
    const rocksdb::Status s = db.db().Flush({}, db.handle(static_cast<family>(f)));
    if (!s.ok() && !excused()) breach("a flush failed: " + s.ToString());
  }
  env_.run_all();
  note_promise();
}

void world::compact_one(std::mt19937_64& random) {
  env_.allow(stepwise_env::let::everything);
  database& db = database_of(*store_);
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  const auto f = static_cast<family>(random() % k_family_names.size());
  const rocksdb::Status s = db.db().CompactRange(options, db.handle(f), nullptr, nullptr);
  env_.run_all();
  if (!s.ok() && !excused()) breach("a compaction failed: " + s.ToString());
}

void world::claim(std::mt19937_64& random) {
  const std::uint64_t number = random();
  const auto drawn = store_->draw_incarnation(0, number);
  env_.run_all();
  if (!drawn) {
    std::uint64_t highest = 0;
    for (const incarnation& i : incarnations_) highest = std::max(highest, i.counter);
    maybe_incarnation_ = incarnation{highest + 1, number};
    return after_failure(drawn.error(), random);
  }
  incarnations_.push_back(drawn.assume_value());
  note_promise();
}

void world::name_cluster(std::mt19937_64& random) {
  const std::string name = "cluster-" + std::to_string(random() % 1000);
  const auto named = store_->set_cluster_id(name);
  env_.run_all();
  if (!named) {
    maybe_cluster_ = name;
    return after_failure(named.error(), random);
  }
  cluster_ = name;
  note_promise();
}

void world::arm(const fault& f) {
  struck_ = struck_ || disk_.struck();
  armed_reads_ = armed_reads_ || f.of_reads;
  disk_.arm(f);
}

void world::arm_some(std::mt19937_64& random, bool of_reads) {
  fault f;
  f.kind = of_reads ? fault_kind::io_error : static_cast<fault_kind>(random() % 4);
  f.at = 1 + random() % (random() % 2 == 0 ? 6 : 60);
  f.lasting = random() % 3 == 0;
  f.of_reads = of_reads;
  f.seed = random();
  say("  " + std::string{name_of(f.kind)} + " at the " + (of_reads ? "read " : "call ") +
      std::to_string(f.at) + " from now" + (f.lasting ? ", and from there on" : ""));
  arm(f);
}

}  // namespace ratchet::store_sim
