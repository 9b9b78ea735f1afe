// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <rocksdb/db.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "sim/store/world.hpp"
#include "store/open/verify.hpp"
#include "store/rocks_open.hpp"

/// How processes of a world end, and how the next one begins.
namespace ratchet::store_sim {

namespace fs = std::filesystem;
using store_steps::options_for;

void world::end_process(end how, std::mt19937_64& random) {
  if (disk_.is_dead()) how = end::power_cut;
  if (how != end::stop) disk_.kill();
  env_.allow(stepwise_env::let::everything);
  store_.reset();
  env_.run_all();
  if (disk_.struck()) ++tally_->faults;
  if (how == end::stop && disk_.is_dead()) how = end::power_cut;
  struck_ = false;
  switch (how) {
    case end::stop:
      return disk_.heal();
    case end::kill:
      ++tally_->kills;
      say("  killed");
      return disk_.heal();
    case end::power_cut:
      ++tally_->power_cuts;
      say("  power cut");
      disk_.cut_power(random);
      for (const finished_checkpoint& c : checkpoints_) expect_checkpoint(c);
      return;
  }
}

void world::after_failure(const std::error_code& code, std::mt19937_64& random) {
  if (!excused()) breach("failed, with nothing wrong: " + code.message() + "; " + store_->failure());
  ++tally_->failed_stores;
  say("  failed: " + store_->failure());
  // A step that cannot read what it needs says so; that nothing more is taken holds for it all the same.
  const bool is_of_a_read = armed_reads_ && code != std::error_code{};
  if (code != make_error_code(errc::write_indeterminate) && !is_of_a_read)
    breach("failed as something else: " + code.message());
  const std::uint64_t durable = store_->durable_step();
  step_batch nothing;
  nothing.step = store_->last_step() + 1;
  if (store_->write(nothing)) breach("a store that failed takes another step");
  if (store_->sync()) breach("a store that failed syncs");
  if (store_->draw_incarnation(0, 1)) breach("a store that failed draws an incarnation");
  store_->request_sync();
  // A thread that goes on where it must not has its turn.
  for (int i = 0; i < 5 && store_->durable_step() == durable; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  // Where no write failed, the steps before are there and may be synced.
  if (!is_of_a_read && store_->durable_step() != durable) breach("a store that failed promises more");
  note_promise();
  constexpr std::array k_ends{end::stop, end::kill, end::power_cut, end::power_cut};
  end_process(k_ends[random() % k_ends.size()], random);
}

void world::open(std::mt19937_64& random) {
  for (int attempts = 0; !store_; ++attempts) {
    if (attempts > 3) breach("a healthy disk does not help");
    env_.allow(stepwise_env::let::flushes);
    auto opened = open_store(options_for(state_), &env_);
    const std::string why = opened ? std::string{} : opened.error().message;
    if (opened) store_ = std::move(opened).assume_value();
    env_.run_all();
    if (!store_) {
      if (!excused()) breach("does not open, with nothing wrong: " + why);
      ++tally_->failed_opens;
      say("  does not open: " + why);
    }
    if (!store_ || disk_.is_dead()) end_process(random() % 2 == 0 ? end::stop : end::power_cut, random);
    if (store_) check_recovered();
  }
}

void world::check_recovered() {
  ++tally_->opened;
  const std::uint64_t step = store_->last_step();
  say("  opened at step " + std::to_string(step) + "; " + std::to_string(promised_) + " was promised, " +
      std::to_string(attempted_) + " begun");
  if (step < promised_) {
    breach("step " + std::to_string(promised_) + " was durable, and the store is at " + std::to_string(step));
  }
  if (step > attempted_) breach("the store is at a step that was never written");
  if (step < attempted_) ++tally_->lost_steps;
  if (step == attempted_ && unsure_) ++tally_->kept_unsure;
  unsure_ = false;
  if (store_->durable_step() != step) breach("what was recovered is not durable");
  steps_.rewind(step);
  promised_ = attempted_ = step;
  check_catalog();
  read_everything();
  if (fs::exists(state_ / "CHECKPOINT.new") && !excused()) breach("an unfinished checkpoint is left");
}

void world::check_catalog() {
  if (uuid_.empty()) uuid_ = store_->uuid();
  if (store_->uuid() != uuid_) breach("the store has another uuid");
  auto want = incarnations_;
  const auto found = store_->incarnations();
  if (found != want && maybe_incarnation_) want.push_back(*maybe_incarnation_);
  if (found != want) breach("an incarnation is missing, or one that was never drawn is there");
  incarnations_ = want;
  maybe_incarnation_.reset();
  const std::string cluster = store_->cluster_id();
  if (cluster != cluster_ && cluster != maybe_cluster_) breach("the cluster's name is " + cluster);
  cluster_ = cluster;
  maybe_cluster_.reset();
}

void world::finish() {
  if (finished_) return;
  say("the end");
  std::mt19937_64 random{attempted_};
  if (store_) end_process(random() % 2 == 0 ? end::stop : end::power_cut, random);
  disk_.disarm();
  open(random);
  take_step(random);
  sync_log();
  say("  everything unsafe is lost");
  disk_.kill();
  env_.allow(stepwise_env::let::everything);
  store_.reset();
  env_.run_all();
  disk_.lose_everything_unsafe();
  {
    const unobserved_process here{disk_};
    const auto findings = verify_store(state_);
    if (!findings) breach("verify: " + findings.error().message);
    if (!findings.assume_value().empty()) breach("verify: " + findings.assume_value()[0]);
  }
  open(random);
  env_.allow(stepwise_env::let::everything);
  store_.reset();
  env_.run_all();
  if (!checkpoints_.empty()) {
    const finished_checkpoint& last = checkpoints_.back();
    env_.allow(stepwise_env::let::flushes);
    const auto started = open_store(options_for(last.path), &env_);
    if (!started) breach("a checkpoint does not start: " + started.error().message);
    if (started.assume_value()->last_step() != last.step) breach("a checkpoint starts at another step");
    env_.allow(stepwise_env::let::everything);
  }
}

std::string failure_of(const history& ops, tally& counts, trace_lines* trace, const fault* f) {
  try {
    world w{counts, trace};
    if (f) w.arm(*f);
    w.play(ops);
    w.finish();
    return {};
  } catch (const violation& v) {
    return v.what();
  }
}

history shrink(history ops) {
  constexpr int k_most_tries = 400;
  int tries = 0;
  tally unused;
  for (std::size_t size = ops.size() / 2; size > 0; size /= 2) {
    for (std::size_t at = 0; at + size <= ops.size() && tries < k_most_tries;) {
      history fewer = ops;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(at),
                  fewer.begin() + static_cast<std::ptrdiff_t>(at + size));
      ++tries;
      if (failure_of(fewer, unused, nullptr).empty()) {
        at += size;
      } else {
        ops = std::move(fewer);
      }
    }
  }
  return ops;
}

}  // namespace ratchet::store_sim
