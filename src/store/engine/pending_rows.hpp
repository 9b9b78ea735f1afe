// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replicate/row_buffer.hpp"
#include "store/engine/column_families.hpp"

namespace ratchet {

/// What a pending step does to a key.
struct pending_value {
  bool is_erased{false};
  std::string_view value;  ///< valid until its step is released or dropped
};

/// The rows of steps that the owner of a replicated log has decided and that are not in the database yet.
/// Whoever reads asks these first. The newest step decides about a key. A hash finds a row. The families that
/// are read in the order of their keys get an order when they are first read so, and keep it until nothing is
/// pending. Thread-safety: one owner thread.
class pending_rows {
 public:
  /// The rows of a step, as row_buffer made them.
  using step_bytes = std::shared_ptr<const std::string>;

  pending_rows();

  /// Adds a step behind all others. Its number must follow theirs, and the bytes must be rows of known
  /// families.
  void add(std::uint64_t step, step_bytes rows);
  /// Lets the oldest step go, which there must be. The database has its rows by now.
  void release_oldest();
  /// Forgets all of them.
  void drop();

  [[nodiscard]] bool empty() const noexcept { return steps_.empty(); }
  [[nodiscard]] std::size_t steps() const noexcept { return steps_.size(); }
  /// Of the rows, as a log has them.
  [[nodiscard]] std::size_t row_bytes() const noexcept { return row_bytes_; }
  /// What all of it takes: rows, index and orders.
  [[nodiscard]] std::size_t bytes() const noexcept;
  /// There must be one.
  [[nodiscard]] std::uint64_t oldest_step() const noexcept { return steps_.front().number; }
  /// None where the step is not pending.
  [[nodiscard]] step_bytes rows_of(std::uint64_t step) const;

  /// None where no pending step says anything about the key: then the database does.
  [[nodiscard]] std::optional<pending_value> find(family, std::string_view key) const;

  // For pending_iterator.
  struct ordered_row {
    const char* row;
    std::uint64_t ordinal;
  };
  using order = std::map<std::string_view, ordered_row>;
  /// The newest row of each key. Valid until the next change. An erased range is not in it.
  [[nodiscard]] const order& in_order(family) const;
  /// What the row says, if no younger range has erased its key.
  [[nodiscard]] pending_value value_of(family, std::string_view key, const ordered_row&) const;
  /// The end of a pending range that covers the key; none: no range does. The view is valid until the next
  /// change.
  [[nodiscard]] std::optional<std::string_view> end_of_range(family, std::string_view key) const;
  /// Nothing pending speaks of this family.
  [[nodiscard]] bool is_untouched(family f) const noexcept {
    return rows_of_family_[static_cast<std::size_t>(f)] == 0;
  }
  /// Differs behind each change.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }

 private:
  static constexpr std::size_t k_families = k_family_names.size();

  /// A place in the index, which is a hash table with linear probing.
  struct place {
    std::uint64_t hash{0};
    const char* row{nullptr};  ///< none: free
    std::uint64_t ordinal{0};
  };
  /// A row of a step, to find it in the index again.
  struct mark {
    std::uint64_t hash;
    const char* row;
  };
  struct range {
    std::string_view begin;
    std::string_view behind;
    std::uint64_t ordinal;
  };
  struct pending_step {
    std::uint64_t number;
    step_bytes rows;
    std::vector<mark> marks;  ///< of all but ranges
    std::array<std::size_t, k_families> rows_of_family;
    std::uint64_t end_ordinal;
  };

  [[nodiscard]] std::uint64_t hash_of(std::uint8_t family, std::string_view key) const noexcept;
  [[nodiscard]] std::size_t ideal(std::uint64_t hash) const noexcept { return hash & (index_.size() - 1); }
  /// The place of the key, or a free one for it.
  [[nodiscard]] std::size_t place_of(std::uint64_t hash, std::uint8_t family, std::string_view key) const;
  void reserve(std::size_t more);
  void set(const mark&, std::uint64_t ordinal);
  void free_place(std::size_t at);
  void set_in_order(family, std::string_view key, const ordered_row&);

  std::uint64_t seed_;  ///< keys come from outside
  std::vector<place> index_;
  std::size_t used_{0};
  std::deque<pending_step> steps_;
  std::array<std::vector<range>, k_families> ranges_;
  std::array<std::size_t, k_families> rows_of_family_{};
  mutable std::array<std::optional<order>, k_families> orders_;
  std::vector<std::vector<mark>> spare_marks_;
  std::size_t row_bytes_{0};
  std::size_t mark_bytes_{0};
  std::uint64_t next_ordinal_{1};
  std::uint64_t version_{0};
};

}  // namespace ratchet
