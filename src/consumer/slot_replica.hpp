// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "consumer/base_voucher.hpp"
#include "consumer/lead_attempts.hpp"
#include "consumer/slot_restore.hpp"
#include "ports/clock.hpp"
#include "ports/replica.hpp"
#include "ports/slot_log.hpp"
#include "ratchet/error.hpp"
#include "replicate/log_owner.hpp"

namespace ratchet {

/// Lets a log's owner, its port and a store take turns: what the log confirms is applied to the store, and
/// what the store has decided is appended to the log. Thread-safety: one owner thread.
class slot_replica {
 public:
  struct dependencies {
    slot_log& log;
    slot_log& bases;  ///< a log that begins behind the store is gone on with from a base
    replica& store;
    const clock_port& clock;
    std::function<std::uint64_t()> draw_writer;  ///< at random
    topic_partition where{};                     ///< the log, for people
  };

  /// `apply` and `dropped` of the options are its own.
  slot_replica(const dependencies&, replicate::owner_options);
  slot_replica(const slot_replica&) = delete;
  slot_replica& operator=(const slot_replica&) = delete;

  /// Does what is due, without waiting. Errors: topic_missing, which passes; what the store could not do, and
  /// what the log's client could not. Where the log may not be read on, or the store refuses what it has,
  /// refused() says so.
  [[nodiscard]] result<void> turn();
  /// Waits until a turn may have something to do, at most so long.
  void wait(std::chrono::milliseconds longest) { of_.log.wait(longest); }

  /// Appends a step that the store has decided. Only while it leads. Errors: write_indeterminate, where it
  /// cannot be appended: the attempt is over.
  [[nodiscard]] result<void> publish(std::uint64_t step);
  /// False: no further step is to be made before a turn has confirmed some.
  [[nodiscard]] bool has_room() const { return of_.log.has_room(); }

  [[nodiscard]] bool leads() const {
    return !restores_to_ && owner_.phase() == replicate::owner_phase::leading;
  }
  /// The group must be asked by a commit whether this instance is not late.
  [[nodiscard]] bool awaits_claim() const {
    return owner_.phase() == replicate::owner_phase::claiming && tries_.is_due(of_.clock.steady());
  }
  void claim_answered(bool accepted) { owner_.claim_answered(accepted); }
  /// It was asked, and gave no answer: it is asked again later.
  void claim_failed(std::error_code why) { note_failure(lead_failure::kind::claim, why); }
  void assigned(std::uint32_t generation);
  void unassigned();
  /// How many fences it has made: in another attempt it may decide other steps than in the one before.
  [[nodiscard]] std::uint64_t attempt() const { return attempts_; }
  /// Why the attempts before the next one failed, and when that one is due.
  [[nodiscard]] const lead_attempts& tries() const { return tries_; }
  [[nodiscard]] lead_attempts& tries() { return tries_; }
  /// The group should give the slot to another instance for now.
  [[nodiscard]] bool gives_way() const { return tries_.gives_way(of_.clock.steady()); }
  /// Ends an attempt in which steps are not confirmed; they go.
  void drop_unconfirmed();
  /// Reads anew what the store remembers, behind steps of others. Errors: as replica::reload().
  [[nodiscard]] result<void> reload() { return of_.store.reload(); }

  /// While it is held, nothing of the log, or of a base, gets into the store.
  void hold(bool held);
  [[nodiscard]] bool is_held() const { return is_held_; }

  /// It is about to lead, or reads what lies before its end: there is something to do at once.
  [[nodiscard]] bool is_under_way() const {
    return owner_.phase() == replicate::owner_phase::fencing || has_more_;
  }
  /// The last turn had something to read: the next one may have, too, without a wait.
  [[nodiscard]] bool has_more() const { return has_more_; }
  /// Of the rows of a base that is being read into the store; none: none is.
  [[nodiscard]] std::optional<std::uint64_t> restored_bytes() const {
    if (!restores_to_) return std::nullopt;
    return restore_ ? restore_->bytes() : 0;
  }

  /// Appends a point or a digest. Only while it leads.
  void append_note(replicate::log_record note) { of_.log.append(owner_.make_note(std::move(note))); }
  /// Appends a record that counts only if this instance leads, and is_proven() says so then. Only while it
  /// leads.
  void prove_lead() { of_.log.append(owner_.make_proof()); }
  /// No other instance had fenced when the brokers took the record of the last prove_lead(). Not any more
  /// behind an attempt that ended.
  [[nodiscard]] bool is_proven() const { return leads() && owner_.proved_lead(); }
  /// Asks the log, while this instance leads, whether it goes on from a base of that position: vouched() says
  /// so then. Another question takes the place of the one before.
  void vouch_for(const replicate::log_position& base);
  [[nodiscard]] std::optional<bool> vouched() const { return vouched_; }
  /// The first offset that the log has, as it was told last; none: it was not told yet.
  [[nodiscard]] std::optional<std::int64_t> log_first() const {
    return bounds_ ? std::optional{bounds_->first} : std::nullopt;
  }
  /// The log's bounds as they were told last; none: they were not told yet.
  [[nodiscard]] const std::optional<told_bounds>& bounds() const { return bounds_; }
  /// When this replica was last known to have all that the log had; none: not since it began.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> complete_at() const {
    return complete_at_;
  }
  /// The brokers do not know the log's topic, as they said last.
  [[nodiscard]] bool is_missing() const { return missing_at_.has_value(); }
  /// When the record was appended that it has read last; none: it has read none, or nobody said.
  [[nodiscard]] std::optional<timestamp> read_time() const { return read_time_; }
  /// Whose fence the log has last, as far as this replica knows.
  [[nodiscard]] std::optional<slot_owner> owner() const { return of_.store.owner(); }
  [[nodiscard]] replicate::owner_phase phase() const { return owner_.phase(); }
  [[nodiscard]] const replicate::log_reader& reader() const { return owner_.reader(); }
  /// What the last turn() has failed with is an error of the store.
  [[nodiscard]] bool has_failed_store() const { return static_cast<bool>(failed_); }
  /// It has read the log to the end that it had, or that it had when its bounds were told last.
  [[nodiscard]] bool is_at_end() const { return is_at_end_; }
  /// What is known of the log's end is old: the process may have stood still, while others went on. It is to
  /// be found anew, by what the brokers are asked from now on.
  void doubt_end();
  [[nodiscard]] const replicate::log_position& position() const { return owner_.reader().position(); }
  /// Why this log and this store do not go together; none while they do.
  [[nodiscard]] std::optional<problem> refused() const;

 private:
  void take_reports();
  void look_at_fence();
  void note_failure(lead_failure::kind, std::error_code, std::uint64_t step = 0, std::uint64_t bytes = 0);
  [[nodiscard]] result<void> take_bounds();
  [[nodiscard]] result<void> begin_restore(std::int64_t log_first);
  [[nodiscard]] result<void> go_on_restoring();
  [[nodiscard]] result<void> open_bases();
  void end_restore();
  [[nodiscard]] result<void> read();
  [[nodiscard]] result<void> vouch();
  void apply(const replicate::confirmed_step&);
  void drop();
  void look();
  void read_anew();
  void note_fence(std::string_view record);
  void note_complete();

  dependencies of_;
  replicate::owner_options options_;
  replicate::log_owner owner_;
  std::optional<slot_restore> restore_;      ///< while a base is read
  std::optional<base_voucher> voucher_;      ///< while the log is asked for a base
  std::optional<bool> vouched_;              ///< what it has said
  std::optional<std::uint32_t> generation_;  ///< in which the group gave the slot to this instance
  std::optional<std::int64_t> restores_to_;  ///< while it does: where the log begins
  std::optional<std::chrono::steady_clock::time_point> no_base_since_;
  std::optional<told_bounds> bounds_;  ///< as they were told last; they are told before the first read
  std::optional<std::chrono::steady_clock::time_point> looked_at_;
  std::optional<std::chrono::steady_clock::time_point> bounds_at_;    ///< when they were
  std::optional<std::chrono::steady_clock::time_point> complete_at_;  ///< see complete_at()
  std::optional<timestamp> read_time_;
  std::optional<std::chrono::steady_clock::time_point> missing_at_;  ///< when that was said last
  std::uint64_t attempts_{0};
  lead_attempts tries_;
  std::optional<std::chrono::steady_clock::time_point> fenced_at_;  ///< when the last fence was appended
  bool is_at_end_{false};
  bool is_asked_{false};       ///< the brokers, for bounds
  bool is_answer_old_{false};  ///< the one that is awaited is of before doubt_end()
  bool is_held_{false};
  bool has_more_{false};    ///< the last read has brought something
  std::error_code failed_;  ///< what the store, or the log's client, said first
  std::optional<apply_refusal> unfit_;
};

}  // namespace ratchet
