// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/time_text.hpp"

#include <charconv>
#include <cstdint>
#include <cstdio>

#include "decode/json_scan.hpp"

namespace ratchet {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr timestamp k_first{std::chrono::sys_days{std::chrono::year{0} / 1 / 1}};
constexpr timestamp k_end{std::chrono::sys_days{std::chrono::year{10000} / 1 / 1}};

bool in_range(timestamp t) noexcept {
  return t >= k_first && t < k_end;
}

/// A cursor over the text. `failed` sticks.
struct cursor {
  std::string_view rest;
  bool failed{false};

  /// Exactly `count` digits.
  int digits(std::size_t count) noexcept {
    if (rest.size() < count) failed = true;
    if (failed) return 0;
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (!json::is_digit(rest[i])) failed = true;
      value = value * 10 + (rest[i] - '0');
    }
    rest.remove_prefix(count);
    return value;
  }
  bool take(char c) noexcept {
    if (rest.empty() || rest.front() != c) return false;
    rest.remove_prefix(1);
    return true;
  }
  void expect(char c) noexcept {
    if (!take(c)) failed = true;
  }
};

/// The fraction's milliseconds, where one follows; further digits are cut off.
int read_fraction(cursor& at) noexcept {
  if (!at.take('.')) return 0;
  int value = 0;
  int count = 0;
  while (!at.rest.empty() && json::is_digit(at.rest.front())) {
    if (count < 3) value = value * 10 + (at.rest.front() - '0');
    ++count;
    at.rest.remove_prefix(1);
  }
  if (count == 0) at.failed = true;
  for (; count < 3; ++count) value *= 10;
  return value;
}

minutes read_offset(cursor& at) noexcept {
  if (at.take('Z') || at.take('z')) return minutes{0};
  const bool minus = at.take('-');
  if (!minus) at.expect('+');
  const int hour = at.digits(2);
  at.expect(':');
  const int minute = at.digits(2);
  if (hour > 23 || minute > 59) at.failed = true;
  const minutes offset = hours{hour} + minutes{minute};
  return minus ? -offset : offset;
}

}  // namespace

std::optional<timestamp> parse_rfc3339(std::string_view text) noexcept {
  cursor at{text};
  const int year = at.digits(4);
  at.expect('-');
  const int month = at.digits(2);
  at.expect('-');
  const int day = at.digits(2);
  if (!at.take('T')) at.expect('t');
  const int hour = at.digits(2);
  at.expect(':');
  const int minute = at.digits(2);
  at.expect(':');
  const int second = at.digits(2);
  const int millisecond = read_fraction(at);
  const minutes offset = read_offset(at);
  if (at.failed || !at.rest.empty() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok()) return std::nullopt;
  timestamp t{std::chrono::sys_days{date}};
  t += hours{hour} + minutes{minute} + seconds{second} - offset;
  if (second < 60) {
    t += milliseconds{millisecond};
  } else if (t - std::chrono::floor<days>(t) != milliseconds{0}) {
    return std::nullopt;  // leap seconds end a day of UTC
  }
  if (!in_range(t)) return std::nullopt;
  return t;
}

std::optional<timestamp> parse_milliseconds(std::string_view text) noexcept {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty() || (digits.size() > 1 && digits.front() == '0')) return std::nullopt;
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  const timestamp t{milliseconds{value}};
  if (!in_range(t)) return std::nullopt;
  return t;
}

std::string to_rfc3339(timestamp t) {
  // Civil date from days by hand: std::chrono::year ends at 32767, a timestamp does not.
  constexpr std::int64_t k_day_ms = 86'400'000;
  constexpr std::int64_t k_era_days = 146'097;  // 400 years
  const std::int64_t ms = t.time_since_epoch().count();
  std::int64_t day = ms / k_day_ms;
  std::int64_t rest = ms % k_day_ms;
  if (rest < 0) {
    rest += k_day_ms;
    --day;
  }
  day += 719'468;  // days from 0000-03-01, the start of an era
  const std::int64_t era = (day >= 0 ? day : day - (k_era_days - 1)) / k_era_days;
  const std::int64_t day_of_era = day - era * k_era_days;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t shifted_month = (5 * day_of_year + 2) / 153;  // 0 is March
  const std::int64_t day_of_month = day_of_year - (153 * shifted_month + 2) / 5 + 1;
  const std::int64_t month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
  const std::int64_t year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
  const auto n = [](std::int64_t value) { return static_cast<int>(value); };
  char text[48];
  const char* sign = year < 0 ? "-" : year > 9999 ? "+" : "";
  const int size = std::snprintf(text, sizeof text, "%s%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", sign,
                                 n(year < 0 ? -year : year), n(month), n(day_of_month), n(rest / 3'600'000),
                                 n(rest / 60'000 % 60), n(rest / 1000 % 60), n(rest % 1000));
  return {text, static_cast<std::size_t>(size)};
}

}  // namespace ratchet
