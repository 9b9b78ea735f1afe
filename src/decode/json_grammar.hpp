// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/decoded_event.hpp"
#include "decode/pointer_tree.hpp"

namespace ratchet::json {

/// How deep arrays and objects may lie in each other; the root counts as 1.
constexpr std::size_t k_max_depth = 1000;

/// The first fault of a document. Reasons: none, invalid_json, invalid_utf8, byte_order_mark, too_deep;
/// too_many_events of walk_to() alone.
/// `offset` is that of the first byte that no valid document can have there, or the document's size where it
/// ends too early; for invalid_utf8, where the ill-formed sequence begins; for too_deep, the bracket.
struct fault {
  malformed_reason reason{malformed_reason::none};
  std::size_t offset{0};
  friend constexpr bool operator==(const fault&, const fault&) = default;
};

/// Whether bytes above 0x7F in strings must be UTF-8.
enum class encoding : std::uint8_t { utf8, unchecked };

/// Checks a whole document against RFC 8259 and UTF-8, and finds the values that a pointer_tree names on the
/// way. One pass, no recursion, no allocation but for keys with escapes. Numbers are checked and never
/// converted. Thread-safety: none; reuse it.
class walker {
 public:
  /// `tree` is borrowed for the walker's lifetime.
  explicit walker(const pointer_tree& tree, encoding e = encoding::utf8) : tree_{&tree}, encoding_{e} {}

  /// Afterwards at(node) says what stood there; it means nothing if there was a fault. Borrows `text`.
  [[nodiscard]] fault walk(std::string_view text);
  /// The same, but that of an array at `list` only the ends of its elements are looked for: each is added to
  /// `elements`, from its first byte to its last, and still to be checked. A document is well-formed if this
  /// finds no fault and each element is well-formed by itself. A fault need not be the document's first one:
  /// an element before it may have another. More elements than `most` are one: too_many_events.
  [[nodiscard]] fault walk_to(node_index list, std::string_view text, std::size_t most,
                              std::vector<std::string_view>& elements);

  [[nodiscard]] const found& at(node_index node) const noexcept { return found_[node]; }
  [[nodiscard]] node_index parent(node_index node) const noexcept { return tree_->parent(node); }
  /// Whether any key on a named path occurred twice; the nodes say which.
  [[nodiscard]] bool any_duplicate() const noexcept { return any_duplicate_; }
  /// Of the keys on a node's path that occur twice the outermost: its second one, at its quote. Null: none
  /// does.
  [[nodiscard]] const char* second_key(node_index node) const noexcept {
    const char* second = nullptr;
    for (; node != k_no_node; node = parent(node)) {
      if (found_[node].duplicate != nullptr) second = found_[node].duplicate;
    }
    return second;
  }
  /// Where the innermost value on a node's path begins that is there: what is missing has no place.
  [[nodiscard]] const char* begin_of_nearest(node_index node) const noexcept {
    while (node != k_root && found_[node].what == kind::none) node = parent(node);
    return found_[node].begin;
  }

 private:
  static constexpr node_index k_no_list = k_no_node - 1;
  struct frame {
    node_index node;
    bool is_object;
    std::uint64_t index;  ///< of an array's next element
  };

  const char* stop(const char* p) noexcept;
  bool run(const char* p);
  const char* step(const char* p);
  const char* read_key(const char* p, node_index parent, node_index& node);
  const char* read_value(const char* p, node_index node);
  const char* read_literal(const char* p, node_index node);
  const char* open(const char* p, node_index node);
  const char* close_or_comma(const char* p);
  const char* read_elements(const char* p);
  const char* pass_over(const char* p);
  node_index enter(node_index node, const char* key) noexcept;
  node_index match_escaped(node_index parent, std::string_view key);
  void note(node_index node, kind what, const char* begin, const char* end, bool escaped) noexcept;

  const pointer_tree* tree_;
  encoding encoding_;
  const char* begin_{nullptr};
  const char* end_{nullptr};
  const char* stopped_{nullptr};  // where the fault is
  unsigned high_{0};
  bool any_duplicate_{false};
  bool too_deep_{false};
  node_index list_{k_no_list};  // whose elements are not read
  std::vector<std::string_view>* elements_{nullptr};
  std::size_t most_elements_{0};
  bool too_many_{false};
  std::size_t depth_{0};
  std::size_t keys_{0};  // read so far
  static constexpr std::size_t k_guesses = 64;
  std::array<std::uint8_t, k_guesses> key_sizes_{};  // of the first keys of the document before, below 16
  std::vector<found> found_;
  std::string key_;                       // scratch for keys with escapes
  std::array<frame, k_max_depth> stack_;  // the first depth_ of them are set
};

/// Checks a whole document.
[[nodiscard]] fault check_json(std::string_view text);

/// Where the first ill-formed UTF-8 sequence begins (RFC 3629); text.size() if there is none.
[[nodiscard]] std::size_t first_bad_utf8(std::string_view text) noexcept;

}  // namespace ratchet::json
