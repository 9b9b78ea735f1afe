// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/histogram.hpp"
#include "core/stream_state.hpp"
#include "ports/clock.hpp"
#include "ports/store.hpp"

namespace ratchet {

/// The largest values that a process has written of a stream, in bytes; 0: none.
struct largest_values {
  std::uint64_t snapshot{0};
  std::uint64_t table_row{0};
};

/// What a sync has made durable of a stream.
struct stream_sample {
  std::string name;
  ratchet::counters counters;
  std::optional<timestamp> floor;
  std::chrono::milliseconds window{0};
  std::vector<std::pair<topic_partition, std::int64_t>> next_offsets;
  std::optional<timestamp>
      gap_since;  ///< stream time when the oldest gap began; none where no gap has an age
  largest_values largest;

  /// In stream time; 0 where no gap has an age.
  [[nodiscard]] std::chrono::milliseconds oldest_gap() const noexcept;
};

/// The state as of one durable step: a power cut cannot take back what it says.
struct state_sample {
  std::uint64_t step{0};
  outbox_state outbox;                                     ///< for Kafka
  std::map<std::string, outbox_state, std::less<>> sinks;  ///< for each sink
  std::vector<stream_sample> streams;
};

/// What the process holds, as looked at every few seconds.
struct resource_sample {
  store_statistics store;
  std::uint64_t queued_bytes{0};            ///< fetched, and not handed over yet
  std::optional<std::uint64_t> free_bytes;  ///< where the state lies
  std::uint64_t reserve_bytes{0};  ///< to be kept free there; 0: it is not looked at, or not known yet
};

/// What one process counts of itself; begins at 0 with each.
struct run_counts {
  histogram_counts step_seconds;
  histogram_counts step_records;
  std::uint64_t commits{0};
  std::uint64_t commit_failures{0};
  std::uint64_t rebalances{0};
  std::uint64_t new_clients{0};
  std::uint64_t store_reopens{0};
  std::uint64_t outputs_sent{0};
  std::uint64_t outputs_given_up{0};
  bool outputs_in_trouble{false};  ///< messages do not get through at the moment
  std::uint64_t undurable_steps{0};
  std::chrono::nanoseconds durability_lag{0};  ///< how long the durable step has not moved while steps wait
};

/// How long the owner thread may go without a turn, and how long what is no turn may take: opening a store
/// that has a long log to read, asking slow brokers about many partitions.
struct progress_bounds {
  std::chrono::seconds turn{60};
  std::chrono::seconds long_work{600};
};

/// Where the owner thread of a running instance counts, and whether it makes progress.
/// Thread-safety: beat() and what counts from the owner thread; reading from any. Only publish() takes a
/// lock, a few times a second; the rest are atomics.
class run_meter {
 public:
  explicit run_meter(const clock_port&, progress_bounds = {});

  /// The owner thread has come around once more.
  void beat() noexcept;
  /// What may take longer than a turn, while it lives.
  class long_work {
   public:
    /// `what` says what it does, as in "opening the state directory"; must outlive this.
    long_work(run_meter& meter, const char* what) noexcept;
    ~long_work();
    long_work(const long_work&) = delete;
    long_work& operator=(const long_work&) = delete;

   private:
    run_meter& meter_;
    const char* before_;
  };
  /// What the owner thread hangs in; none while it makes progress.
  [[nodiscard]] std::optional<std::string> stalled() const;

  void step(std::chrono::nanoseconds took, std::size_t records) noexcept;
  void commit_ended(bool well) noexcept { (well ? commits_ : commit_failures_).fetch_add(1, k_relaxed); }
  void assigned() noexcept { rebalances_.fetch_add(1, k_relaxed); }
  void outputs_sent(std::uint64_t more, bool trouble) noexcept {
    outputs_sent_.fetch_add(more, k_relaxed);
    outputs_in_trouble_.store(trouble, k_relaxed);
  }
  void output_given_up() noexcept { outputs_given_up_.fetch_add(1, k_relaxed); }
  void client_made_anew() noexcept { new_clients_.fetch_add(1, k_relaxed); }
  void store_opened_again() noexcept { store_reopens_.fetch_add(1, k_relaxed); }
  /// `moved`: when the durable step last moved, or nothing waited for it.
  void durability(std::uint64_t undurable_steps, std::chrono::steady_clock::time_point moved) noexcept;

  void publish(state_sample);
  void publish(resource_sample);

  [[nodiscard]] run_counts counts() const;
  [[nodiscard]] state_sample state() const;
  [[nodiscard]] resource_sample resources() const;

 private:
  static constexpr auto k_relaxed = std::memory_order_relaxed;
  [[nodiscard]] std::int64_t now() const noexcept;

  const clock_port& clock_;
  progress_bounds bounds_;
  std::atomic<std::int64_t> last_beat_;  ///< steady nanoseconds, as durable_moved_
  std::atomic<const char*> long_work_{nullptr};
  histogram<k_duration_bounds.size()> step_seconds_;
  histogram<8> step_records_;
  std::atomic<std::uint64_t> commits_{0};
  std::atomic<std::uint64_t> commit_failures_{0};
  std::atomic<std::uint64_t> rebalances_{0};
  std::atomic<std::uint64_t> new_clients_{0};
  std::atomic<std::uint64_t> store_reopens_{0};
  std::atomic<std::uint64_t> outputs_sent_{0};
  std::atomic<std::uint64_t> outputs_given_up_{0};
  std::atomic<bool> outputs_in_trouble_{false};
  std::atomic<std::uint64_t> undurable_steps_{0};
  std::atomic<std::int64_t> durable_moved_{0};

  mutable std::mutex mutex_;
  state_sample state_;
  resource_sample resources_;
};

}  // namespace ratchet
