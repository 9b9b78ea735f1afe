// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/step/write_thread.hpp"

#include <utility>

#include "ports/thread_edge.hpp"
#include "ports/thread_name.hpp"

namespace ratchet {

write_thread::write_thread(database& db, sync_thread& syncs, write_on where) : db_{&db}, syncs_{&syncs} {
  if (where == write_on::own_thread) thread_ = std::thread{[this] { run(); }};
}

write_thread::~write_thread() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock{mutex_};
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

result<void> write_thread::start(rocksdb::WriteBatch& batch, std::uint64_t step) {
  RATCHET_TRY(wait_for_write());
  if (!thread_.joinable()) {
    write(batch, step);
    return outcome();
  }
  {
    const std::scoped_lock lock{mutex_};
    batch_ = &batch;
    step_ = step;
  }
  changed_.notify_all();
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

result<void> write_thread::wait_for_write() const {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] { return batch_ == nullptr; });
  return outcome();
}

result<void> write_thread::outcome() const {
  if (failed()) return make_error_code(errc::write_indeterminate);
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

void write_thread::request_sync() {
  {
    const std::scoped_lock lock{mutex_};
    if (batch_ != nullptr) {
      sync_after_ = true;
      return;
    }
  }
  syncs_->request();
}

void write_thread::fail(const std::string& why) {
  const std::scoped_lock lock{mutex_};
  failure_ = why;
  failed_.store(true, std::memory_order_release);
}

std::string write_thread::failure() const {
  const std::scoped_lock lock{mutex_};
  return failure_;
}

/// Whether a write that failed is there nobody knows before the store was opened again.
void write_thread::write(rocksdb::WriteBatch& batch, std::uint64_t step) {
  const auto failed = [this](const std::string& why) {
    syncs_->write_failed();
    fail(why);
  };
  at_edge(
      [&] {
        const rocksdb::Status s = db_->db().Write(rocksdb::WriteOptions{}, &batch);
        if (!s.ok()) {
          failed(s.ToString());
        } else if (step != k_no_step) {
          syncs_->wrote(step);
        }
      },
      failed);
}

void write_thread::run() {
  name_this_thread("ratchet:write");
  std::unique_lock lock{mutex_};
  while (true) {
    changed_.wait(lock, [this] { return batch_ != nullptr || stop_; });
    if (batch_ == nullptr) return;
    lock.unlock();
    write(*batch_, step_);
    lock.lock();
    batch_ = nullptr;
    const bool sync_after = std::exchange(sync_after_, false);
    changed_.notify_all();
    if (sync_after) syncs_->request();
  }
}

}  // namespace ratchet
