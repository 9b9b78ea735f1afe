// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ratchet/types.hpp"
#include "replicate/log_epoch.hpp"
#include "replicate/log_record.hpp"

/// The one rule that says which records of a log count. A pure fold over the records in the order of their
/// offsets: whether a record counts depends on nothing but those before it. So all who read a prefix of a log
/// agree on it, now and later (docs/internals/replicated-log.md).
namespace ratchet::replicate {

/// How far a reader has come, at the last record that moved it. A replica keeps this with its rows.
struct log_position {
  std::optional<hash128> lineage;  ///< of the log; none before its first fence
  log_epoch epoch;                 ///< of the highest fence
  std::uint64_t writer{0};         ///< of the highest fence
  std::uint64_t fenced_step{0};    ///< the last step before that fence
  std::uint64_t step{0};           ///< the last step that counts
  hash128 chain;                   ///< of that step
  std::int64_t offset{-1};         ///< of the record that moved it: a fence, or the last one of `step`
  bool at_fence{false};            ///< that record is the fence
  std::uint64_t bytes{0};          ///< of the rows of all steps up to `step`
  /// Of a state that had steps before it had a log: the log is to go on from here, and has no record yet.
  [[nodiscard]] bool is_before_log() const { return lineage && step > 0 && epoch == log_epoch{}; }
  /// Rows may be of this position: it is behind a step, or before the log. A fence changes no rows.
  [[nodiscard]] bool is_of_rows() const {
    if (is_before_log()) return fenced_step == step && offset == -1;
    return step > fenced_step && epoch != log_epoch{} && offset >= 0;
  }
  friend bool operator==(const log_position&, const log_position&) = default;
};

/// Where a log begins whose steps go on from those of a state without one. `drawn` at random: no two logs go
/// on from the same place.
[[nodiscard]] log_position position_before_log(const hash128& lineage, std::uint32_t slot, std::uint64_t step,
                                               const hash128& drawn) noexcept;

/// What became of a record.
enum class fate : std::uint8_t {
  resumed,     ///< it is the record at the reader's position, which is as it was
  fence,       ///< its writer goes on from here
  chunk,       ///< a part of the next step
  step,        ///< the last part: the step counts, see log_reader::rows()
  point,       ///< each replica computes a digest of its state here
  digest,      ///< what the writer's state was at a point
  again,       ///< sent twice: it has counted before
  zombie,      ///< of an epoch that is over
  rival,       ///< of this epoch, but of another writer than the fence that counts
  gap,         ///< a step or a part before it is missing: it was never written
  foreign,     ///< of another history
  unreadable,  ///< no record, and nobody's who counts
  refused,     ///< may not be read on: see log_reader::refused()
};
inline constexpr std::size_t k_fates = static_cast<std::size_t>(fate::refused) + 1;
/// A word for people, as `zombie`.
[[nodiscard]] const char* name_of(fate) noexcept;

/// Why a log may not be read on. What a reader has taken is contradicted, or it cannot read what counts. No
/// record of anybody else than the writer that counts, or of one that fences, brings this about.
enum class refusal : std::uint8_t {
  begins_later,   ///< the log begins behind this reader's position
  ends_earlier,   ///< the log ends before this reader's position
  other_record,   ///< at this reader's position the log has another record
  offset_back,    ///< offsets do not rise, or an acknowledged record is not where it was acknowledged
  fence_missing,  ///< a step of an epoch that no fence has begun here
  other_lineage,  ///< the log is of another history than the reader's state
  other_meaning,  ///< its writer's streams mean something else than the reader's
  newer_version,  ///< a later version of Ratchet wrote a record that counts
  newer_layout,   ///< a later version of Ratchet wrote rows that count
  steps_lost,     ///< its writer began again at a step that this reader has
  other_begin,  ///< the log begins behind another step than the reader's state, or behind another copy of it
  steps_missing,   ///< its writer knows a confirmed step that the log does not have before this record
  other_chain,     ///< a step follows another history than the one before it here, or other bytes
  damaged,         ///< a record of the writer that counts cannot be read
  epochs_used_up,  ///< a record is of the last epoch that can be written, so no owner could fence behind it
};
/// A word for people, as `steps_lost`.
[[nodiscard]] const char* name_of(refusal) noexcept;
/// What happened and what to do, for people: without the slot, and without numbers.
[[nodiscard]] const char* words_of(refusal) noexcept;

/// What a reader is told before it begins.
struct reader_options {
  std::uint32_t slot{0};
  std::uint32_t newest_layout{0};  ///< of rows that this program can apply
  std::optional<hash128> lineage;  ///< of the state that the steps are to go into; none: it has none yet
  std::optional<hash128> meaning;  ///< of this program's streams; none: whatever they mean
};

/// Reads a slot's log. Thread-safety: one thread at a time.
class log_reader {
 public:
  /// Begins at `from`, which an earlier reader came to, or at the log's start.
  explicit log_reader(const reader_options&, const log_position& from = {});

  /// The offset of the first record to take: that at the position, or the one behind the last.
  [[nodiscard]] std::int64_t next_offset() const { return next_offset_; }
  /// The last offset that the log is known to reach to; -1: none.
  [[nodiscard]] std::int64_t known_offset() const { return resuming_ ? at_.offset : next_offset_ - 1; }
  /// Refuses a log that does not have what comes next, or not any more what was taken: [first, end) are the
  /// offsets that it had when known_offset() was `known`.
  void check_bounds(std::int64_t known, std::int64_t first_offset, std::int64_t end_offset);

  /// Takes the record at `offset`, and says what became of it. Behind a refusal nothing is taken any more.
  [[nodiscard]] fate take(std::int64_t offset, std::string_view bytes);
  /// The same of a record that this program itself has written there, and whose chain it has computed.
  [[nodiscard]] fate take_own(std::int64_t offset, const log_record&);
  /// Reads again from the record at the position on, or from the log's start, and refuses where another
  /// record is there by now. The parts that were held are to be given again.
  void go_back();
  /// The log has no records below `offset` but those that were taken. (Markers of transactions are none.)
  void skip_to(std::int64_t offset);

  /// Behind fate::step: all its rows. Valid until the next take(), as long as the record's bytes are.
  [[nodiscard]] std::string_view rows() const { return rows_; }
  /// Behind fate::step: which layout they are written in.
  [[nodiscard]] std::uint32_t layout() const { return layout_; }
  [[nodiscard]] const log_position& position() const { return at_; }
  [[nodiscard]] bool leads(log_epoch epoch, std::uint64_t writer) const {
    return epoch == at_.epoch && writer == at_.writer && epoch != log_epoch{};
  }
  [[nodiscard]] std::optional<refusal> refused() const { return refused_; }
  /// Which record it refused; none: it refused the log as it is.
  [[nodiscard]] std::optional<std::int64_t> refused_at() const { return refused_at_; }
  /// How many records had this fate, each counted when it was first read.
  [[nodiscard]] std::uint64_t count_of(fate) const;
  /// Ends the reading for a reason that the caller has found. The first refusal stays.
  fate refuse(refusal);

 private:
  [[nodiscard]] fate judge(std::int64_t offset, const log_record&, record_fault, bool own);
  [[nodiscard]] fate judge_next(std::int64_t offset, const log_record&, record_fault, bool own);
  [[nodiscard]] fate take_resumed(std::int64_t offset, const log_record&, record_fault);
  [[nodiscard]] fate take_fence(std::int64_t offset, const log_record&);
  [[nodiscard]] fate take_chunk(std::int64_t offset, const log_record&, bool own);
  [[nodiscard]] fate take_note(const log_record&);
  [[nodiscard]] std::optional<fate> judge_writer(const record_head&);
  [[nodiscard]] fate take_step(std::int64_t offset, const chunk_body&, bool own);
  [[nodiscard]] fate count(std::int64_t offset, fate);

  reader_options options_;
  log_position at_;
  std::int64_t next_offset_{0};
  bool resuming_{false};  ///< the next record must be the one at the position
  unsigned held_{0};      ///< parts of the next step that are here
  bool all_own_{true};    ///< take_own() gave all of them
  std::string parts_;     ///< their rows
  std::string_view rows_;
  std::uint32_t layout_{0};
  std::optional<refusal> refused_;
  std::optional<std::int64_t> refused_at_;
  std::int64_t counted_to_{-1};
  std::array<std::uint64_t, k_fates> counts_{};
};

}  // namespace ratchet::replicate
