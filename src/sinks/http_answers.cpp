// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sinks/http_answers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

namespace ratchet {

namespace {

[[nodiscard]] bool is_digits(std::string_view text) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

[[nodiscard]] int number(std::string_view text) noexcept {
  int value = -1;
  if (is_digits(text)) std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// "Sun, 06 Nov 1994 08:49:37 GMT".
[[nodiscard]] std::optional<std::chrono::sys_seconds> read_date(std::string_view text) {
  constexpr std::array<std::string_view, 12> k_months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  constexpr std::string_view k_form = "Sun, 06 Nov 1994 08:49:37 GMT";
  if (text.size() != k_form.size() || !text.ends_with(" GMT") || text.substr(3, 2) != ", ")
    return std::nullopt;
  const auto month = std::find(k_months.begin(), k_months.end(), text.substr(8, 3));
  const int day = number(text.substr(5, 2));
  const int year = number(text.substr(12, 4));
  const int hour = number(text.substr(17, 2));
  const int minute = number(text.substr(20, 2));
  const int second = number(text.substr(23, 2));
  if (month == k_months.end() || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 ||
      second > 60)
    return std::nullopt;
  const std::chrono::year_month_day date{
      std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month - k_months.begin() + 1)},
      std::chrono::day{static_cast<unsigned>(std::max(day, 0))}};
  if (year < 0 || !date.ok()) return std::nullopt;
  return std::chrono::sys_days{date} + std::chrono::hours{hour} + std::chrono::minutes{minute} +
         std::chrono::seconds{second};
}

}  // namespace

delivery::how meaning_of_status(unsigned status) noexcept {
  constexpr unsigned k_timeout = 408;
  constexpr unsigned k_too_early = 425;
  constexpr unsigned k_too_many = 429;
  if (status >= 200 && status < 300) return delivery::how::done;
  const bool passes =
      status == k_timeout || status == k_too_early || status == k_too_many || (status >= 500 && status < 600);
  return passes ? delivery::how::again : delivery::how::refused;
}

std::optional<std::chrono::milliseconds> read_retry_after(std::string_view text,
                                                          std::chrono::system_clock::time_point now) {
  constexpr std::uint64_t k_most_seconds = 100'000;  // above any pause that is kept to
  if (is_digits(text)) {
    std::uint64_t seconds = k_most_seconds;
    std::from_chars(text.data(), text.data() + text.size(), seconds);
    return std::chrono::seconds{std::min(seconds, k_most_seconds)};
  }
  const auto date = read_date(text);
  if (!date) return std::nullopt;
  const std::chrono::seconds left = *date - std::chrono::floor<std::chrono::seconds>(now);
  if (left.count() <= 0) return std::nullopt;
  return std::min(left, std::chrono::seconds{k_most_seconds});
}

std::string to_header_text(std::string_view text) {
  constexpr std::string_view k_digits = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > ' ' && byte < 0x7f && c != '"' && c != '%') {
      out += c;
    } else {
      out += '%';
      out += k_digits[byte >> 4U];
      out += k_digits[byte & 15U];
    }
  }
  return out;
}

std::string to_excerpt(std::string_view bytes) {
  constexpr std::size_t k_most = 200;
  std::string out{bytes.substr(0, k_most)};
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c < ' ' || c >= 0x7f; }, '.');
  return out;
}

}  // namespace ratchet
