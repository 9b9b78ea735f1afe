// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/time_text.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>

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

/// What stands at fixed places. `failed` sticks, so that one branch at the end tells.
struct fixed_fields {
  std::string_view text;
  bool failed{false};

  int two(std::size_t at) noexcept {
    const int tens = text[at] - '0';
    const int ones = text[at + 1] - '0';
    failed |= static_cast<unsigned>(tens) > 9 || static_cast<unsigned>(ones) > 9;
    return tens * 10 + ones;
  }
  void expect(std::size_t at, char c) noexcept { failed |= text[at] != c; }
  void expect(std::size_t at, char c, char or_this) noexcept {
    failed |= text[at] != c && text[at] != or_this;
  }
};

/// The fraction's milliseconds, where one stands at `at`, which is moved behind it; further digits are cut
/// off. -1: a point without digits.
int read_fraction(std::string_view text, std::size_t& at) noexcept {
  if (at == text.size() || text[at] != '.') return 0;
  const std::size_t first = ++at;
  int value = 0;
  for (; at < text.size() && json::is_digit(text[at]); ++at) {
    if (at - first < 3) value = value * 10 + (text[at] - '0');
  }
  if (at == first) return -1;
  for (std::size_t count = at - first; count < 3; ++count) value *= 10;
  return value;
}

/// The offset that is the whole of `text`: Z or +hh:mm.
std::optional<minutes> read_offset(std::string_view text) noexcept {
  if (text == "Z" || text == "z") return minutes{0};
  if (text.size() != 6) return std::nullopt;
  fixed_fields f{text};
  f.expect(0, '+', '-');
  f.expect(3, ':');
  const int hour = f.two(1);
  const int minute = f.two(4);
  if (f.failed || hour > 23 || minute > 59) return std::nullopt;
  const minutes offset = hours{hour} + minutes{minute};
  return text[0] == '-' ? -offset : offset;
}

}  // namespace

std::optional<timestamp> parse_rfc3339(std::string_view text) noexcept {
  std::size_t at = 19;  // behind the seconds
  if (text.size() <= at) return std::nullopt;
  fixed_fields f{text};
  const int year = f.two(0) * 100 + f.two(2);
  const int month = f.two(5);
  const int day = f.two(8);
  const int hour = f.two(11);
  const int minute = f.two(14);
  const int second = f.two(17);
  f.expect(4, '-');
  f.expect(7, '-');
  f.expect(10, 'T', 't');
  f.expect(13, ':');
  f.expect(16, ':');
  if (f.failed || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  const int millisecond = read_fraction(text, at);
  if (millisecond < 0) return std::nullopt;
  const auto offset = read_offset(text.substr(at));
  const std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!offset || !date.ok()) return std::nullopt;
  timestamp t{std::chrono::sys_days{date}};
  t += hours{hour} + minutes{minute} + seconds{second} - *offset;
  if (second < 60) {
    t += milliseconds{millisecond};
  } else if (t - std::chrono::floor<days>(t) != milliseconds{0}) {
    return std::nullopt;  // leap seconds end a day of UTC
  }
  if (!in_range(t)) return std::nullopt;
  return t;
}

namespace {

/// As JSON writes an integer.
std::optional<std::int64_t> parse_integer(std::string_view text) noexcept {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty() || (digits.size() > 1 && digits.front() == '0')) return std::nullopt;
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::optional<timestamp> in_known_years(milliseconds since_1970) noexcept {
  const timestamp t{since_1970};
  if (!in_range(t)) return std::nullopt;
  return t;
}

/// As in 1714557600.25: digits behind the third are cut off.
std::optional<timestamp> parse_seconds(std::string_view text) noexcept {
  const std::size_t point = text.find('.');
  const auto whole = parse_integer(text.substr(0, point));
  constexpr std::int64_t k_most = std::numeric_limits<std::int64_t>::max() / 1000 - 1;
  if (!whole || *whole > k_most || *whole < -k_most) return std::nullopt;
  std::int64_t thousandths = 0;
  if (point != std::string_view::npos) {
    const std::string_view fraction = text.substr(point + 1);
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    if (fraction.empty() || !std::all_of(fraction.begin(), fraction.end(), is_digit)) return std::nullopt;
    for (std::size_t i = 0; i < 3; ++i)
      thousandths = thousandths * 10 + (i < fraction.size() ? fraction[i] - '0' : 0);
  }
  return in_known_years(milliseconds{*whole * 1000 + (text.starts_with('-') ? -thousandths : thousandths)});
}

}  // namespace

std::optional<timestamp> parse_milliseconds(std::string_view text) noexcept {
  const auto value = parse_integer(text);
  return value ? in_known_years(milliseconds{*value}) : std::nullopt;
}

std::optional<timestamp> parse_time_number(std::string_view text, time_unit unit) noexcept {
  switch (unit) {
    case time_unit::milliseconds:
      return parse_milliseconds(text);
    case time_unit::seconds:
      return parse_seconds(text);
    case time_unit::microseconds:
    case time_unit::nanoseconds:
      break;
  }
  const auto value = parse_integer(text);
  if (!value) return std::nullopt;
  using std::chrono::floor;
  return in_known_years(unit == time_unit::microseconds
                            ? floor<milliseconds>(std::chrono::microseconds{*value})
                            : floor<milliseconds>(std::chrono::nanoseconds{*value}));
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
