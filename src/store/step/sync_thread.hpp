// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "core/histogram.hpp"
#include "ports/durable_signal.hpp"
#include "store/engine/column_families.hpp"
#include "store/files/synced_file.hpp"

namespace ratchet {

/// Makes written steps durable, on a thread of its own: syncs the write-ahead log, then writes the step to
/// SYNCED, then publishes it. The durable step is the last one whose write had returned before the sync
/// began. After one failed sync there is never another: what the kernel could not write it may since call
/// clean. Thread-safety: all calls from any thread, but wrote() from the writer alone.
class sync_thread {
 public:
  /// `recovered`: a step that is durable already. Borrows the database, and the signal, which is told each
  /// time that durable() has moved.
  sync_thread(database&, synced_file, std::shared_ptr<durable_floors>, std::uint64_t recovered,
              durable_signal&);
  /// Stops after the sync under way. What was not synced stays so.
  ~sync_thread();
  sync_thread(const sync_thread&) = delete;
  sync_thread& operator=(const sync_thread&) = delete;

  /// A write has returned.
  void wrote(std::uint64_t step) noexcept { written_.store(step, std::memory_order_release); }
  /// The step that comes next carries this floor; it may be used for dropping ids once that step is durable.
  /// While nobody syncs only so many wait; then a stream's last one gives way to the new one. The floor that
  /// was noted last changes nothing. Owner thread.
  void note_floor(std::uint64_t step, stream_id, timestamp);

  /// A write has failed, and so has its log: it is not touched any more.
  void write_failed() noexcept { write_failed_.store(true, std::memory_order_release); }

  void request();
  /// Waits for a sync that began after this call. Errors: write_indeterminate.
  [[nodiscard]] result<void> sync_and_wait();

  [[nodiscard]] std::uint64_t written() const noexcept { return written_.load(std::memory_order_acquire); }
  [[nodiscard]] std::uint64_t durable() const noexcept { return durable_.load(std::memory_order_acquire); }
  [[nodiscard]] histogram_counts durations() const { return seconds_.snapshot(); }
  [[nodiscard]] bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }
  /// Why, in the words of the system.
  [[nodiscard]] std::string failure() const;

 private:
  struct pending_floor {
    std::uint64_t step;
    stream_id stream;
    timestamp floor;
  };
  void run();
  bool sync_once();
  [[nodiscard]] bool fail(std::string why);
  void publish_floors(std::uint64_t durable_step);
  void drop_files();

  database* db_;
  synced_file file_;
  std::shared_ptr<durable_floors> floors_;
  durable_signal* signal_;
  std::atomic<std::uint64_t> written_;
  std::atomic<std::uint64_t> durable_;
  std::atomic<bool> failed_{false};
  histogram<k_duration_bounds.size()> seconds_{k_duration_bounds};
  std::atomic<bool> write_failed_{false};

  mutable std::mutex mutex_;
  std::string failure_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::uint64_t requested_{0};  ///< the number of the last sync asked for
  std::uint64_t started_{0};    ///< syncs begun; a request made after a begin needs the next one
  std::uint64_t finished_{0};
  bool stop_{false};
  std::deque<pending_floor> pending_floors_;
  std::map<stream_id, timestamp> noted_floors_;  ///< the last of each stream; of the owner thread

  std::optional<std::chrono::steady_clock::time_point> last_drop_;
  bool floor_moved_{false};
  std::thread thread_;  ///< last: it uses all of the above
};

}  // namespace ratchet
