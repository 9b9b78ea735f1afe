// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/merge_patch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/aggregate_hash.hpp"
#include "core/reducers.hpp"

namespace ratchet {

namespace {

constexpr std::string_view k_white_space = " \t\n\r";

struct member {
  std::string_view name;   ///< unescaped, to compare with
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
  for (++at; at < json.size() && json[at] != '"'; ++at) {  // not covered: valid JSON ends its strings
    if (json[at] == '\\') ++at;
  }
  return at + 1;
}

/// Where the long objects and arrays of a text end, found in one pass. Looking for it anew on each level of
/// nesting would cost depth times size.
class long_values {
 public:
  explicit long_values(std::string_view json);
  /// The end of the object or array that begins here; nullptr where it is short.
  [[nodiscard]] const char* end_of(const char* begin) const noexcept {
    const auto at = std::lower_bound(extents_.begin(), extents_.end(), begin,
                                     [](const extent& e, const char* p) { return e.begin < p; });
    return at == extents_.end() || at->begin != begin ? nullptr : at->end;
  }

 private:
  static constexpr std::ptrdiff_t k_long = 512;
  struct extent {
    const char* begin;
    const char* end;
  };
  std::vector<extent> extents_;  ///< by begin
};

long_values::long_values(std::string_view json) {
  if (std::ssize(json) < k_long) return;
  std::vector<std::size_t> open;  // indexes into extents_
  for (std::size_t at = 0; at < json.size();) {
    const char c = json[at];
    if (c == '"') {
      at = end_of_string(json, at);
      continue;
    }
    const char* here = json.data() + at++;
    if (c == '{' || c == '[') {
      open.push_back(extents_.size());
      extents_.push_back({here, nullptr});
    } else if (c == '}' || c == ']') {
      if (open.empty()) return;  // not covered: valid JSON opens what it closes
      extent& closed = extents_[open.back()];
      closed.end = here + 1;
      // All that is inside is shorter still and has gone already, so it is the last one.
      if (closed.end - closed.begin < k_long) extents_.pop_back();
      open.pop_back();
    }
  }
}

/// The position behind the value that starts at `at`.
[[nodiscard]] std::size_t end_of_value(std::string_view json, std::size_t at,
                                       const long_values& known) noexcept {
  if (json[at] == '"') return end_of_string(json, at);
  if (json[at] != '{' && json[at] != '[') {
    const std::size_t end = json.find_first_of(",]} \t\n\r", at);
    return end == std::string_view::npos ? json.size() : end;  // not covered: a member has an end
  }
  if (const char* end = known.end_of(json.data() + at)) return static_cast<std::size_t>(end - json.data());
  std::size_t depth = 0;
  while (at < json.size()) {  // not covered: valid JSON closes what it opens
    const char c = json[at];
    if (c == '"') {
      at = end_of_string(json, at);
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return at + 1;
    ++at;
  }
  return json.size();  // not covered: see the loop
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
/// them, under names that somebody chose.
class members {
 public:
  members(std::string_view object, const long_values& known);
  [[nodiscard]] member* find(std::string_view name) {
    const auto at = index_.find(name);
    return at == index_.end() ? nullptr : &list_[at->second];
  }
  [[nodiscard]] std::vector<member>& list() noexcept { return list_; }

 private:
  [[nodiscard]] std::string_view name_in(std::string_view spelt) {
    if (spelt.find('\\') == std::string_view::npos) return spelt.substr(1, spelt.size() - 2);
    return unescaped_.emplace_back(unescaped(spelt));
  }

  std::vector<member> list_;
  std::deque<std::string> unescaped_;  ///< names that are spelt otherwise
  std::unordered_map<std::string_view, std::size_t, seeded_hash> index_;
};

members::members(std::string_view object, const long_values& known) {
  std::size_t at = object.find_first_not_of(k_white_space, 1);
  while (at < object.size() && object[at] == '"') {  // not covered: valid JSON closes what it opens
    const std::size_t name_end = end_of_string(object, at);
    const std::string_view spelt = object.substr(at, name_end - at);
    const std::size_t colon = object.find(':', name_end);
    const std::size_t value = object.find_first_not_of(k_white_space, colon + 1);
    const std::size_t value_end = end_of_value(object, value, known);
    const std::string_view name = name_in(spelt);
    const std::string_view text = object.substr(value, value_end - value);
    const auto [same, is_new] = index_.try_emplace(name, list_.size());
    if (is_new) {
      list_.push_back({name, spelt, text});
    } else {
      list_[same->second].value = text;
    }
    const std::size_t comma = object.find_first_not_of(k_white_space, value_end);
    if (comma == std::string_view::npos || object[comma] != ',') break;  // not covered: as above
    at = object.find_first_not_of(k_white_space, comma + 1);
  }
}

/// One target and one patch.
class merging {
 public:
  merging(std::string_view target, std::string_view patch) : in_target_{target}, in_patch_{patch} {
    out_.reserve(target.size() + patch.size());
    append(target, patch);
  }
  [[nodiscard]] std::string take() && noexcept { return std::move(out_); }

 private:
  void append(std::string_view target, std::string_view patch);
  void append_member(std::string_view spelt) {
    if (out_.back() != '{') out_.push_back(',');
    out_.append(spelt);
    out_.push_back(':');
  }

  long_values in_target_;
  long_values in_patch_;
  std::string out_;
};

/// RFC 7396, section 2: MergePatch(Target, Patch).
void merging::append(std::string_view target, std::string_view patch) {
  if (!is_object(patch)) {
    out_.append(patch);
    return;
  }
  members changes{patch, in_patch_};
  out_.push_back('{');
  if (is_object(target)) {
    members kept{target, in_target_};
    for (const member& old : kept.list()) {
      member* change = changes.find(old.name);
      if (change == nullptr) {
        append_member(old.spelt);
        out_.append(old.value);
        continue;
      }
      if (change->value != "null") {
        append_member(old.spelt);
        append(old.value, change->value);
      }
      change->value = "null";  // done: what is left below is new
    }
  }
  for (const member& added : changes.list()) {
    if (added.value == "null") continue;
    append_member(added.spelt);
    append({}, added.value);
  }
  out_.push_back('}');
}

}  // namespace

std::string merge_patch(std::string_view target, std::string_view patch) {
  return merging{trimmed(target), trimmed(patch)}.take();
}

outcome merge_patch_reducer::apply(const event& e, state& s, effects&) const {
  s.assign(merge_patch(s.exists() ? s.value() : std::string_view{}, e.payload));
  return done();
}

}  // namespace ratchet
