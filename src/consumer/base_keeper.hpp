// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "consumer/base_look.hpp"
#include "consumer/digest_keeper.hpp"
#include "consumer/slot_replica.hpp"
#include "ports/clock.hpp"
#include "process/log.hpp"
#include "ratchet/config.hpp"
#include "replicate/base_record.hpp"
#include "replicate/base_survey.hpp"
#include "telemetry/slot_status.hpp"

namespace ratchet {

/// Lets an owner write a base now and then, and cut the log before it. A base is written beside the work,
/// from a snapshot. Log and bases are cut only once a record that was appended behind the base counts: so the
/// owner that cuts has the newest base (docs/internals/replicated-log.md). It cuts only before a base that it
/// has written itself, and has read back as others will read it. Of other bases it learns how much the log
/// has grown, if they are whole and the log vouches for them. Thread-safety: one owner thread.
class base_keeper {
 public:
  struct dependencies {
    slot_replica& slot;
    digest_keeper& digests;  ///< told of each base
    replica& store;
    slot_log& log;
    slot_log& bases;  ///< this has it for itself while slot().leads(), and until there is a log
    const clock_port& clock;
    std::function<std::uint64_t()> draw;  ///< at random
    replicate::base_content what;         ///< layout and meaning
    base_config rules;
    std::string topic;           ///< of the log, for people
    topic_partition bases_slot;  ///< the same of the bases
    log_ptr log_lines;
    /// deferred: on the owner's thread, within turn(), as a simulation wants it.
    std::launch on{std::launch::async};
  };

  explicit base_keeper(dependencies);
  ~base_keeper() { stop(); }
  base_keeper(const base_keeper&) = delete;
  base_keeper& operator=(const base_keeper&) = delete;

  /// Does what is due; to be called behind each turn of the slot. Waits only where this instance leads no
  /// more, for what is under way: a slice of a base, or some seconds for brokers that are to delete records.
  void turn();
  /// A log is to go on from this state, and no base says yet what came before it: it must not begin.
  [[nodiscard]] bool must_wait() const { return of_.slot.position().is_before_log() && !has_begin_; }

  [[nodiscard]] base_progress progress() const;
  /// Bytes of rows that the log has got since the newest base, or since it began.
  [[nodiscard]] std::uint64_t log_since_base() const;

 private:
  enum class doing : std::uint8_t { nothing, looking, vouching, writing, checking, proving, cutting };
  struct written {
    replicate::base_end end;
    std::optional<std::int64_t> begun_at;
  };

  void stop();
  void begin();
  void write_begin();
  void look_for_newest();
  void look(base_wish);
  void ignore(std::int64_t offset, std::string_view why);
  [[nodiscard]] bool is_due() const;
  [[nodiscard]] bool is_old() const;
  void write();
  void cut();
  void take_newest(bases_found&& seen);
  void ask_for_newest();
  void take_vouched();
  void know(const replicate::found_base&);
  void take_begin(const bases_found&);
  void check();
  void turn_of_check();
  void take_checked(const bases_found&);
  void note_cut(const result<void>&);
  void prove();
  [[nodiscard]] result<void> cut_both();
  void put_off(std::string_view what, std::error_code, std::chrono::seconds pause);
  [[nodiscard]] std::optional<bases_found> looked(std::chrono::seconds pause);
  [[nodiscard]] std::optional<written> wrote(std::string_view trouble, std::chrono::seconds pause);
  [[nodiscard]] result<written> write_base(std::unique_ptr<replica_copy>, std::uint64_t base,
                                           const replicate::base_content&);

  dependencies of_;
  doing doing_{doing::nothing};
  bool has_begin_{false};                 ///< the bases have the state that the log goes on from
  std::optional<std::uint64_t> attempt_;  ///< in which this instance leads; none: it does not
  std::optional<std::chrono::steady_clock::time_point> looked_at_;  ///< for the newest base, in this attempt
  std::chrono::steady_clock::time_point proves_since_;
  std::optional<replicate::found_base> newest_;         ///< that is whole
  std::chrono::steady_clock::time_point newest_since_;  ///< when this instance met it
  std::deque<replicate::found_base> asked_;             ///< while the log is asked for the last one
  std::chrono::steady_clock::time_point asked_since_;
  std::set<std::int64_t> ignored_;  ///< offsets in the topic of the bases, each told of once
  log_pace ignored_lines_;
  std::chrono::steady_clock::time_point not_before_;  ///< where something failed
  log_pace failures_;
  std::atomic<std::uint64_t> bytes_written_{0};  ///< of the base that is being written
  std::uint64_t bases_written_{0};
  std::uint64_t base_failures_{0};
  std::string trouble_;       ///< until a base is written
  written made_;              ///< while it is checked, its lead is proved, and the log is cut
  bool is_own_begin_{false};  ///< the first base was written by this instance
  std::atomic<bool> stop_{false};
  std::future<result<bases_found>> look_;
  std::future<result<written>> write_;
  std::future<result<void>> cut_;
};

}  // namespace ratchet
