// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/unavailable_columns.hpp"

#include <cstdint>
#include <cstring>
#include <utility>

#include "core/decoded_event.hpp"
#include "core/json_scan.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

namespace {

using json_scan::long_values;

[[nodiscard]] std::string base64_of(std::string_view bytes) {
  constexpr std::string_view k_alphabet{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"};
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      group = group << 8U | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      const bool is_there = at + i <= bytes.size();
      out += is_there ? k_alphabet[group >> (18U - 6U * i) & 0x3FU] : '=';
    }
  }
  return out;
}

/// Where the byte stands that is the rarest in what people store.
[[nodiscard]] std::size_t rare_in(std::string_view text) {
  constexpr std::string_view k_rarest_first{"QZXJqzjKVYWHUGxkBFPMDNOLRISTCAE=wvybfgpm"};
  for (const char c : k_rarest_first) {
    if (const std::size_t at = text.find(c); at != std::string_view::npos) return at;
  }
  return 0;
}

/// The first of what an array or object holds; empty: it holds nothing.
[[nodiscard]] std::string_view inside(std::string_view container) noexcept {
  return json_scan::trimmed(container.substr(1, container.size() - 2));
}

struct member {
  std::string_view name;  ///< with its quotes
  std::string_view value;
};

/// Moves `at` behind the next member of the object. False: there is none.
[[nodiscard]] bool next(std::string_view object, std::size_t& at, const long_values& ends, member& out) {
  at = json_scan::skip_space(object, at + 1);  // behind the brace, or the comma
  if (at >= object.size() || object[at] != '"') return false;
  const std::size_t name_end = json_scan::end_of_string(object, at);
  out.name = object.substr(at, name_end - at);
  at = json_scan::skip_space(object, json_scan::skip_space(object, name_end) + 1);  // behind the colon
  const std::size_t value_end = json_scan::end_of_value(object, at, ends);
  out.value = object.substr(at, value_end - at);
  at = json_scan::skip_space(object, value_end);
  return true;
}

/// The last member of this name, as most parsers take it.
[[nodiscard]] std::string_view member_of(std::string_view object, std::string_view name,
                                         const long_values& ends) {
  std::string_view found;
  if (!json_scan::is_object(object)) return found;
  const std::string wanted = json_scan::unescaped(name);
  std::size_t at = 0;
  for (member m; next(object, at, ends, m);) {
    if (m.name == name || json_scan::unescaped(m.name) == wanted) found = m.value;
  }
  return found;
}

}  // namespace

unavailable_columns::unavailable_columns(std::string_view placeholder)
    : text_{placeholder},
      base64_{base64_of(placeholder)},
      map_{R"({")" + text_ + R"(":")" + text_ + R"("})"},
      rare_in_text_{rare_in(text_)},
      rare_in_base64_{rare_in(base64_)} {}

bool unavailable_columns::may_be_in(std::string_view json) const noexcept {
  if (text_.empty()) return false;
  // Most texts have neither of the two bytes.
  const bool text = std::memchr(json.data(), text_[rare_in_text_], json.size()) != nullptr;
  const bool base64 = std::memchr(json.data(), base64_[rare_in_base64_], json.size()) != nullptr;
  if (!text && !base64) return false;
  return (text && stands_in(json, text_, rare_in_text_)) ||
         (base64 && stands_in(json, base64_, rare_in_base64_));
}

/// Looks for the byte that is rare, and there for the rest: most texts have neither.
bool unavailable_columns::stands_in(std::string_view json, std::string_view what,
                                    std::size_t rare) const noexcept {
  if (json.size() < what.size()) return false;
  const char* p = json.data() + rare;
  const char* const end = json.data() + json.size() - (what.size() - rare) + 1;
  while (p < end) {
    p = static_cast<const char*>(std::memchr(p, what[rare], static_cast<std::size_t>(end - p)));
    if (p == nullptr) return false;
    if (std::memcmp(p - rare, what.data(), what.size()) == 0) return true;
    ++p;
  }
  return false;
}

bool unavailable_columns::is_placeholder(std::string_view value, bool outermost) const {
  if (value.empty()) return false;
  if (value.front() == '"') {
    const std::string text = json_scan::unescaped(value);
    return text == text_ || text == base64_ || text == map_;
  }
  if (!outermost || (value.front() != '[' && value.front() != '{') || value.size() < 2) return false;
  if (value.front() == '{') {
    std::size_t at = 0;
    member only;
    const long_values ends{value};
    return next(value, at, ends, only) && is_placeholder(only.name, false) &&
           is_placeholder(only.value, false) && value[at] == '}';
  }
  const std::string_view element = inside(value);
  return !element.empty() && element.front() == '"' &&
         json_scan::end_of_string(element, 0) == element.size() && is_placeholder(element, false);
}

std::optional<std::string_view> unavailable_columns::first_in(std::string_view row) const {
  row = json_scan::trimmed(row);
  if (is_placeholder(row, true)) return std::string_view{};
  if (!json_scan::is_object(row)) return std::nullopt;
  const long_values ends{row};
  std::size_t at = 0;
  for (member m; next(row, at, ends, m);) {
    if (is_placeholder(m.value, true)) return m.name.substr(1, m.name.size() - 2);
  }
  return std::nullopt;
}

std::string unavailable_columns::filled(std::string_view row, std::string_view before) const {
  row = json_scan::trimmed(row);
  before = json_scan::trimmed(before);
  if (!json_scan::is_object(row))
    return std::string{is_placeholder(row, true) && !before.empty() ? before : row};
  const long_values ends{row};
  const long_values ends_before{before};
  std::string out{"{"};
  std::size_t at = 0;
  for (member m; next(row, at, ends, m);) {
    std::string_view value = m.value;
    if (is_placeholder(value, true)) {
      value = member_of(before, m.name, ends_before);
      if (value.empty() || is_placeholder(value, true)) value = m.value;
    }
    if (out.size() > 1) out += ',';
    out.append(m.name).append(":").append(value);
  }
  return out += '}';
}

outcome row_reducer::apply(const event& e, state& s, effects&) const {
  // Rows that are new or read have all their columns.
  if (brings_all_columns(e.type) || !unavailable_.may_be_in(e.payload)) {
    s.assign_payload(e);
    return done();
  }
  const std::string row = unavailable_.filled(e.payload, s.exists() ? s.value() : std::string_view{});
  if (const auto column = unavailable_.first_in(row)) {
    const std::string which = column->empty() ? "the row" : "the column " + std::string{*column};
    return give_up(make_error_code(errc::reducer_failed),
                   std::string{name_of(malformed_reason::unavailable_column)} +
                       ": the change does not bring " + which + ", and nothing is stored of it");
  }
  s.assign(row);
  return done();
}

}  // namespace ratchet
