// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ratchet/reducer.hpp"

namespace ratchet {

/// Whether a change of this type has all columns: rows that are new or read.
[[nodiscard]] constexpr bool brings_all_columns(std::string_view type) noexcept {
  return type == "c" || type == "r";
}

/// The columns of a changed row that its producer does not know, as they did not change: a placeholder stands
/// for them. What is stored of such a column stays. Thread-safety: const members may be called by many.
class unavailable_columns {
 public:
  /// `placeholder`: the text that stands for the value; of binary columns its Base64. Empty: there is none.
  explicit unavailable_columns(std::string_view placeholder);

  /// Whether the placeholder may stand in this JSON text: false is certain, true is worth a look.
  [[nodiscard]] bool may_be_in(std::string_view json) const noexcept;

  /// The name of the first column that is unavailable, as it is spelt, without its quotes; empty where the
  /// row is the placeholder as a whole. None: there is none. It must be valid JSON, from which the name is
  /// borrowed.
  [[nodiscard]] std::optional<std::string_view> first_in(std::string_view row) const;

  /// The row with the columns of `before` in place of those that are unavailable: a string that is the
  /// placeholder, or an array or object of nothing else. What `before` does not have, or has no value of,
  /// stays unavailable. Both must be valid JSON; `before` may be empty. Where `row` is the placeholder as a
  /// whole, it is `before`.
  [[nodiscard]] std::string filled(std::string_view row, std::string_view before) const;

 private:
  [[nodiscard]] bool stands_in(std::string_view json, std::string_view what, std::size_t rare) const noexcept;
  [[nodiscard]] bool is_placeholder(std::string_view value, bool outermost) const;

  std::string text_;
  std::string base64_;
  std::string map_;              ///< of it and itself, as JSON: what stands within a string for an hstore
  std::size_t rare_in_text_{0};  ///< where its byte stands that few texts have
  std::size_t rare_in_base64_{0};
};

/// The row becomes the snapshot, with what is stored of its unavailable columns. It gives up on a row of
/// which a column is neither there nor stored: the placeholder is no value, and what the value is nobody can
/// tell.
class row_reducer {
 public:
  /// As that of replace_reducer: the meaning of a stored state is the same. An event that needs the snapshot
  /// says so itself (decoded_event::keeps_columns).
  static constexpr reducer_traits traits{
      .name = "replace", .version = 1, .full_state = true, .has_effects = false};

  explicit row_reducer(std::string_view placeholder) : unavailable_{placeholder} {}
  [[nodiscard]] outcome apply(const event& e, state& s, effects&) const;

 private:
  unavailable_columns unavailable_;
};

}  // namespace ratchet
