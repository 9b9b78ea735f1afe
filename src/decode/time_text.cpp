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
int read_milliseconds(std::string_view text, std::size_t& at) noexcept {
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
  const int millisecond = read_milliseconds(text, at);
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

namespace {

/// The month's number of three letters; 0: there is none.
int month_of(std::string_view name) noexcept {
  constexpr std::string_view k_names{"JanFebMarAprMayJunJulAugSepOctNovDec"};
  const std::size_t at = name.size() == 3 ? k_names.find(name) : std::string_view::npos;
  return at == std::string_view::npos || at % 3 != 0 ? 0 : static_cast<int>(at / 3) + 1;
}

std::string two_digits(int number) {
  return {static_cast<char>('0' + number / 10), static_cast<char>('0' + number % 10)};
}

/// Wed, 01 May 2024 10:00:00 GMT (RFC 1123; the day of the week is not looked at) as RFC 3339; empty: it is
/// none.
std::string from_rfc1123(std::string_view text) {
  const std::size_t comma = text.find(", ");
  if (comma != 3) return {};
  text.remove_prefix(comma + 2);
  const std::size_t day = text.find(' ');
  if (day != 1 && day != 2) return {};
  const int month = month_of(text.substr(day + 1, 3));
  const std::string_view rest = text.substr(std::min(day + 5, text.size()));  // 2024 10:00:00 GMT
  if (month == 0 || rest.size() < 15 || rest[4] != ' ' || text[day + 4] != ' ') return {};
  return std::string{rest.substr(0, 4)} + "-" + two_digits(month) + "-" + (day == 1 ? "0" : "") +
         std::string{text.substr(0, day)} + "T" + std::string{rest.substr(5)};
}

bool all_digits(std::string_view text) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), json::is_digit);
}

/// 20260131T120000 with its dashes and colons.
std::string spread_basic(std::string_view text) {
  const bool is_basic = text.size() >= 15 && (text[8] == 'T' || text[8] == 't') &&
                        all_digits(text.substr(0, 8)) && all_digits(text.substr(9, 6));
  if (!is_basic) return std::string{text};
  const auto part = [text](std::size_t at, std::size_t size) { return std::string{text.substr(at, size)}; };
  return part(0, 4) + "-" + part(4, 2) + "-" + part(6, 2) + "T" + part(9, 2) + ":" + part(11, 2) + ":" +
         part(13, 2) + part(15, text.size());
}

/// What stands behind the seconds and their fraction, as RFC 3339 has it; empty: it is no offset.
std::string offset_from(std::string_view zone) {
  while (zone.starts_with(' ')) zone.remove_prefix(1);
  if (zone.ends_with(']')) zone = zone.substr(0, zone.find('['));
  if (zone.size() > 4 && zone.ends_with(" UTC")) zone.remove_suffix(4);
  if (zone.empty() || zone == "Z" || zone == "z" || zone == "UTC" || zone == "GMT") return "Z";
  if (zone.front() != '+' && zone.front() != '-') return {};
  if (zone.size() == 3 && all_digits(zone.substr(1))) return std::string{zone} + ":00";
  if (zone.size() == 5 && all_digits(zone.substr(1)))
    return std::string{zone.substr(0, 3)} + ":" + std::string{zone.substr(3)};
  return std::string{zone};
}

}  // namespace

std::optional<timestamp> parse_time_spelling(std::string_view text) {
  if (const auto time = parse_rfc3339(text)) return time;
  constexpr std::size_t k_longest = 80;
  if (text.size() < 8 || text.size() > k_longest) return std::nullopt;
  std::string t = from_rfc1123(text);
  if (t.empty()) t = spread_basic(text);
  constexpr std::size_t k_date = 10;
  constexpr std::size_t k_minutes = 16;
  constexpr std::size_t k_seconds = 19;
  if (t.size() == k_date) return parse_rfc3339(t + "T00:00:00Z");
  if (t.size() < k_minutes) return std::nullopt;
  if (t[k_date] == ' ') t[k_date] = 'T';
  if (t.size() == k_minutes || t[k_minutes] != ':') t.insert(k_minutes, ":00");
  if (t.size() < k_seconds) return std::nullopt;
  std::size_t zone = k_seconds;
  if (zone < t.size() && (t[zone] == '.' || t[zone] == ',')) {
    t[zone++] = '.';
    while (zone < t.size() && json::is_digit(t[zone])) ++zone;
  }
  const std::string offset = offset_from(std::string_view{t}.substr(zone));
  if (offset.empty()) return std::nullopt;
  return parse_rfc3339(t.substr(0, zone) + offset);
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
