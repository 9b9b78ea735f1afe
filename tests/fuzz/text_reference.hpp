// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

#include "ratchet/types.hpp"

/// What ids, sequences and times mean, once more: slow and plain, by the C library, written from RFC 9562,
/// RFC 3339 and the words of the headers in src/decode.
namespace ratchet::fuzz {

inline bool all_digits(std::string_view text) {
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
  }
  return !text.empty();
}

inline std::optional<event_id> reference_uuidv7(std::string_view text) {
  if (text.size() != 36) return std::nullopt;
  std::string digits;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : std::isxdigit(static_cast<unsigned char>(text[i])) == 0) return std::nullopt;
    if (!dash) digits += text[i];
  }
  if (digits[12] != '7' || std::string_view{"89abAB"}.find(digits[16]) == std::string_view::npos)
    return std::nullopt;
  return event_id{std::strtoull(digits.substr(0, 16).c_str(), nullptr, 16),
                  std::strtoull(digits.substr(16).c_str(), nullptr, 16)};
}

/// Decimal digits up to `most`, which is decimal itself.
inline bool is_decimal_up_to(std::string_view text, std::string_view most) {
  if (!all_digits(text)) return false;
  while (text.size() > 1 && text.front() == '0') text.remove_prefix(1);
  return text.size() < most.size() || (text.size() == most.size() && text <= most);
}

inline std::optional<sequence> reference_u128(std::string_view text) {
  if (!is_decimal_up_to(text, "340282366920938463463374607431768211455")) return std::nullopt;
  __extension__ using u128 = unsigned __int128;
  u128 value = 0;
  for (const char c : text) value = value * 10 + static_cast<unsigned>(c - '0');
  return sequence{static_cast<std::uint64_t>(value >> 64U), static_cast<std::uint64_t>(value)};
}

inline std::optional<sequence> reference_hex_u128(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos)
    return std::nullopt;
  const std::size_t zeros = std::min(text.find_first_not_of('0'), text.size());
  const std::string digits{text.substr(zeros)};
  if (digits.size() > 32) return std::nullopt;
  const std::string padded = std::string(32 - digits.size(), '0') + digits;
  return sequence{std::strtoull(padded.substr(0, 16).c_str(), nullptr, 16),
                  std::strtoull(padded.substr(16).c_str(), nullptr, 16)};
}

inline std::optional<std::uint64_t> reference_u64(std::string_view text) {
  if (!is_decimal_up_to(text, "18446744073709551615")) return std::nullopt;
  return reference_u128(text)->number;
}

inline bool in_four_digit_years(std::int64_t ms) {
  return ms >= -62'167'219'200'000 && ms < 253'402'300'800'000;
}

inline std::optional<timestamp> at_milliseconds(std::int64_t ms) {
  if (!in_four_digit_years(ms)) return std::nullopt;
  return timestamp{std::chrono::milliseconds{ms}};
}

inline std::optional<timestamp> reference_milliseconds(std::string_view text) {
  const bool minus = text.starts_with('-');
  const std::string_view digits = text.substr(minus ? 1 : 0);
  if (!all_digits(digits) || (digits.size() > 1 && digits.front() == '0') || digits.size() > 15)
    return std::nullopt;
  const std::int64_t value = std::atoll(std::string{digits}.c_str());
  return at_milliseconds(minus ? -value : value);
}

/// Seconds since 1970 of a civil time, by the C library's calendar; none where the calendar does not have the
/// day.
inline std::optional<std::int64_t> seconds_of(const std::tm& want) {
  std::tm moved = want;
  const std::int64_t seconds = ::timegm(&moved);
  if (moved.tm_year != want.tm_year || moved.tm_mon != want.tm_mon || moved.tm_mday != want.tm_mday)
    return std::nullopt;
  return seconds;
}

inline std::optional<timestamp> reference_rfc3339(std::string_view text) {
  const auto number = [&text](std::size_t at, std::size_t digits, int most) -> int {
    if (at + digits > text.size() || !all_digits(text.substr(at, digits))) return -1;
    const int value = std::atoi(std::string{text.substr(at, digits)}.c_str());
    return value <= most ? value : -1;
  };
  const auto is = [&text](std::size_t at, std::string_view one_of) {
    return at < text.size() && one_of.find(text[at]) != std::string_view::npos;
  };
  const int year = number(0, 4, 9999);
  const int month = number(5, 2, 12);
  const int day = number(8, 2, 31);
  const int hour = number(11, 2, 23);
  const int minute = number(14, 2, 59);
  const int second = number(17, 2, 60);
  if (year < 0 || month < 1 || day < 1 || hour < 0 || minute < 0 || second < 0) return std::nullopt;
  if (!is(4, "-") || !is(7, "-") || !is(10, "Tt") || !is(13, ":") || !is(16, ":")) return std::nullopt;
  std::size_t at = 19;
  std::string fraction;
  if (is(at, ".")) {
    for (++at; is(at, "0123456789"); ++at) fraction += text[at];
    if (fraction.empty()) return std::nullopt;
  }
  std::int64_t offset = 0;  // minutes
  if (is(at, "+-")) {
    const int hours = number(at + 1, 2, 23);
    const int minutes = number(at + 4, 2, 59);
    if (hours < 0 || minutes < 0 || !is(at + 3, ":")) return std::nullopt;
    offset = (text[at] == '-' ? -1 : 1) * (hours * 60 + minutes);
    at += 6;
  } else if (is(at, "Zz")) {
    ++at;
  } else {
    return std::nullopt;
  }
  if (at != text.size()) return std::nullopt;
  std::tm civil{};
  civil.tm_year = year - 1900;
  civil.tm_mon = month - 1;
  civil.tm_mday = day;
  const auto midnight = seconds_of(civil);
  if (!midnight) return std::nullopt;
  const std::int64_t total = *midnight + hour * 3600 + minute * 60 + second - offset * 60;
  if (second == 60) return total % 86'400 == 0 ? at_milliseconds(total * 1000) : std::nullopt;
  return at_milliseconds(total * 1000 + std::atoi((fraction + "000").substr(0, 3).c_str()));
}

/// A media type in lower case, without its parameters and the white space around it.
inline std::string media_type(std::string_view text) {
  std::string type;
  for (const char c : text.substr(0, text.find(';')))
    type += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) type.pop_back();
  type.erase(0, type.find_first_not_of(" \t"));
  return type;
}

inline bool is_json(std::string_view type) {
  return type == "application/json" || type == "text/json" || (type.size() > 5 && type.ends_with("+json"));
}

}  // namespace ratchet::fuzz
