// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The JSON Pointers of one stream as a tree of their tokens, so that one walk over a document finds them
/// all.
namespace ratchet::json {

enum class kind : std::uint8_t { none, object, array, string, number, boolean, null };

/// What a walk found at one node of the tree.
struct found {
  kind what{kind::none};
  bool escaped{false};             ///< a string with escapes
  const char* begin{nullptr};      ///< the value's first byte
  const char* end{nullptr};        ///< behind its last one
  const char* duplicate{nullptr};  ///< the second key that leads here, at its quote
};

using node_index = std::uint16_t;
constexpr node_index k_no_node = 0xFFFF;
constexpr node_index k_root = 0;

/// The index of an array's element that the token can name: decimal digits without leading zeros (RFC 6901,
/// section 4).
[[nodiscard]] std::optional<std::uint64_t> as_index(const std::string& token);

/// Immutable once filled; any number of threads may read it.
class pointer_tree {
 public:
  pointer_tree();

  /// The node of the pointer with these (unescaped) tokens, made where it is not there yet. Not to be called
  /// between walks over one set of results.
  node_index add(const std::vector<std::string>& tokens);

  [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
  [[nodiscard]] node_index parent(node_index node) const noexcept { return nodes_[node].parent; }

  /// The child of an object's node under the unescaped key, or k_no_node.
  [[nodiscard]] node_index member(node_index node, const char* key, std::size_t size) const noexcept {
    const node_data& here = nodes_[node];
    if ((here.key_sizes >> (size & 63U) & 1U) == 0) return k_no_node;
    for (const child& c : here.children) {
      if (c.token.size() == size && same_bytes(c.token.data(), key, size)) return c.node;
    }
    return k_no_node;
  }

  /// The child of an array's node under the index, or k_no_node.
  [[nodiscard]] node_index element(node_index node, std::uint64_t index) const noexcept {
    for (const child& c : nodes_[node].children) {
      if (c.index == index) return c.node;
    }
    return k_no_node;
  }

 private:
  /// memcmp() without the call: keys are short.
  static bool same_bytes(const char* a, const char* b, std::size_t size) noexcept {
    if (size >= 8) {
      if (size > 16) return std::memcmp(a, b, size) == 0;
      return ((word<std::uint64_t>(a) ^ word<std::uint64_t>(b)) |
              (word<std::uint64_t>(a + size - 8) ^ word<std::uint64_t>(b + size - 8))) == 0;
    }
    if (size >= 4) {
      return ((word<std::uint32_t>(a) ^ word<std::uint32_t>(b)) |
              (word<std::uint32_t>(a + size - 4) ^ word<std::uint32_t>(b + size - 4))) == 0;
    }
    for (std::size_t i = 0; i < size; ++i) {
      if (a[i] != b[i]) return false;
    }
    return true;
  }
  template <class Word>
  static Word word(const char* p) noexcept {
    Word w;
    std::memcpy(&w, p, sizeof w);
    return w;
  }

  struct child {
    std::string token;
    std::optional<std::uint64_t> index;  ///< where the token can name an array's element
    node_index node{k_no_node};
  };
  struct node_data {
    node_index parent{k_no_node};
    std::uint64_t key_sizes{0};  ///< bit n: a child's token has n bytes (modulo 64); spares most comparisons
    std::vector<child> children;
  };
  std::vector<node_data> nodes_;
};

}  // namespace ratchet::json
