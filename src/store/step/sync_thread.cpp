// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/step/sync_thread.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/assert.hpp"
#include "ports/thread_edge.hpp"
#include "ports/thread_name.hpp"

namespace ratchet {

namespace {

/// Whole files of ids below the floor are looked for when the floor first moves, and then no more often than
/// this: each find is a manifest write.
constexpr std::chrono::seconds k_drop_interval{30};
constexpr std::size_t k_most_pending_floors = 1024;

}  // namespace

sync_thread::sync_thread(database& db, synced_file file, std::shared_ptr<durable_floors> floors,
                         std::uint64_t recovered, durable_signal& signal)
    : db_{&db},
      file_{std::move(file)},
      floors_{std::move(floors)},
      signal_{&signal},
      written_{recovered},
      durable_{recovered},
      thread_{[this] { run(); }} {}

sync_thread::~sync_thread() {
  {
    const std::scoped_lock lock{mutex_};
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void sync_thread::note_floor(std::uint64_t step, stream_id stream, timestamp floor) {
  const auto [noted, is_new] = noted_floors_.try_emplace(stream, floor);
  if (!is_new && noted->second == floor) return;  // most steps move none, and need no lock
  noted->second = floor;
  const std::scoped_lock lock{mutex_};
  if (pending_floors_.size() >= k_most_pending_floors) {
    // Floors only grow, so that a later one says all that an earlier one does, only later.
    const auto last = std::find_if(pending_floors_.rbegin(), pending_floors_.rend(),
                                   [stream](const pending_floor& f) { return f.stream == stream; });
    if (last != pending_floors_.rend()) pending_floors_.erase(std::prev(last.base()));
  }
  pending_floors_.push_back({step, stream, floor});
}

std::string sync_thread::failure() const {
  const std::scoped_lock lock{mutex_};
  return failure_;
}

bool sync_thread::fail(std::string why) {
  const std::scoped_lock lock{mutex_};
  failure_ = std::move(why);
  return false;
}

void sync_thread::request() {
  {
    const std::scoped_lock lock{mutex_};
    requested_ = started_ + 1;
  }
  wake_.notify_one();
}

result<void> sync_thread::sync_and_wait() {
  std::unique_lock lock{mutex_};
  const std::uint64_t mine = requested_ = started_ + 1;
  wake_.notify_one();
  done_.wait(lock, [&] { return finished_ >= mine || failed(); });
  if (failed()) return make_error_code(errc::write_indeterminate);
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

void sync_thread::run() {
  name_this_thread("ratchet:sync");
  std::unique_lock lock{mutex_};
  while (true) {
    wake_.wait(lock, [&] { return stop_ || requested_ > started_; });
    if (stop_) return;
    const std::uint64_t mine = ++started_;
    lock.unlock();
    const auto begin = std::chrono::steady_clock::now();
    bool synced = false;
    at_edge([&] { synced = sync_once(); }, [this](const char* thrown) { (void)fail(thrown); });
    seconds_.observe(std::chrono::duration<double>{std::chrono::steady_clock::now() - begin}.count());
    lock.lock();
    if (!synced) failed_.store(true, std::memory_order_release);
    finished_ = mine;
    done_.notify_all();
    if (!synced) return;
  }
}

bool sync_thread::sync_once() {
  if (write_failed_.load(std::memory_order_acquire)) return fail("a write had failed before");
  // RocksDB syncs logs of its own accord before it flushes; what failed there must not be tried again here.
  if (std::string why = db_->stopped_by(); !why.empty()) return fail(std::move(why));
  const std::uint64_t step = written();
  const bool moves = step != durable();
  RATCHET_ASSERT(step >= durable());
  if (const rocksdb::Status s = db_->db().SyncWAL(); !s.ok()) return fail(s.ToString());
  if (step != file_.step()) {
    if (const auto written = file_.write(step); !written) {
      return fail("the file SYNCED cannot be written: " + written.error().message());
    }
  }
  durable_.store(step, std::memory_order_release);
  publish_floors(step);
  if (moves) signal_->moved();
  if (floor_moved_ && (!last_drop_ || std::chrono::steady_clock::now() - *last_drop_ >= k_drop_interval)) {
    drop_files();
  }
  return true;
}

void sync_thread::publish_floors(std::uint64_t durable_step) {
  const std::scoped_lock lock{mutex_};
  while (!pending_floors_.empty() && pending_floors_.front().step <= durable_step) {
    floors_->raise(pending_floors_.front().stream, pending_floors_.front().floor);
    pending_floors_.pop_front();
    floor_moved_ = true;
  }
}

void sync_thread::drop_files() {
  floor_moved_ = false;
  last_drop_ = std::chrono::steady_clock::now();
  drop_id_files(db_->db(), db_->handle(family::dedup), *floors_->read());
}

}  // namespace ratchet
