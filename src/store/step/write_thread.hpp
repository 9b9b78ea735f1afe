// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rocksdb/write_batch.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "store/engine/column_families.hpp"
#include "store/engine/store_options.hpp"
#include "store/step/sync_thread.hpp"

namespace ratchet {

/// Writes one batch at a time to the database, while the owner goes on with the next step. A write that fails
/// is told by every call that follows it. Thread-safety: start() and fail() by the owner, the rest from any
/// thread.
class write_thread {
 public:
  /// Borrows the database and the syncs, which are told of each step that is written.
  write_thread(database&, sync_thread&, write_on);
  /// Ends the write under way.
  ~write_thread();
  write_thread(const write_thread&) = delete;
  write_thread& operator=(const write_thread&) = delete;

  static constexpr std::uint64_t k_no_step = 0;
  /// Waits for the write before this one, and begins it. The batch is borrowed until wait_for_write() or the
  /// next start() returns. Errors: write_indeterminate, of a write before this one, which is left out then;
  /// with write_on::owner_thread of this one, too.
  [[nodiscard]] result<void> start(rocksdb::WriteBatch&, std::uint64_t step);
  /// Waits for the write under way: whoever reads from the database comes after it. Errors:
  /// write_indeterminate, of any write so far.
  [[nodiscard]] result<void> wait_for_write() const;
  /// Has a sync follow that covers the write under way.
  void request_sync();

  /// No write may come any more: `why` is what a person is told.
  void fail(const std::string& why);
  [[nodiscard]] bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }
  /// Why, in the words of the system.
  [[nodiscard]] std::string failure() const;

 private:
  void run();
  void write(rocksdb::WriteBatch&, std::uint64_t step);
  [[nodiscard]] result<void> outcome() const;

  database* db_;
  sync_thread* syncs_;
  std::atomic<bool> failed_{false};

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::string failure_;
  rocksdb::WriteBatch* batch_{nullptr};  ///< under way
  std::uint64_t step_{k_no_step};
  bool sync_after_{false};
  bool stop_{false};
  std::thread thread_;  ///< last: it uses all of the above; none with write_on::owner_thread
};

}  // namespace ratchet
