// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ratchet/export.hpp"
#include "ratchet/types.hpp"

/// Questions that a person must decide because offsets and state do not fit, and the answers of a program:
/// docs/reference/resume.md. Plain values.
namespace ratchet {

/// The answers, by the words of `ratchet run --resume`.
enum class resume_option : std::uint8_t {
  none,      ///< no answer: the start is refused, or the partition stops
  store,     ///< go on from the state, and ignore the group's offset
  kafka,     ///< go on from the group's offset or the log's start; earlier records are not handled
  rebuild,   ///< move the directory to `<path>.old-<time>`, and handle the whole log again
  takeover,  ///< this copy goes on; the other copy is stopped for ever, and is refused from now on
  cluster,   ///< go on with a cluster that has the records at other offsets, from the start of each log
};

/// The findings that need a decision.
enum class question_kind : std::uint8_t {
  copied_directory,  ///< a copy or checkpoint; the group has claims of its original. Nothing is read.
  other_store,       ///< another state directory holds the group. Nothing is read.
  below_log_start,   ///< the log begins behind the state. This and the four below stop the partition.
  past_log_end,      ///< the log ends before the state: the topic was truncated or made again
  other_record,      ///< the last handled offset has another record now: the topic was made again
  rewound,           ///< an operator or another program set the group's offset back
  skipped_ahead,     ///< an operator or another program set the group's offset ahead
  store_lost,        ///< the group has an offset, and the directory has no entry for it. Nothing is read.
  changed_meaning,   ///< other settings or another reducer made the state. It is not opened.
  damaged_state,     ///< a checksum or the layout is wrong, or steps are missing. It is not opened.
  other_cluster,     ///< the state was read from another cluster. Nothing is read.
};

/// One answer to a question, and its consequence.
struct resume_choice {
  resume_option option{resume_option::none};
  /// The offset where the partition would go on. None: the start of the log, or not known yet.
  std::optional<std::int64_t> offset{};
  /// Offsets [lost_from, lost_to) would not be handled. Equal values: none would be lost.
  std::int64_t lost_from{0};
  std::int64_t lost_to{0};
  friend bool operator==(const resume_choice&, const resume_choice&) = default;
};

/// A decision that a person must make. Offsets are those of `where`, or none if they are not known.
struct question {
  question_kind kind{question_kind::rewound};
  std::string stream;                       ///< empty: the whole directory
  std::optional<topic_partition> where{};   ///< none: the whole stream or directory
  std::optional<std::int64_t> stored{};     ///< the offset where the state goes on
  std::optional<std::int64_t> committed{};  ///< the group's offset
  std::optional<std::int64_t> log_start{};
  std::optional<std::int64_t> log_end{};
  std::string message;                 ///< for people: the finding. May hold bytes from outside.
  std::string hint;                    ///< for people: the advice, for example `resume_option::store`
  std::vector<resume_choice> choices;  ///< all valid answers, also those without advice
  friend bool operator==(const question&, const question&) = default;
};

/// A decision and its author. The audit row of the decision keeps both texts.
struct resume_answer {
  resume_answer() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): an option alone is an answer
  resume_answer(resume_option o, std::string by_whom = {}, std::string for_what = {})
      : option{o}, by{std::move(by_whom)}, why{std::move(for_what)} {}
  resume_option option{resume_option::none};
  std::string by;   ///< empty: no author
  std::string why;  ///< in the words of the author; may be empty
};

/// The word that `--resume` takes. Never changes.
[[nodiscard]] RATCHET_EXPORT const char* name_of(resume_option) noexcept;
/// The option of a word; none if no option has that name.
[[nodiscard]] RATCHET_EXPORT std::optional<resume_option> resume_option_of(std::string_view) noexcept;
/// The name of the enumerator. Never changes.
[[nodiscard]] RATCHET_EXPORT const char* name_of(question_kind) noexcept;

}  // namespace ratchet
