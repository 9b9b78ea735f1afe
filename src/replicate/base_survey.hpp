// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <string_view>

#include "replicate/base_reader.hpp"

namespace ratchet::replicate {

/// A base that is whole, and where it lies in its topic.
struct found_base {
  base_end end;
  std::int64_t begun_at{0};
  std::int64_t ended_at{0};
  friend bool operator==(const found_base&, const found_base&) = default;
};

/// Reads a topic of bases once, from a place on, and says which bases are whole. Bases that lie between each
/// other are all looked at. A last record that says of itself that its base is whole is not
/// believed: anybody may append one. Thread-safety: one thread.
class base_survey {
 public:
  explicit base_survey(const base_reader_options& options) : options_{options} {}

  void take(std::int64_t offset, std::string_view bytes);

  /// In the order of their ends; the last ones, if there are many.
  [[nodiscard]] const std::deque<found_base>& whole() const { return whole_; }
  /// Where the last records are of bases that would be of use if they were whole; the last ones, if there are
  /// many.
  [[nodiscard]] const std::deque<std::int64_t>& false_ends() const { return false_ends_; }

 private:
  struct candidate {
    std::uint64_t base{0};
    base_reader reader;
  };
  [[nodiscard]] std::list<candidate>::iterator find(std::uint64_t base);
  void begin(std::int64_t offset, std::string_view bytes, std::uint64_t base);
  void end(std::int64_t offset, std::string_view bytes, const base_record&);
  [[nodiscard]] bool is_repeat(const base_record&) const;
  [[nodiscard]] bool was_whole(std::uint64_t base) const;

  base_reader_options options_;
  std::list<candidate> open_;  ///< the one that got something last is the last one
  std::deque<found_base> whole_;
  std::deque<std::uint64_t> names_;  ///< of the same
  std::deque<std::int64_t> false_ends_;
};

}  // namespace ratchet::replicate
