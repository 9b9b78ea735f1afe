// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <rocksdb/db.h>

#include <fstream>

#include "sim/store/world.hpp"
#include "store/open/checkpoint.hpp"
#include "store/open/read_only.hpp"
#include "store/rocks_open.hpp"

/// Reading, copying and spoiling the store of a world.
namespace ratchet::store_sim {

namespace fs = std::filesystem;
using store_steps::contents;
using store_steps::options_for;

void world::read_everything() {
  const auto text = store_steps::text_of(*store_);
  if (!text) {
    if (!excused()) breach("cannot be read: " + text.error().message());
    return;
  }
  const std::uint64_t step = store_->last_step();
  if (text.assume_value() != steps_.at(step)) {
    breach("not the state of step " + std::to_string(step) + ", which is\n" + steps_.at(step) + "but\n" +
           text.assume_value());
  }
  look_up();
}

void world::look_up() {
  step_plan plan;
  std::vector<std::string> names;
  for (int i = 0; i < 20; ++i) names.push_back("p" + std::to_string(i));
  for (const std::string& name : names) plan.add(name);
  plan.needs_snapshots = true;
  std::vector<bool> wanted;
  const store_steps::oracle& now = steps_.now();
  for (const auto& [id, aggregate] : now.ids) {
    if (!store_steps::is_in_window(now.state, id)) continue;
    const auto index = static_cast<std::uint32_t>(std::stoul(aggregate.substr(1)));
    plan.ids.push_back({index, id});
    wanted.push_back(true);
    plan.ids.push_back({index, {id.high, id.low + (1U << 21U)}});
    wanted.push_back(false);
  }
  step_rows rows;
  const auto found = store_->lookup(store_->id_of(store_steps::k_stream_name), plan, rows);
  if (!found) {
    if (!excused()) breach("a look-up failed: " + found.error().message());
    return;
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto want = now.rows.find(names[i]);
    const std::string got = rows.aggregates[i] ? store_steps::print_row(*rows.aggregates[i]) : "";
    if (got != (want == now.rows.end() ? "" : want->second)) breach("a look-up gives another " + names[i]);
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if ((rows.id_stored[i] != 0) != wanted[i]) breach("a look-up is wrong about an id");
  }
}

void world::take_checkpoint() {
  const finished_checkpoint wanted{disk_.root() / ("copy" + std::to_string(checkpoints_.size())),
                                   store_->last_step(), steps_.at(store_->last_step())};
  env_.allow(stepwise_env::let::flushes);
  const auto attempt = [&]() -> reported<checkpoint_taken> {
    RATCHET_TRY(auto progress, checkpoint_in_progress::begin(state_, wanted.path));
    progress.use(&env_);
    const auto step = store_->checkpoint(progress.linked());
    if (!step) return problem{step.error(), "cannot link: " + step.error().message(), "", {}};
    return progress.finish(step.assume_value(), timestamp{}, {});
  };
  const auto taken = attempt();
  env_.run_all();
  if (!taken && !excused()) breach("a checkpoint failed: " + taken.error().message);
  if (taken && taken.assume_value().step != wanted.step) breach("a checkpoint is of another step");
  const unobserved here;
  if (taken || (fs::exists(wanted.path) && !disk_.is_dead())) {
    expect_checkpoint(wanted);
    if (taken) {
      ++tally_->checkpoints;
      checkpoints_.push_back(wanted);
    } else {
      fs::remove_all(wanted.path);  // in use by nobody; the next one wants the name
      disk_.removed(wanted.path);
    }
  }
}

void world::expect_checkpoint(const finished_checkpoint& wanted) {
  const unobserved_process here{disk_};
  const auto copy = open_store_read_only(wanted.path);
  if (!copy) breach("a finished checkpoint does not open: " + copy.error().message);
  const auto view = copy.assume_value()->view();
  if (!view) breach("a finished checkpoint cannot be viewed: " + view.error().message());
  const auto text = store_steps::text_of(*view.assume_value(), copy.assume_value()->streams().at(0).id);
  if (!text) breach("a finished checkpoint cannot be read: " + text.error().message());
  if (text.assume_value() != wanted.text)
    breach("a finished checkpoint is not the state of step " + std::to_string(wanted.step));
}

fs::path world::newest_log() const {
  const unobserved here;
  fs::path newest;
  for (const auto& entry : fs::directory_iterator{state_}) {
    if (entry.path().extension() == ".log") newest = std::max(newest, entry.path());
  }
  return newest;
}

std::uint64_t world::log_bytes() const {
  const fs::path log = newest_log();
  return log.empty() ? 0 : fs::file_size(log);
}

void world::spoil(const fs::path& file, std::uint64_t way, std::mt19937_64& random) {
  const unobserved here;
  const std::uint64_t size = fs::file_size(file);
  const std::uint64_t at = random() % size;
  const std::string name = file.filename().string();
  if (way == 1) {
    fs::resize_file(file, at);
    return say("  " + name + " ends at byte " + std::to_string(at) + " of " + std::to_string(size));
  }
  std::fstream io{file, std::ios::in | std::ios::out | std::ios::binary};
  if (way == 2) {
    constexpr std::uint64_t k_page = 4096;
    const std::uint64_t begin = at / k_page * k_page;
    const std::string zeros(std::min(k_page * (1 + random() % 8), size - begin), '\0');
    io.seekp(static_cast<std::streamoff>(begin));
    io << zeros;
    return say("  " + std::to_string(zeros.size()) + " bytes from byte " + std::to_string(begin) + " of " +
               name + " are zero");
  }
  io.seekg(static_cast<std::streamoff>(at));
  const char flipped = static_cast<char>(io.get() ^ (1 << (random() % 8)));
  io.seekp(static_cast<std::streamoff>(at));
  io.put(flipped);
  say("  a bit of byte " + std::to_string(at) + " of " + name + " is flipped");
}

void world::damage(std::mt19937_64& random) {
  end_process(random() % 2 == 0 ? end::stop : end::power_cut, random);
  disk_.disarm();
  std::vector<fs::path> files;
  if (fs::exists(state_)) {
    for (const auto& entry : fs::directory_iterator{state_}) {
      if (entry.is_regular_file() && entry.file_size() > 0 && entry.path().filename() != "LOG")
        files.push_back(entry.path());
    }
  }
  if (files.empty()) return;
  std::sort(files.begin(), files.end());
  // Logs more often: in them alone damage may look like the end of what was written.
  std::vector<fs::path> logs;
  std::copy_if(files.begin(), files.end(), std::back_inserter(logs),
               [](const fs::path& f) { return f.extension() == ".log"; });
  const bool of_log = !logs.empty() && random() % 3 != 0;
  const std::vector<fs::path>& from = of_log ? logs : files;
  const fs::path& file = from[random() % from.size()];
  spoil(file, random() % 3, random);
  ++tally_->damaged;
  open_damaged(file);
  finished_ = true;
}

void world::open_damaged(const fs::path& file) {
  const auto before = contents(state_);
  env_.allow(stepwise_env::let::flushes);
  auto opened = open_store(options_for(state_), &env_);
  if (!opened) {
    ++tally_->damage_refused;
    say("  refused: " + opened.error().message);
    if (opened.error().code != make_error_code(errc::state_damaged))
      breach("damage in " + file.filename().string() +
             " is called something else: " + opened.error().message);
    if (contents(state_) != before) breach("a refusal changed a file");
    return;
  }
  store_ = std::move(opened).assume_value();
  env_.run_all();
  const std::uint64_t step = store_->last_step();
  if (step < promised_ || step > attempted_) breach("opened at step " + std::to_string(step));
  const auto text = store_steps::text_of(*store_);
  if (text && text.assume_value() != steps_.at(step)) breach("damage passed for the state of another step");
  if (!text) {
    ++tally_->damage_read;
    say("  met while reading: " + text.error().message());
    if (text.error() != make_error_code(errc::state_damaged))
      breach("reading calls damage something else: " + text.error().message());
  }
  // Whoever goes on meets it at a compaction, which must fail rather than copy it.
  std::mt19937_64 random{step};
  struck_ = true;
  for (int i = 0; i < 6; ++i) compact_one(random);
  const auto again = store_steps::text_of(*store_);
  if (again && again.assume_value() != steps_.at(step)) breach("a compaction has copied damage");
  env_.allow(stepwise_env::let::everything);
  store_.reset();
}

}  // namespace ratchet::store_sim
