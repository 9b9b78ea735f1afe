// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <optional>

#include "consumer/slot_replica.hpp"
#include "ports/clock.hpp"
#include "process/log.hpp"
#include "ratchet/config.hpp"
#include "replicate/log_owner.hpp"
#include "telemetry/slot_status.hpp"

namespace ratchet {

/// Compares the state of each replica with the owner's, piece by piece. The owner appends a point to the log
/// now and then. Each replica that meets it reads a piece of its state, as of the steps before it, and hashes
/// it beside the work. The owner appends its hash, and the others compare theirs
/// (docs/internals/replicated-log.md). Thread-safety: one owner thread.
class digest_keeper {
 public:
  struct dependencies {
    slot_replica& slot;
    replica& store;
    const clock_port& clock;
    std::function<std::uint64_t()> draw;  ///< at random
    digest_config rules;
    std::uint64_t rate{0};  ///< at most so many bytes of rows a second
    log_ptr log_lines;
    /// deferred: on the owner's thread, within turn(), as a simulation wants it.
    std::launch on{std::launch::async};
  };
  explicit digest_keeper(dependencies of) : of_{std::move(of)} {}
  ~digest_keeper() { drop(); }
  digest_keeper(const digest_keeper&) = delete;
  digest_keeper& operator=(const digest_keeper&) = delete;

  /// For replicate::owner_options::noted.
  void take(const replicate::counted_note&);
  /// Does what is due; to be called behind each turn of the slot. Never waits.
  void turn();
  /// The owner's next piece is all of the state.
  void ask_for_all() { wants_all_ = true; }
  [[nodiscard]] const digest_findings& found() const { return found_; }

 private:
  struct piece {
    replicate::digest_body body;
    row_place behind;  ///< where the next piece begins
  };

  void take_point(const replicate::counted_note&);
  void finish(const piece&);
  void compare(const replicate::digest_body& here, const replicate::digest_body& there);
  void make_point();
  void drop();
  [[nodiscard]] result<piece> read(replica_copy& from, const replicate::digest_body&, std::uint64_t most);

  dependencies of_;
  digest_findings found_;
  row_place next_;                                                   ///< where the owner's next piece begins
  bool wants_all_{false};                                            ///< of the next point
  std::optional<std::chrono::steady_clock::time_point> pointed_at_;  ///< when the owner made its last point
  std::uint64_t met_{0};                         ///< the number of the last point that was met
  std::int64_t met_at_{-1};                      ///< and where
  std::optional<std::uint64_t> own_in_;          ///< the piece that is read is for a point of this attempt
  std::optional<replicate::digest_body> here_;   ///< of the last piece, until the owner tells its own
  std::optional<replicate::digest_body> there_;  ///< what the owner told while the piece is still read
  std::atomic<bool> stop_{false};
  std::future<result<piece>> reading_;
  log_pace lines_;
};

}  // namespace ratchet
