// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sinks/answer_mask.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "sinks/http_answers.hpp"

namespace ratchet {

namespace {

constexpr std::size_t k_shortest = 4;
/// A piece of a value that counts by itself. A shorter one may be any word.
constexpr std::size_t k_shortest_piece = 8;
constexpr std::size_t k_excerpt = 200;

/// Calls `f` with each piece between two of `separators`.
template <class F>
void for_each_piece(std::string_view text, std::string_view separators, F&& f) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    f(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// %XX as the byte it stands for.
[[nodiscard]] std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view digits = text.substr(i + 1, 2);
    unsigned byte = 0;
    const bool is_code = text[i] == '%' && digits.size() == 2 &&
                         std::from_chars(digits.data(), digits.data() + 2, byte, 16).ptr == digits.data() + 2;
    out += is_code ? static_cast<char>(byte) : text[i];
    if (is_code) i += 2;
  }
  return out;
}

/// The most bytes that one of a secret takes in another spelling: `\\u00XX`, `&quot;`, `&#x00XX;`.
constexpr std::size_t k_longest_spelling = 8;

[[nodiscard]] char folded(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

struct spelled {
  char byte{0};
  std::size_t size{0};  ///< 0: it is none
};

[[nodiscard]] spelled number_at(std::string_view text, std::size_t begin, std::size_t digits, int base,
                                std::string_view end) {
  const std::string_view rest = text.substr(std::min(begin, text.size()), digits);
  unsigned byte = 0;
  const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), byte, base);
  const auto count = static_cast<std::size_t>(read.ptr - rest.data());
  const bool is_fixed = end.empty();
  if (count == 0 || byte > 0xFF || (is_fixed && count != digits)) return {};
  if (!text.substr(begin + count).starts_with(end)) return {};
  return {static_cast<char>(static_cast<unsigned char>(byte)), begin + count + end.size()};
}

/// A byte at the front of `text` in percent-encoding, as JSON or as HTML escapes it.
[[nodiscard]] spelled spelled_at(std::string_view text) {
  if (text.starts_with('%')) return number_at(text, 1, 2, 16, "");
  if (text.starts_with("\\u")) return number_at(text, 2, 4, 16, "");
  if (text.starts_with("&#x") || text.starts_with("&#X")) return number_at(text, 3, 4, 16, ";");
  if (text.starts_with("&#")) return number_at(text, 2, 5, 10, ";");
  constexpr std::pair<std::string_view, char> k_names[] = {{"&quot;", '"'}, {"&amp;", '&'},   {"&lt;", '<'},
                                                           {"&gt;", '>'},   {"&apos;", '\''}, {"\\\"", '"'},
                                                           {"\\\\", '\\'},  {"\\/", '/'},     {"\\t", '\t'}};
  for (const auto& [name, byte] : k_names) {
    if (text.starts_with(name)) return {byte, name.size()};
  }
  return {};
}

/// How many bytes of `text` are the secret, in whatever spelling and case; 0: they are not. Where they end
/// before it does they count, if they are not few.
[[nodiscard]] std::size_t secret_in_front(std::string_view secret, std::string_view text, bool plain_first) {
  std::size_t at = 0;
  for (const char c : secret) {
    const std::string_view rest = text.substr(at);
    if (rest.empty()) return at >= k_shortest ? at : 0;
    const bool is_plain = folded(rest.front()) == folded(c);
    const spelled other = spelled_at(rest);
    const bool is_other = other.size > 0 && folded(other.byte) == folded(c);
    const bool is_space = c == ' ' && rest.front() == '+';
    if (is_space || (is_plain && (plain_first || !is_other))) {
      ++at;
    } else if (is_other) {
      at += other.size;
    } else if (rest.size() < k_longest_spelling && at >= k_shortest &&
               (rest.front() == '%' || rest.front() == '\\' || rest.front() == '&')) {
      return text.size();  // cut off within a spelling
    } else {
      return 0;
    }
  }
  return at;
}

constexpr std::string_view k_base64_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// With these in place of the last two digits: URLs have others there.
[[nodiscard]] std::string base64_of(std::string_view bytes, std::string_view last_digits) {
  const std::string digits = std::string{k_base64_digits.substr(0, 62)}.append(last_digits);
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    const std::size_t count = std::min<std::size_t>(bytes.size() - i, 3);
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8U | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k <= count; ++k) out += digits[bits >> (18U - 6U * k) & 63U];
  }
  return out;  // without what fills it up
}

/// Up to the first byte that is none of Base64.
[[nodiscard]] std::string base64_decoded(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : text) {
    const std::size_t digit = k_base64_digits.find(c);
    if (digit == std::string_view::npos) break;
    bits = (bits << 6U | static_cast<std::uint32_t>(digit)) & 0xFFFFU;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(static_cast<unsigned char>(bits >> count & 0xFFU));
  }
  return out;
}

[[nodiscard]] bool is_basic(std::string_view scheme) noexcept {
  constexpr std::string_view k_basic = "basic";
  return std::equal(scheme.begin(), scheme.end(), k_basic.begin(), k_basic.end(), [](char a, char b) {
    return static_cast<char>(static_cast<unsigned char>(a) | 0x20U) == b;
  });
}

}  // namespace

answer_mask::answer_mask(const std::map<std::string, std::string>& headers, const http_url& url) {
  for (const auto& [name, value] : headers) add_value(value);
  const std::string_view target = url.target;
  const std::size_t query = std::min(target.find('?'), target.size());
  const std::string_view path = target.substr(0, query);
  bool shows_all = true;
  for_each_piece(path, "/", [&](std::string_view segment) {
    if (is_shown_segment(segment)) return;
    shows_all = false;
    add_url_text(segment);
  });
  if (!shows_all) add(std::string{path});
  if (query < target.size()) {
    add_url_text(target.substr(query + 1));
    for_each_piece(target.substr(query + 1), "&", [&](std::string_view pair) {
      add_url_text(pair.substr(std::min(pair.find('=') + 1, pair.size())));  // all of it where there is no =
    });
  }
  std::stable_sort(secrets_.begin(), secrets_.end(),
                   [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

void answer_mask::add(std::string secret) {
  if (secret.size() < k_shortest) return;
  // In Base64 also where up to two bytes stand before it: what depends on these, and on what follows, is
  // left.
  for (const std::string_view last_digits : {"+/", "-_"}) {
    for (std::size_t before = 0; before < 3 && secret.size() >= k_shortest_piece; ++before) {
      const std::string coded = base64_of(std::string(before, ' ') + secret, last_digits);
      const std::size_t whole = (before + secret.size()) * 8 / 6;
      const std::size_t first = before == 0 ? 0 : before + 1;
      secrets_.push_back(coded.substr(first, whole - first));
    }
  }
  secrets_.push_back(std::move(secret));
}

void answer_mask::add_value(const std::string& value) {
  add(value);
  for_each_piece(value, " \t;,=:\"", [&](std::string_view piece) {
    if (piece.size() >= k_shortest_piece) add(std::string{piece});
  });
  const std::size_t scheme = value.find(' ');
  if (scheme == std::string::npos) return;
  const std::string token = value.substr(std::min(value.find_first_not_of(' ', scheme), value.size()));
  add(token);
  if (!is_basic(std::string_view{value}.substr(0, scheme))) return;
  const std::string stands_for = base64_decoded(token);
  add(stands_for);
  if (const std::size_t colon = stands_for.find(':'); colon != std::string::npos)
    add(stands_for.substr(colon + 1));
}

void answer_mask::add_url_text(std::string_view text) {
  add(std::string{text});
  add(percent_decoded(text));
}

std::size_t answer_mask::secret_at_front(std::string_view bytes) const {
  for (const std::string& secret : secrets_) {
    for (const bool plain_first : {true, false}) {
      if (const std::size_t size = secret_in_front(secret, bytes, plain_first); size > 0) return size;
    }
  }
  return 0;
}

std::string answer_mask::excerpt(std::string_view bytes) const {
  std::string out;
  for (std::size_t i = 0; i < std::min(bytes.size(), k_excerpt);) {
    const std::size_t hidden = secret_at_front(bytes.substr(i));
    if (hidden > 0) {
      out += "***";
    } else {
      out += bytes[i];
    }
    i += std::max<std::size_t>(hidden, 1);
  }
  return to_excerpt(out);
}

std::size_t answer_mask::needed() const noexcept {
  return k_excerpt + k_longest_spelling * (secrets_.empty() ? 0 : secrets_.front().size());
}

}  // namespace ratchet
