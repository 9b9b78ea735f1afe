// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/merge_patch.hpp"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/reducers.hpp"

namespace ratchet {

namespace {

constexpr std::string_view k_white_space = " \t\n\r";

struct member {
  std::string name;        ///< unescaped, to compare with
  std::string_view spelt;  ///< with its quotes, to write
  std::string_view value;
};

[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept {
  const std::size_t begin = text.find_first_not_of(k_white_space);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(k_white_space) - begin + 1);
}

[[nodiscard]] bool is_object(std::string_view json) noexcept {
  return !json.empty() && json.front() == '{';
}

/// The position behind the string that starts at `at`. Valid JSON: the closing quote is there.
[[nodiscard]] std::size_t end_of_string(std::string_view json, std::size_t at) noexcept {
  for (++at; at < json.size() && json[at] != '"'; ++at) {
    if (json[at] == '\\') ++at;
  }
  return at + 1;
}

/// The position behind the value that starts at `at`.
[[nodiscard]] std::size_t end_of_value(std::string_view json, std::size_t at) noexcept {
  if (json[at] == '"') return end_of_string(json, at);
  if (json[at] != '{' && json[at] != '[') {
    const std::size_t end = json.find_first_of(",]} \t\n\r", at);
    return end == std::string_view::npos ? json.size() : end;
  }
  std::size_t depth = 0;
  while (at < json.size()) {
    const char c = json[at];
    if (c == '"') {
      at = end_of_string(json, at);
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return at + 1;
    ++at;
  }
  return json.size();
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&out](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0U | (code >> 6U));
    put(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    put(0xE0U | (code >> 12U));
    put(0x80U | ((code >> 6U) & 0x3FU));
    put(0x80U | (code & 0x3FU));
  } else {
    put(0xF0U | (code >> 18U));
    put(0x80U | ((code >> 12U) & 0x3FU));
    put(0x80U | ((code >> 6U) & 0x3FU));
    put(0x80U | (code & 0x3FU));
  }
}

[[nodiscard]] std::uint32_t hex4(std::string_view digits) noexcept {
  std::uint32_t value = 0;
  for (const char c : digits.substr(0, 4)) {
    const auto digit = static_cast<std::uint32_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    value = value * 16 + digit;
  }
  return value;
}

/// Reads the escape at `at` (behind the backslash) and returns the position behind it. A lone surrogate is
/// kept as the three bytes of its code point: not valid UTF-8, but only compared with others made the same
/// way.
[[nodiscard]] std::size_t append_escape(std::string& out, std::string_view spelt, std::size_t at) {
  constexpr std::string_view k_short = "bfnrt";
  constexpr std::string_view k_meaning = "\b\f\n\r\t";
  const char c = spelt[at];
  if (c != 'u') {
    const std::size_t known = k_short.find(c);
    out.push_back(known == std::string_view::npos ? c : k_meaning[known]);
    return at + 1;
  }
  std::uint32_t code = hex4(spelt.substr(at + 1));
  at += 5;
  if (code >= 0xD800 && code < 0xDC00 && spelt.substr(at, 2) == "\\u") {
    const std::uint32_t low = hex4(spelt.substr(at + 2));
    if (low >= 0xDC00 && low < 0xE000) {
      code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
      at += 6;
    }
  }
  append_utf8(out, code);
  return at;
}

[[nodiscard]] std::string unescaped(std::string_view spelt) {
  std::string out;
  for (std::size_t at = 1; at + 1 < spelt.size();) {
    if (spelt[at] == '\\') {
      at = append_escape(out, spelt, at + 1);
    } else {
      out.push_back(spelt[at++]);
    }
  }
  return out;
}

/// The members of an object in their order, found by name in constant time: an object may hold a million of
/// them.
class members {
 public:
  explicit members(std::string_view object);
  [[nodiscard]] member* find(const std::string& name) {
    const auto at = index_.find(name);
    return at == index_.end() ? nullptr : &list_[at->second];
  }
  [[nodiscard]] std::vector<member>& list() noexcept { return list_; }

 private:
  std::vector<member> list_;
  std::unordered_map<std::string, std::size_t> index_;
};

members::members(std::string_view object) {
  std::size_t at = object.find_first_not_of(k_white_space, 1);
  while (at < object.size() && object[at] == '"') {
    const std::size_t name_end = end_of_string(object, at);
    const std::string_view spelt = object.substr(at, name_end - at);
    const std::size_t colon = object.find(':', name_end);
    const std::size_t value = object.find_first_not_of(k_white_space, colon + 1);
    const std::size_t value_end = end_of_value(object, value);
    std::string name = unescaped(spelt);
    const std::string_view text = object.substr(value, value_end - value);
    const auto [known, is_new] = index_.try_emplace(name, list_.size());
    if (is_new) {
      list_.push_back({std::move(name), spelt, text});
    } else {
      list_[known->second].value = text;
    }
    const std::size_t comma = object.find_first_not_of(k_white_space, value_end);
    if (comma == std::string_view::npos || object[comma] != ',') break;
    at = object.find_first_not_of(k_white_space, comma + 1);
  }
}

void append_merged(std::string& out, std::string_view target, std::string_view patch);

void append_member(std::string& out, std::string_view spelt) {
  if (out.back() != '{') out.push_back(',');
  out.append(spelt);
  out.push_back(':');
}

/// RFC 7396, section 2: MergePatch(Target, Patch).
void append_merged(std::string& out, std::string_view target, std::string_view patch) {
  if (!is_object(patch)) {
    out.append(patch);
    return;
  }
  members changes{patch};
  out.push_back('{');
  if (is_object(target)) {
    members kept{target};
    for (const member& old : kept.list()) {
      member* change = changes.find(old.name);
      if (change == nullptr) {
        append_member(out, old.spelt);
        out.append(old.value);
        continue;
      }
      if (change->value != "null") {
        append_member(out, old.spelt);
        append_merged(out, old.value, change->value);
      }
      change->value = "null";  // done: what is left below is new
    }
  }
  for (const member& added : changes.list()) {
    if (added.value == "null") continue;
    append_member(out, added.spelt);
    append_merged(out, {}, added.value);
  }
  out.push_back('}');
}

}  // namespace

std::string merge_patch(std::string_view target, std::string_view patch) {
  std::string out;
  out.reserve(target.size() + patch.size());
  append_merged(out, trimmed(target), trimmed(patch));
  return out;
}

outcome merge_patch_reducer::apply(const event& e, state& s, effects&) const {
  s.assign(merge_patch(s.exists() ? s.value() : std::string_view{}, e.payload));
  return done();
}

}  // namespace ratchet
