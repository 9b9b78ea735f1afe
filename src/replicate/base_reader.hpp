// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "replicate/base_record.hpp"
#include "replicate/log_reader.hpp"

namespace ratchet::replicate {

/// What became of a record of a base topic.
enum class base_fate : std::uint8_t {
  begun,      ///< a base begins that is of use: see base_reader::content()
  rows,       ///< rows of that base: see base_reader::rows()
  complete,   ///< its last record, and all rows were there; nothing is taken any more
  passed,     ///< of no use, or of another base than the one that is being read
  broken,     ///< a part of that base is damaged: give_up() goes on with another one
  false_end,  ///< says that it ends that base, and does not fit: as if it were not there
  refused,    ///< a base that would be of use, but not to this program: see base_reader::refused()
};
/// A word for people, as `complete`.
[[nodiscard]] const char* name_of(base_fate) noexcept;

struct base_reader_options {
  std::uint32_t newest_layout{0};  ///< of rows that this program can apply
  std::optional<hash128> lineage;  ///< of the state that the rows are to go into; none: any
  std::optional<hash128> meaning;  ///< of this program's streams; none: whatever they mean
  /// The first offset that the log has: from a base before it nothing leads on. 0: the log has all of its
  /// records, and goes on from a base before the log.
  std::int64_t log_first{0};
};

/// Whether a log that begins there may go on from a base of that position.
[[nodiscard]] bool log_leads_on(const base_reader_options&, const log_position&);

/// Finds, in the records of a base topic, the first base that is whole and that the log goes on from.
/// Writers may lie between each other, die in the middle and repeat records. A fold over the records; which
/// base it finds is right whichever it is, as each is a copy of confirmed steps. Thread-safety: one thread.
class base_reader {
 public:
  explicit base_reader(const base_reader_options& options) : options_{options} {}

  [[nodiscard]] base_fate take(std::int64_t offset, std::string_view bytes);

  /// Behind base_fate::rows: whole rows, which may be none. Valid until the next take().
  [[nodiscard]] std::string_view rows() const { return rows_; }
  /// Of the base that is being read, or was.
  [[nodiscard]] const base_content& content() const { return content_; }
  [[nodiscard]] bool is_reading() const { return is_reading_; }
  /// Where that base began.
  [[nodiscard]] std::int64_t begun_at() const { return begun_at_; }
  /// Gives that base up. The record at begun_at() + 1 is to be taken next: another base may begin there.
  void give_up();
  [[nodiscard]] std::optional<refusal> refused() const { return refused_; }

 private:
  [[nodiscard]] base_fate begin(std::int64_t offset, const base_record&);
  [[nodiscard]] base_fate take_part(const base_part&);
  [[nodiscard]] base_fate take_end(const base_end&);
  [[nodiscard]] base_fate refuse(refusal);

  base_reader_options options_;
  bool is_reading_{false};
  bool is_done_{false};
  std::int64_t begun_at_{-1};
  std::uint64_t base_{0};
  base_content content_;
  std::uint64_t parts_{0};
  std::uint64_t bytes_{0};
  hash128 hash_;
  std::string held_;      ///< the rows of the last part, behind the piece of a row before it
  std::size_t whole_{0};  ///< how many bytes of them are whole rows
  std::string_view rows_;
  std::optional<refusal> refused_;
};

}  // namespace ratchet::replicate
