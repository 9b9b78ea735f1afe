// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ratchet/config.hpp"
#include "ratchet/resume.hpp"
#include "ratchet/types.hpp"

/// Where to resume: the store's offset is the authority, Kafka's committed offset its mirror. Pure; the table
/// of rows is in resume_row, tried in that order.
namespace ratchet {

/// All answers, in the order in which they are told; `none` is none of them.
inline constexpr std::array k_resume_options{resume_option::store, resume_option::kafka,
                                             resume_option::rebuild, resume_option::takeover,
                                             resume_option::cluster};

/// Which opening of a store wrote something: a counter, and random bits that tell a copied directory from its
/// origin.
struct incarnation {
  std::uint64_t counter{0};
  std::uint64_t random{0};
  friend constexpr bool operator==(const incarnation&, const incarnation&) = default;
};

/// What Ratchet writes beside each committed offset: `ratchet1:<store uuid>:<counter>-<random, 16
/// hex>:<step>`.
struct commit_mark {
  std::string store_uuid;
  ratchet::incarnation incarnation;
  std::uint64_t step{0};
  friend bool operator==(const commit_mark&, const commit_mark&) = default;
};
[[nodiscard]] std::string to_metadata(const commit_mark&);
/// None where the text is not ours to the letter.
[[nodiscard]] std::optional<commit_mark> parse_metadata(std::string_view);

/// What a checkpoint carries until it has become a store of its own. As long as it is there, a commit of this
/// store's is taken for that of the store it was taken from, which may have gone on since.
struct copy_mark {
  std::uint64_t step{0};  ///< at which it was taken
  timestamp taken_at;
  bool opened{false};  ///< it was opened for writing, and has drawn an outbox epoch of its own
  friend bool operator==(const copy_mark&, const copy_mark&) = default;
};

/// Whose commit it is, as seen from this store.
enum class commit_owner : std::uint8_t {
  none,          ///< nothing is committed
  ours,          ///< this store, an incarnation in its list
  ours_unknown,  ///< this store's uuid, but an incarnation it does not know: the directory is a copy, or
                 ///< restored
  other_store,   ///< another store's mark
  foreign,       ///< no mark of Ratchet's: an operator or another program
};

/// What was found at assignment, for one partition.
struct resume_facts {
  std::optional<std::int64_t> stored;     ///< S, the store's next offset
  std::optional<std::int64_t> committed;  ///< C
  commit_owner owner{commit_owner::none};
  std::optional<copy_mark> copy{};  ///< the store is a checkpoint that was not started yet
  std::int64_t log_start{0};
  std::int64_t log_end{0};
  enum class last_record : std::uint8_t {
    same,
    other,
    absent,       ///< the log has it no more
    unknown,      ///< of those that the log has below S, none was handled since S was set
    not_checked,  ///< the log has nothing below S, or S lies outside of it
  } last{last_record::not_checked};
  std::int64_t last_offset{0};  ///< of the record that `last` speaks of
  /// It had no partition of this stream when it first met this one: where that begins, `start` says.
  bool store_is_new{true};
  start_position start{start_position::earliest};
  resume_option option{resume_option::none};
  /// `rebuild` has just made this store in place of another one, and it has claimed nothing yet: what is
  /// committed is what that answers, and answers but once.
  bool rebuilt{false};
  /// S is of another cluster's log: a number that says nothing here, unless the logs are the same ones.
  bool other_cluster{false};
  /// Records that were handled there may be read again: the stream tells each by its id or its sequence.
  bool knows_repeats{true};
};

/// The rows of the table, in the order in which they are tried.
enum class resume_row : std::uint8_t {
  other_cluster,     ///< S is another cluster's
  copied_directory,  ///< ours_unknown, or ours where the store is a checkpoint
  other_store,       ///< S present, another store's mark on C
  below_log_start,   ///< S < log start
  past_log_end,      ///< S > log end
  other_record,      ///< the record at the last handled offset has another hash
  rewound,           ///< C < S, foreign
  skipped_ahead,     ///< C > S, foreign
  equal_foreign,     ///< C = S, foreign
  behind_or_absent,  ///< C <= S ours, or C absent
  power_loss,        ///< C > S, ours
  store_lost,        ///< S absent, C present
  started_over,      ///< S absent, C ours: the stream never applied anything, and its meaning was changed
  fresh,             ///< both absent
};

enum class resume_action : std::uint8_t {
  resume,   ///< go on at `offset`
  stop,     ///< stop this partition, keep the rest going, readiness off
  refuse,   ///< do not start
  rebuild,  ///< put the directory aside and start over from the log's start
};

struct resume_decision {
  resume_row row{resume_row::fresh};
  resume_action action{resume_action::stop};
  std::int64_t offset{0};
  bool audit{false};           ///< leave an audit row
  bool warn_unchecked{false};  ///< there is no last record, or it is gone, so that nothing could be compared
  bool new_identity{false};   ///< takeover: the next incarnation's counter goes past the one in C; also where
                              ///< the partition is stopped for another reason
  std::int64_t lost_from{0};  ///< the range [lost_from, lost_to) that is skipped or lost, where there is one
  std::int64_t lost_to{0};
  friend constexpr bool operator==(const resume_decision&, const resume_decision&) = default;
};

[[nodiscard]] resume_decision resolve_resume(const resume_facts&) noexcept;
[[nodiscard]] const char* name_of(resume_row) noexcept;

/// What is asked of a person by a row that stops or refuses; none: the row is no question.
[[nodiscard]] std::optional<question_kind> question_of(resume_row) noexcept;
/// What answers the question of this row, which these facts come to without an option. `log_known`: the
/// bounds of the log are among them. Another question may come behind an answer.
[[nodiscard]] std::vector<resume_choice> choices_of(const resume_facts&, resume_row, bool log_known);

}  // namespace ratchet
