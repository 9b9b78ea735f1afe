// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "text/json_members.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "decode/json_scan.hpp"

namespace ratchet {

namespace {

constexpr std::size_t k_most_names = 8;
constexpr std::size_t k_most_of_name = 40;

/// Of a text that is JSON as far as anybody has looked: what is not ends the walk.
class member_walk {
 public:
  explicit member_walk(std::string_view text)
      : begin_{text.data()}, p_{text.data()}, end_{text.data() + text.size()} {}

  /// Calls `f` with each member's name, at its value; true: it is there, and the walk is at that value.
  template <class F>
  bool through_object(F&& f) {
    if (!take('{')) return false;
    while (true) {
      const auto name = string();
      if (!name || !take(':')) return false;
      if (f(*name)) return true;
      if (!skip_value() || !take(',')) return false;
    }
  }
  /// True: it is at that element.
  bool to_element(std::size_t index) {
    if (!take('[')) return false;
    for (; index > 0; --index) {
      if (!skip_value() || !take(',')) return false;
    }
    return true;
  }
  [[nodiscard]] bool is_at(char c) {
    json::skip_space(p_, end_);
    return p_ != end_ && *p_ == c;
  }

 private:
  bool take(char c) {
    if (!is_at(c)) return false;
    ++p_;
    return true;
  }
  std::optional<std::string_view> string() {
    if (!is_at('"')) return std::nullopt;
    const char* const first = p_ + 1;
    json::string_traits unused;
    if (!json::scan_string(begin_, p_, end_, unused)) return std::nullopt;
    return std::string_view{first, static_cast<std::size_t>(p_ - first - 1)};
  }
  bool skip_value() {
    json::skip_space(p_, end_);
    for (std::size_t depth = 0; p_ != end_;) {
      const char c = *p_;
      if (c == '"') {
        if (!string()) return false;
      } else if (c == '{' || c == '[') {
        ++depth;
        ++p_;
      } else if (c == '}' || c == ']') {
        if (depth == 0) return true;
        --depth;
        ++p_;
      } else if (c == ',' && depth == 0) {
        return true;
      } else {
        ++p_;
      }
    }
    return false;
  }

  const char* begin_;
  const char* p_;
  const char* end_;
};

/// A token of a JSON Pointer as it names a member (RFC 6901).
[[nodiscard]] std::string unescaped(std::string_view token) {
  std::string out;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const bool is_escape = token[i] == '~' && i + 1 < token.size();
    out += is_escape ? (token[++i] == '1' ? '/' : '~') : token[i];
  }
  return out;
}

[[nodiscard]] std::optional<std::size_t> index_of(const std::string& token) {
  constexpr std::size_t k_most_digits = 9;
  const bool is_index = !token.empty() && token.size() <= k_most_digits &&
                        std::all_of(token.begin(), token.end(), [](char c) { return json::is_digit(c); });
  if (!is_index) return std::nullopt;
  return std::stoul(token);
}

[[nodiscard]] bool enter(member_walk& at, const std::string& token) {
  if (at.is_at('{')) return at.through_object([&](std::string_view name) { return name == token; });
  const auto index = index_of(token);
  return index && at.to_element(*index);
}

/// Not within a character.
[[nodiscard]] std::string shortened(std::string_view name) {
  if (name.size() <= k_most_of_name) return std::string{name};
  std::size_t size = k_most_of_name;
  while (size > 0 && (static_cast<unsigned char>(name[size]) & 0xC0U) == 0x80U) --size;
  return std::string{name.substr(0, size)} + "…";
}

}  // namespace

std::optional<json_members> members_near(std::string_view json, std::string_view pointer) {
  if (!pointer.starts_with('/')) return std::nullopt;
  member_walk at{json};
  std::optional<member_walk> object;
  std::string_view to_object;
  for (std::size_t begin = 0; begin < pointer.size();) {
    if (at.is_at('{')) {
      object = at;
      to_object = pointer.substr(0, begin);
    }
    const std::size_t end = std::min(pointer.find('/', begin + 1), pointer.size());
    if (!enter(at, unescaped(pointer.substr(begin + 1, end - begin - 1)))) break;
    begin = end;
  }
  if (!object) return std::nullopt;
  json_members found;
  found.pointer = to_object;
  object->through_object([&](std::string_view name) {
    found.has_more = found.names.size() == k_most_names;
    if (!found.has_more) found.names.push_back(shortened(name));
    return found.has_more;
  });
  return found;
}

std::string text_of_members_near(std::string_view json, std::string_view pointer) {
  const auto found = members_near(json, pointer);
  if (!found) return {};
  const std::string where = found->pointer.empty() ? std::string{"the value"} : "`" + found->pointer + "`";
  if (found->names.empty()) return where + " has no fields";
  std::string text = where + " has ";
  for (std::size_t i = 0; i < found->names.size(); ++i) {
    const bool is_last = i + 1 == found->names.size() && !found->has_more;
    if (i > 0) text += is_last ? " and " : ", ";
    text += "`" + found->names[i] + "`";
  }
  return text + (found->has_more ? " and others" : "");
}

}  // namespace ratchet
