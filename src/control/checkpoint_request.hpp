// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pipeline/posted_tasks.hpp"
#include "ports/clock.hpp"
#include "process/log.hpp"
#include "ratchet/error.hpp"
#include "store/open/checkpoint.hpp"

/// `ratchet checkpoint`: what is asked, and what is answered.
///
///     {"path": P, "store": UUID, "step": N, "taken_at": TIME, "files": N, "bytes": N,
///      "streams": {NAME: {"partitions": [{"topic": T, "partition": N, "next_offset": N}]}}}
namespace ratchet {

struct checkpoint_request {
  std::filesystem::path target;  ///< absolute: the instance that takes it has a working directory of its own
  bool json{false};
  friend bool operator==(const checkpoint_request&, const checkpoint_request&) = default;
};

/// As words on the control socket.
[[nodiscard]] std::vector<std::string> to_words(const checkpoint_request&);
/// None where the words ask for something else, or for a path that is not absolute.
[[nodiscard]] std::optional<checkpoint_request> parse_checkpoint_words(std::span<const std::string> words);

/// The answer, ending in a line feed.
[[nodiscard]] std::string checkpoint_report(const checkpoint_taken&, bool json);

/// Has the thread that owns the store call it, between two steps, and waits until that is done; see
/// posted_tasks::run().
using at_owner =
    std::function<task_end(const std::function<void(checkpointable&)>&, std::chrono::milliseconds patience)>;
/// By a task of its mailbox. Borrows it.
[[nodiscard]] at_owner by_task(posted_tasks&);

/// Takes checkpoints of a running instance: flush and links on the owner's thread, between two steps; all the
/// rest on the caller's. Thread-safety: take() on any thread; one at a time, others are refused.
class checkpoint_taker {
 public:
  checkpoint_taker(std::filesystem::path state_dir, at_owner owner, const clock_port& clock, log_ptr log)
      : state_dir_{std::move(state_dir)}, owner_{std::move(owner)}, clock_{clock}, log_{std::move(log)} {}

  /// Errors: usage (the target); source_unavailable (the owner is busy, another checkpoint is being taken, or
  /// it was cancelled); held_back (too many tasks wait); of the store and the system.
  [[nodiscard]] reported<checkpoint_taken> take(const std::filesystem::path& target,
                                                const cancel_check& cancelled);

 private:
  std::filesystem::path state_dir_;
  at_owner owner_;
  const clock_port& clock_;
  log_ptr log_;
  std::mutex one_at_a_time_;
};

}  // namespace ratchet
