// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/json_grammar.hpp"

#include <simdjson.h>

#include "decode/json_scan.hpp"
#include "decode/json_text.hpp"

namespace ratchet::json {
namespace {

constexpr std::string_view k_byte_order_mark{"\xEF\xBB\xBF"};

/// How many bytes the well-formed sequence at p has, or 0 (RFC 3629, section 4).
std::size_t sequence_size(const unsigned char* p, std::size_t left) noexcept {
  const unsigned char first = p[0];
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || left < size) return 0;
  unsigned char lowest = 0x80;
  unsigned char highest = 0xBF;
  if (first == 0xE0) lowest = 0xA0;   // overlong
  if (first == 0xED) highest = 0x9F;  // surrogates
  if (first == 0xF0) lowest = 0x90;   // overlong
  if (first == 0xF4) highest = 0x8F;  // above U+10FFFF
  if (p[1] < lowest || p[1] > highest) return 0;
  for (std::size_t i = 2; i < size; ++i) {
    if (p[i] < 0x80 || p[i] > 0xBF) return 0;
  }
  return size;
}

}  // namespace

std::size_t first_bad_utf8(std::string_view text) noexcept {
  if (simdjson::validate_utf8(text)) return text.size();
  const auto* p = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t size = sequence_size(p + at, text.size() - at);
    if (size == 0) return at;
    at += size;
  }
  return at;
}

fault walker::walk(std::string_view text) {
  if (text.starts_with(k_byte_order_mark)) return {malformed_reason::byte_order_mark, 0};
  begin_ = text.data();
  end_ = begin_ + text.size();
  high_ = 0;
  depth_ = 0;
  keys_ = 0;
  any_duplicate_ = false;
  too_deep_ = false;
  found_.resize(tree_->size());
  for (found& f : found_) {
    f.what = kind::none;
    f.duplicate = nullptr;
  }
  const bool fits = run(begin_);
  if (fits && (high_ == 0 || encoding_ == encoding::unchecked)) return {};
  // UTF-8 is only looked at where a byte above 0x7F was met, or to tell which of two faults comes first.
  const std::size_t bad = encoding_ == encoding::unchecked ? text.size() : first_bad_utf8(text);
  const auto stopped = fits ? text.size() : static_cast<std::size_t>(stopped_ - begin_);
  if (bad < text.size() && bad <= stopped) return {malformed_reason::invalid_utf8, bad};
  if (fits) return {};
  return {too_deep_ ? malformed_reason::too_deep : malformed_reason::invalid_json, stopped};
}

fault walker::walk_to(node_index list, std::string_view text, std::size_t most,
                      std::vector<std::string_view>& elements) {
  list_ = list;
  elements_ = &elements;
  most_elements_ = most;
  too_many_ = false;
  fault found = walk(text);
  if (too_many_) found.reason = malformed_reason::too_many_events;
  list_ = k_no_list;
  return found;
}

// The place in the text is handed from function to function, as it stays in a register then: through a member
// every byte would wait for a store. nullptr is a fault, and stopped_ says where.

const char* walker::stop(const char* p) noexcept {
  stopped_ = p;
  return nullptr;
}

bool walker::run(const char* p) {
  skip_space(p, end_);
  p = p == end_ ? stop(p) : read_value(p, k_root);
  while (p != nullptr && depth_ > 0) p = step(p);
  if (p == nullptr) return false;
  skip_space(p, end_);
  return p == end_ || stop(p) != nullptr;
}

/// Reads one member or element of the innermost container, and what closes behind it.
const char* walker::step(const char* p) {
  frame& top = stack_[depth_ - 1];
  node_index node = k_no_node;
  skip_space(p, end_);
  if (top.is_object) {
    p = read_key(p, top.node, node);
    if (p == nullptr) return nullptr;
  } else if (top.node != k_no_node) {
    node = enter(tree_->element(top.node, top.index++), nullptr);
  }
  return p != end_ ? read_value(p, node) : stop(p);
}

/// Reads a key and its colon, up to the value. The records of a stream mostly have the same keys in the same
/// order: so the size of the key that stood here last time is a good guess.
inline const char* walker::read_key(const char* p, node_index parent, node_index& node) {
  if (p == end_ || *p != '"') return stop(p);
  const char* const key = p;
  std::uint8_t& guess = key_sizes_[keys_++ % k_guesses];
  std::size_t size = guess;
  bool escaped = false;
  if (is_plain_of_size(p + 1, end_, guess)) {
    p += size + 2;
  } else {
    string_traits traits;
    if (!scan_string(begin_, p, end_, traits)) return stop(p);
    high_ |= traits.high;
    escaped = traits.escaped;
    size = static_cast<std::size_t>(p - key) - 2;
    guess = static_cast<std::uint8_t>(size < 16 ? size : 0);
  }
  if (parent != k_no_node) {
    node = escaped ? match_escaped(parent, {key + 1, size}) : tree_->member(parent, key + 1, size);
    node = enter(node, key);
  }
  skip_space(p, end_);
  if (p == end_ || *p != ':') return stop(p);
  ++p;
  skip_space(p, end_);
  return p;
}

node_index walker::match_escaped(node_index parent, std::string_view key) {
  key_.resize(key.size());
  const unescaped plain = unescape(key, key_.data());
  if (plain.lone_surrogate != nullptr) return k_no_node;  // no pointer can name it
  return tree_->member(parent, key_.data(), plain.size);
}

/// The node itself where it is met for the first time. A second value is checked, and found nowhere.
inline node_index walker::enter(node_index node, const char* key) noexcept {
  if (node == k_no_node || found_[node].what == kind::none) return node;
  if (found_[node].duplicate == nullptr) found_[node].duplicate = key;
  any_duplicate_ = true;
  return k_no_node;
}

inline void walker::note(node_index node, kind what, const char* begin, const char* end,
                         bool escaped) noexcept {
  if (node == k_no_node) return;
  found& here = found_[node];
  here.what = what;
  here.escaped = escaped;
  here.begin = begin;
  here.end = end;
}

/// Reads a value, and what closes behind it; of a container that is not empty only the opening bracket.
const char* walker::read_value(const char* p, node_index node) {
  const char* const begin = p;
  if (*p == '"') {
    string_traits traits;
    if (!scan_string(begin_, p, end_, traits)) return stop(p);
    high_ |= traits.high;
    note(node, kind::string, begin, p, traits.escaped);
    return close_or_comma(p);
  }
  if (*p == '-' || is_digit(*p)) {
    if (!scan_number(p, end_)) return stop(p);
    note(node, kind::number, begin, p, false);
    return close_or_comma(p);
  }
  if (*p == '{' || *p == '[') return open(p, node);
  return read_literal(p, node);
}

const char* walker::read_literal(const char* p, node_index node) {
  const char* const begin = p;
  const char* const word = *p == 't' ? "true" : *p == 'f' ? "false" : "null";
  if (!scan_literal(p, end_, word)) return stop(p);
  note(node, *begin == 'n' ? kind::null : kind::boolean, begin, p, false);
  return close_or_comma(p);
}

const char* walker::open(const char* p, node_index node) {
  if (depth_ == k_max_depth) {
    too_deep_ = true;
    return stop(p);
  }
  const bool is_object = *p == '{';
  note(node, is_object ? kind::object : kind::array, p, nullptr, false);
  if (node == list_ && !is_object) return read_elements(p);
  stack_[depth_++] = {node, is_object, 0};
  ++p;
  skip_space(p, end_);
  if (p != end_ && *p == (is_object ? '}' : ']')) return close_or_comma(p);
  return p;
}

/// Behind a value: closes what closes here, up to a comma or the end of the root.
inline const char* walker::close_or_comma(const char* p) {
  while (depth_ > 0) {
    skip_space(p, end_);
    if (p == end_) return stop(p);
    if (*p == ',') return p + 1;
    const frame& top = stack_[depth_ - 1];
    if (*p != (top.is_object ? '}' : ']')) return stop(p);
    ++p;
    if (top.node != k_no_node) found_[top.node].end = p;
    --depth_;
  }
  return p;
}

/// Notes where the elements of the list begin and end, and goes on behind it.
const char* walker::read_elements(const char* p) {
  ++p;
  skip_space(p, end_);
  bool is_first = true;
  while (p == end_ || *p != ']' || !is_first) {
    if (p == end_) return stop(p);
    if (elements_->size() == most_elements_) {
      too_many_ = true;
      return stop(p);
    }
    const char* const begin = p;
    p = pass_over(p);
    if (p == nullptr) return nullptr;
    elements_->emplace_back(begin, static_cast<std::size_t>(p - begin));
    is_first = false;
    skip_space(p, end_);
    if (p == end_) return stop(p);
    if (*p == ']') break;
    if (*p != ',') return stop(p);
    ++p;
    skip_space(p, end_);
  }
  ++p;
  found_[list_].end = p;
  return close_or_comma(p);
}

/// Moves behind a value, of which nothing is looked at but strings and brackets.
const char* walker::pass_over(const char* p) {
  if (*p != '{' && *p != '[') {
    string_traits traits;
    if (*p == '"') return scan_string(begin_, p, end_, traits) ? p : stop(p);
    if (!is_digit(*p) && *p != '-' && *p != 't' && *p != 'f' && *p != 'n') return stop(p);
    while (p != end_ && *p != ',' && *p != ']' && *p != '}' && !is_space(*p)) ++p;
    return p;
  }
  std::size_t depth = 0;
  while (skip_to_mark(p, end_)) {
    if (*p == '"') {
      string_traits traits;
      if (!scan_string(begin_, p, end_, traits)) return stop(p);
      continue;
    }
    const bool opens = (*p | 0x20) == '{';
    ++p;
    if (opens) {
      ++depth;
    } else if (--depth == 0) {
      return p;
    }
  }
  return stop(p);
}

fault check_json(std::string_view text) {
  static const pointer_tree nothing_named;
  return walker{nothing_named}.walk(text);
}

}  // namespace ratchet::json
