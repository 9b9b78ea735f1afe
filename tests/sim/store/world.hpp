// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/store_steps.hpp"
#include "sim/store/disk.hpp"
#include "sim/store/env.hpp"
#include "sim/store/history.hpp"

namespace ratchet::store_sim {

/// Something that must always hold did not.
struct violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What was met, so that a run which proved nothing shows.
struct tally {
  std::uint64_t histories{0};
  std::uint64_t operations{0};
  std::uint64_t steps{0};
  std::uint64_t opened{0};
  std::uint64_t power_cuts{0};
  std::uint64_t kills{0};
  std::uint64_t faults{0};          ///< that hit a call
  std::uint64_t failed_opens{0};    ///< because of one
  std::uint64_t failed_stores{0};   ///< that reported it
  std::uint64_t lost_steps{0};      ///< written, promised to nobody, and gone
  std::uint64_t kept_unsure{0};     ///< a write that failed was there after all
  std::uint64_t block_ends{0};      ///< steps that begin where a block of the log does
  std::uint64_t checkpoints{0};     ///< made
  std::uint64_t damaged{0};         ///< stores that were damaged
  std::uint64_t damage_refused{0};  ///< the store did not open
  std::uint64_t damage_read{0};     ///< it opened, and reading met it
};

/// A store on a faulty disk, an oracle beside it, and what has been promised. Whatever is played, it checks:
/// after each opening the store is an exact prefix of the steps in every column family, not below what a
/// finished sync promised; a failed write is there or not, never half; a store that failed refuses everything
/// and promises nothing more; a checkpoint that has its name can be used; a store is refused only where a
/// file was damaged, and then as it was. Breaches are thrown as violations.
class world {
 public:
  /// `trace` may be null.
  world(tally&, trace_lines* trace);
  ~world();
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  void play(const history&);
  /// Opens the store on a healthy disk and demands that it works, and that all of it is durable.
  void finish();

  void arm(const fault&);
  [[nodiscard]] const faulty_disk& disk() const { return disk_; }

 private:
  struct finished_checkpoint {
    std::filesystem::path path;
    std::uint64_t step;
    std::string text;
  };

  void perform(const operation&);
  void take_step(std::mt19937_64&, std::optional<std::size_t> snapshot = {});
  void take_steps_at_block_end(std::mt19937_64&);
  void sync_log();
  void sync_with_step_inside(std::mt19937_64&);
  void sync_in_background();
  void flush_some(std::mt19937_64&);
  void compact_one(std::mt19937_64&);
  void claim(std::mt19937_64&);
  void name_cluster(std::mt19937_64&);
  void arm_some(std::mt19937_64&, bool of_reads);

  void take_checkpoint();
  void expect_checkpoint(const finished_checkpoint&);
  void read_everything();
  void look_up();

  [[nodiscard]] std::filesystem::path newest_log() const;
  [[nodiscard]] std::uint64_t log_bytes() const;

  void damage(std::mt19937_64&);
  void spoil(const std::filesystem::path& file, std::uint64_t way, std::mt19937_64&);
  void open_damaged(const std::filesystem::path& file);

  /// Until there is a store: opens it, and starts again where a fault that hit prevents it.
  void open(std::mt19937_64&);
  void check_recovered();
  void check_catalog();
  /// The store said that it failed: so it must have reason to, and do nothing more. Then it is opened anew.
  void after_failure(const std::error_code&, std::mt19937_64&);
  enum class end : unsigned char { stop, kill, power_cut };
  void end_process(end, std::mt19937_64&);

  void note_promise();
  [[nodiscard]] bool excused();
  void say(const std::string&);
  [[noreturn]] static void breach(const std::string& what) { throw violation{what}; }

  tally* tally_;
  trace_lines* trace_;
  store_steps::scratch room_;
  faulty_disk disk_;
  stepwise_env env_;
  std::filesystem::path state_;
  std::unique_ptr<store> store_;

  store_steps::step_history steps_;
  std::uint64_t promised_{0};   ///< the highest step that was said to be durable
  std::uint64_t attempted_{0};  ///< the highest step of which a write was begun
  bool unsure_{false};          ///< the write of attempted_ failed
  std::string uuid_;
  std::vector<incarnation> incarnations_;
  std::optional<incarnation> maybe_incarnation_;
  std::string cluster_;
  std::optional<std::string> maybe_cluster_;
  std::vector<finished_checkpoint> checkpoints_;
  bool struck_{false};  ///< a fault has hit since this store was opened
  bool armed_reads_{false};
  bool finished_{false};
};

/// Plays a history to its end, with a fault that is armed before it begins, where one is given. Returns what
/// went wrong, or nothing.
[[nodiscard]] std::string failure_of(const history&, tally&, trace_lines* trace, const fault* = nullptr);
/// Leaves out operations as long as it still fails.
[[nodiscard]] history shrink(history);

}  // namespace ratchet::store_sim
