// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "text/unlikely_times.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

#include "decode/time_text.hpp"
#include "text/config_words.hpp"

namespace ratchet {

namespace {

/// Of one millisecond.
std::int64_t parts_of(time_unit unit) noexcept {
  return unit == time_unit::microseconds ? 1'000 : unit == time_unit::nanoseconds ? 1'000'000 : 1;
}

/// The digits that the producer sent, but for those behind the millisecond. None: they are too many.
std::optional<std::string> digits_of(timestamp t, time_unit unit) {
  const std::int64_t since_1970 = t.time_since_epoch().count();
  if (unit == time_unit::seconds) return std::to_string(since_1970 / 1000);
  std::int64_t number = 0;
  if (__builtin_mul_overflow(since_1970, parts_of(unit), &number)) return std::nullopt;
  return std::to_string(number);
}

/// As in 20260131 or 20260131120000.
bool are_a_date(std::string_view digits) noexcept {
  if (digits.size() != 8 && digits.size() != 12 && digits.size() != 14) return false;
  const auto number = [digits](std::size_t at, std::size_t size) {
    int value = 0;
    for (const char c : digits.substr(at, size)) value = value * 10 + (c - '0');
    return value;
  };
  const bool is_day = number(0, 4) >= 1990 && number(0, 4) < 2100 && number(4, 2) >= 1 &&
                      number(4, 2) <= 12 && number(6, 2) >= 1 && number(6, 2) <= 31;
  return is_day && (digits.size() == 8 || (number(8, 2) < 24 && number(10, 2) < 60));
}

}  // namespace

std::string hint_on_unlikely_time(timestamp t, time_unit read_as, const std::string& from) {
  const auto digits = digits_of(t, read_as);
  if (!digits || digits->starts_with('-')) return {};
  for (const time_unit unit :
       {time_unit::seconds, time_unit::milliseconds, time_unit::microseconds, time_unit::nanoseconds}) {
    const auto other = unit == read_as ? std::nullopt : parse_time_number(*digits, unit);
    if (!other || is_unlikely(*other)) continue;
    const std::string word{word_of(unit)};
    return "as numbers of the unit " + word + " they are of " + to_rfc3339(*other).substr(0, 10) +
           ": set `time: {from: " + (from.empty() ? "/created" : from) + ", unit: " + word + "}`";
  }
  if (are_a_date(*digits))
    return "they look like the digits of a date, " + *digits +
           ", which Ratchet reads as a number: it reads 20260131T120000Z and 2026-01-31T12:00:00Z";
  return {};
}

}  // namespace ratchet
