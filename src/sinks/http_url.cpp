// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sinks/http_url.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace ratchet {

namespace {

[[nodiscard]] bool is_shown(char c) noexcept {
  return c > ' ' && c < 0x7f;
}

[[nodiscard]] bool is_in_name(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_';
}

[[nodiscard]] bool is_in_address(char c) noexcept {
  return (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || (c >= '0' && c <= '9') || c == ':' || c == '.';
}

/// NAME, NAME:PORT, [ADDRESS] or [ADDRESS]:PORT.
bool read_authority(std::string_view text, http_url& out) {
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return false;
    out.host = text.substr(1, end - 1);
    if (!std::all_of(out.host.begin(), out.host.end(), is_in_address)) return false;
    text.remove_prefix(end + 1);
    if (!text.empty() && text.front() != ':') return false;
    if (text == ":") return false;
    if (!text.empty()) port = text.substr(1);
  } else {
    const std::size_t colon = text.find(':');
    out.host = text.substr(0, colon);
    if (!std::all_of(out.host.begin(), out.host.end(), is_in_name)) return false;
    if (colon != std::string_view::npos) port = text.substr(colon + 1);
    if (colon != std::string_view::npos && port.empty()) return false;
  }
  if (out.host.empty()) return false;
  out.port = out.tls ? "443" : "80";
  if (port.empty()) return true;
  std::uint16_t number = 0;
  const auto [end, failed] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (failed != std::errc{} || end != port.data() + port.size() || number == 0) return false;
  out.port = std::to_string(number);
  return true;
}

}  // namespace

std::string http_url::authority() const {
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return port == (tls ? "443" : "80") ? name : name + ":" + port;
}

std::string http_url::shown() const {
  std::string out = (tls ? "https://" : "http://") + authority();
  std::string_view path = target;
  path = path.substr(0, path.find('?'));
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::string_view segment = path.substr(0, path.find('/'));
    out += '/';
    out += is_shown_segment(segment) ? segment : "***";
    path.remove_prefix(segment.size());
  }
  return out;
}

bool is_shown_segment(std::string_view text) noexcept {
  constexpr std::size_t k_longest_word = 24;
  constexpr std::size_t k_longest_version = 4;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_in_word = [](char c) { return (c >= 'a' && c <= 'z') || c == '-' || c == '_' || c == '.'; };
  if (text.starts_with('v') && text.size() <= k_longest_version &&
      std::all_of(text.begin() + 1, text.end(), is_digit))
    return true;
  return text.size() <= k_longest_word && std::all_of(text.begin(), text.end(), is_in_word);
}

std::optional<http_url> parse_http_url(std::string_view text) {
  constexpr std::size_t k_longest = 8'000;  // every server should take as much (RFC 9110, section 4.1)
  constexpr std::string_view k_plain = "http://";
  constexpr std::string_view k_tls = "https://";
  if (text.size() > k_longest || !std::all_of(text.begin(), text.end(), is_shown)) return std::nullopt;
  if (text.find_first_of("#@\\\"<>") != std::string_view::npos) return std::nullopt;
  http_url out;
  out.tls = text.starts_with(k_tls);
  if (!out.tls && !text.starts_with(k_plain)) return std::nullopt;
  text.remove_prefix(out.tls ? k_tls.size() : k_plain.size());
  const std::size_t path = text.find_first_of("/?");
  if (!read_authority(text.substr(0, path), out)) return std::nullopt;
  if (path == std::string_view::npos) return out;
  out.target = text.substr(path);
  if (out.target.front() == '?') out.target.insert(0, 1, '/');
  return out;
}

}  // namespace ratchet
