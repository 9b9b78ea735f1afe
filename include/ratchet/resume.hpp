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

/// Where offsets and state do not fit, and a person has to decide: what is asked, and what a program answers.
/// docs/reference/resume.md. Plain values.
namespace ratchet {

/// What may be answered, by the words of `ratchet run --resume`.
enum class resume_option : std::uint8_t {
  none,      ///< nothing: who is asked again is refused, or stopped, as before
  store,     ///< go on from the state, whatever the group's offset says
  kafka,     ///< go on from the group's offset or the log's start; what lies before it is not handled
  rebuild,   ///< move the directory to `<path>.old-<time>`, and handle the whole log again
  takeover,  ///< this copy goes on; the other one is stopped for good, and is refused from now on
  cluster,   ///< go on with another cluster, which has the records at other offsets: each log from its start
};

/// What was found.
enum class question_kind : std::uint8_t {
  copied_directory,  ///< a copy or a checkpoint, and the group has claims of its store. Nothing is read.
  other_store,       ///< another state directory holds the group. Nothing is read.
  below_log_start,   ///< the log begins behind the state. The partition is stopped, as by the four below.
  past_log_end,      ///< the log ends before the state: the topic was truncated or made anew
  other_record,      ///< the last record that was handled is another one now: the topic was made anew
  rewound,           ///< somebody set the group's offset back
  skipped_ahead,     ///< somebody set the group's offset ahead
  store_lost,        ///< the group has an offset, the directory knows nothing of it. Nothing is read.
  changed_meaning,   ///< the state was made with other settings, or by another reducer. It is not opened.
  damaged_state,     ///< a checksum or the layout is wrong, or steps are missing. It is not opened.
  other_cluster,     ///< the state was read from another cluster. Nothing is read.
};

/// One of the answers to a question, and what would follow.
struct resume_choice {
  resume_option option{resume_option::none};
  /// Where the partition would go on. None: at the log's start, or not known before the log is looked at.
  std::optional<std::int64_t> offset{};
  /// Offsets [lost_from, lost_to) would not be handled, where there are any.
  std::int64_t lost_from{0};
  std::int64_t lost_to{0};
  friend bool operator==(const resume_choice&, const resume_choice&) = default;
};

/// What a person must decide. Offsets are of `where`, and none where nothing is known of them.
struct question {
  question_kind kind{question_kind::rewound};
  std::string stream;                       ///< empty: of the whole directory
  std::optional<topic_partition> where{};   ///< none: of the whole stream, or directory
  std::optional<std::int64_t> stored{};     ///< where the state goes on
  std::optional<std::int64_t> committed{};  ///< the group's offset
  std::optional<std::int64_t> log_start{};
  std::optional<std::int64_t> log_end{};
  std::string message;                 ///< for people: what was found. May name what came from outside.
  std::string hint;                    ///< for people: what is advised, as in `resume_option::store`
  std::vector<resume_choice> choices;  ///< what would be taken for an answer, whether advised or not
  friend bool operator==(const question&, const question&) = default;
};

/// What was decided, and by whom: the two texts are kept in the audit row of what it did.
struct resume_answer {
  resume_answer() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): an option alone is an answer
  resume_answer(resume_option o, std::string by_whom = {}, std::string for_what = {})
      : option{o}, by{std::move(by_whom)}, why{std::move(for_what)} {}
  resume_option option{resume_option::none};
  std::string by;   ///< empty: nobody is named
  std::string why;  ///< in their own words; may be empty
};

/// As it is typed behind `--resume`. Never changed.
[[nodiscard]] RATCHET_EXPORT const char* name_of(resume_option) noexcept;
/// The same the other way round; none where no option is called so.
[[nodiscard]] RATCHET_EXPORT std::optional<resume_option> resume_option_of(std::string_view) noexcept;
/// As the enumerator is spelt. Never changed.
[[nodiscard]] RATCHET_EXPORT const char* name_of(question_kind) noexcept;

}  // namespace ratchet
