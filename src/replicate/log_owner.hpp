// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ratchet/types.hpp"
#include "replicate/log_reader.hpp"
#include "replicate/log_request.hpp"

/// One instance's part in a slot's log: it follows the log, and owns the slot where the group says so. Pure:
/// it says what is to be appended and read, and is told what became of it. The rule by which a step is
/// confirmed is here, beside the reader that it rests on (docs/internals/replicated-log.md).
namespace ratchet::replicate {

enum class owner_phase : std::uint8_t {
  standby,     ///< the group gave the slot to somebody else, or to nobody
  claiming,    ///< the next fence needs a commit that the group takes: claim_answered()
  must_fence,  ///< the next fence may be made: make_fence()
  fencing,     ///< the fence is under way, or the log is read up to it
  leading,     ///< steps may be appended
  late,        ///< the group gave the slot away meanwhile, and will say so
  stopped,     ///< the log may not be read on: reader().refused() says why
};
/// A word for people, as `must_fence`.
[[nodiscard]] const char* name_of(owner_phase) noexcept;

/// A step that counts for ever.
struct confirmed_step {
  log_position position;    ///< with it; to be kept with its rows
  std::string_view rows;    ///< valid during the call
  bool own{false};          ///< this instance made it, in this attempt
  std::uint32_t layout{0};  ///< which layout its rows are written in
};

/// A record that counts and is no part of a step.
struct counted_note {
  const log_record& record;  ///< a point or a digest; valid during the call
  std::uint64_t step{0};     ///< the last step before it
  std::int64_t offset{0};    ///< its own; a log is read again from its last step on in each attempt
  bool own{false};           ///< this instance made it, in this attempt
};

struct owner_options {
  reader_options reading;
  std::uint32_t layout{0};  ///< of the rows that this instance writes
  hash128 meaning;          ///< of its streams
  hash128 new_lineage;      ///< drawn anew: what the history is called if this instance begins it
  std::string instance;     ///< as k_name_bytes says
  std::string advertise;    ///< as k_name_bytes says
  std::size_t chunk_bytes{k_chunk_bytes};
  /// A step is confirmed: its rows go into the store. Called in the order of the steps, each once, from
  /// read() and acknowledged(); must not call the owner.
  std::function<void(const confirmed_step&)> apply;
  /// A point or a digest counts: all steps before it have been applied, and none behind it. Must not call the
  /// owner. None: they are passed over.
  std::function<void(const counted_note&)> noted;
  /// The steps from the first to the last number that were appended in the attempt that is over now count
  /// only where the log is read to say so: their pending rows go. Must not call the owner.
  std::function<void(std::uint64_t first, std::uint64_t last)> dropped;
};

/// Thread-safety: one owner thread.
class log_owner {
 public:
  explicit log_owner(owner_options, const log_position& from = {});

  [[nodiscard]] owner_phase phase() const { return phase_; }
  [[nodiscard]] const log_reader& reader() const { return reader_; }

  /// The group gave the slot to this instance, in this generation of the group.
  void assigned(std::uint32_t generation);
  /// The slot was taken back or lost. What is not confirmed is dropped.
  void unassigned();
  /// The group took the claim, or refused it. Ignored but in claiming.
  void claim_answered(bool accepted);

  /// In must_fence: the fence to append. `writer` is drawn at random for each. The producer of an earlier
  /// attempt must not append anything behind this by a call that comes later.
  [[nodiscard]] append_request make_fence(std::uint64_t writer);
  /// In leading: makes the next step of these rows, and adds its records to `to`. False where they are more
  /// than k_step_bytes: nothing was made.
  [[nodiscard]] bool append_step(std::string rows, std::vector<append_request>& to);
  /// In leading: a record that changes nothing, its fence once more, to append. What is not known of the log
  /// when it is acknowledged is read. See proved_lead().
  [[nodiscard]] append_request make_proof();
  /// The record of the last make_proof() counts: no other instance had fenced when the brokers took it.
  [[nodiscard]] bool proved_lead() const {
    return phase_ == owner_phase::leading && proof_offset_ && *proof_offset_ <= known_to();
  }
  /// In leading: a point or a digest, to append. What of its head is the attempt's is filled in.
  [[nodiscard]] append_request make_note(log_record);
  /// The brokers keep a record, at `offset` where they say so. Reports of earlier attempts are ignored.
  void acknowledged(const append_ticket&, std::optional<std::int64_t> offset);
  /// A record will never be known to be there: the attempt is over. False: reports of earlier attempts are
  /// ignored.
  bool failed(const append_ticket&);
  /// Its fence is under way, and nobody has said what became of it.
  [[nodiscard]] bool awaits_fence_report() const {
    return phase_ == owner_phase::fencing && !fence_acknowledged_;
  }

  /// What is to be read now. In standby, claiming, must_fence and late: everything, as it comes. While it
  /// leads: only what the brokers have acknowledged beyond what is known.
  [[nodiscard]] std::optional<read_range> wants() const;
  /// Takes the record at the first offset that wants() names. None: it is another one, as where what was
  /// read before ended the attempt, and nothing was done. Whatever was fetched behind it is void then.
  std::optional<fate> read(std::int64_t offset, std::string_view bytes);
  /// The log has no records from `first` to `last`, and at these. Ignored where `first` is not the first
  /// offset that wants() names.
  void read_through(std::int64_t first, std::int64_t last);
  /// The bounds of the log, [first, end), as the brokers told them; `known` is what reader().known_offset()
  /// was when they were asked. To be told before the first read, and now and then later: so an owner that has
  /// nothing to append learns of another's fence, and each learns of records that were lost.
  void look(std::int64_t known, std::int64_t first_offset, std::int64_t end_offset);
  /// The log may be another one by now, as behind a topic that was missing: the attempt is over, and what is
  /// read next is the record at the position, which must be the same.
  void read_again();

  /// Ends all reading for a reason that the caller has found, as where the log begins behind the position and
  /// nothing leads there. The first refusal stays.
  void refuse(refusal why) { stop(why); }

  /// The last step that was made; the last that is confirmed is reader().position().step.
  [[nodiscard]] std::uint64_t made_step() const { return made_step_; }
  /// Of steps that are not confirmed.
  [[nodiscard]] std::size_t pending_bytes() const { return pending_bytes_; }
  [[nodiscard]] std::size_t pending_steps() const { return pending_.size(); }

 private:
  struct pending_step {
    std::uint64_t number{0};
    hash128 chain;
    std::string rows;
  };
  struct pending_chunk {
    log_record record;  ///< its rows are a view of its step's
    std::string note;   ///< the bytes of a point or a digest, of which the record has the head alone
    bool acknowledged{false};
    std::optional<std::int64_t> offset;
  };

  void choose();
  void lead();
  void end_attempt();
  void drop();
  void settle();
  void check_fence();
  void note(fate, std::string_view bytes);
  void tell_note(std::string_view bytes) const;
  [[nodiscard]] bool is_front(const log_record&, std::string_view bytes) const;
  [[nodiscard]] bool front_is_known() const;
  [[nodiscard]] bool is_of_attempt(const append_ticket&) const;
  [[nodiscard]] bool is_wanted(std::int64_t offset) const;
  [[nodiscard]] std::int64_t known_to() const { return reader_.next_offset() - 1; }
  [[nodiscard]] record_head head_of(record_kind) const;
  [[nodiscard]] fence_body fence() const;
  void stop(refusal);

  owner_options options_;
  log_reader reader_;
  owner_phase phase_{owner_phase::standby};
  std::optional<std::uint32_t> generation_;  ///< of the assignment
  bool claimed_{false};                      ///< the group took a claim for the next fence

  log_epoch epoch_;          ///< of this attempt; {} outside of one
  std::uint64_t writer_{0};  ///< of this attempt
  bool fence_acknowledged_{false};
  bool fence_met_{false};
  std::optional<std::int64_t> fence_offset_;  ///< where it was acknowledged, as the brokers said

  std::uint64_t made_step_{0};
  hash128 made_chain_;
  std::deque<pending_step> pending_;
  std::deque<pending_chunk> chunks_;  ///< of them, those that are not known to be in the log
  std::size_t pending_bytes_{0};
  std::int64_t look_to_{-1};
  std::optional<std::int64_t> proof_offset_;  ///< where the last proof was acknowledged
  std::uint16_t notes_{0};                    ///< names the next note's ticket
};

}  // namespace ratchet::replicate
