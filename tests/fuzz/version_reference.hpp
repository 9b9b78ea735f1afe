// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "fuzz/text_reference.hpp"
#include "ratchet/config.hpp"

/// What versions of each kind mean, once more: as texts that are compared byte by byte. Written from the
/// words of decode/sequence_kinds.hpp and the reference of the config.
namespace ratchet::fuzz {

/// Of two versions that can be read the greater one has the greater key, and equal ones have one.
using version_key = std::optional<std::string>;

inline std::string padded(std::string_view digits, std::size_t places) {
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  if (digits.size() > places) return std::string{digits};
  return std::string(places - digits.size(), '0') + std::string{digits};
}

inline std::string_view cut_zeros_behind(std::string_view digits) {
  while (!digits.empty() && digits.back() == '0') digits.remove_suffix(1);
  return digits;
}

/// Digits before the point, and behind it without zeros at the end.
inline version_key key_of_parts(std::string_view whole, std::string_view fraction, std::size_t places) {
  if (!is_decimal_up_to(whole, "18446744073709551615")) return std::nullopt;
  fraction = cut_zeros_behind(fraction);
  if (fraction.size() > places) return std::nullopt;
  return padded(whole, 20) + "." + std::string{fraction};
}

inline version_key decimal_key(std::string_view text) {
  std::string mantissa{text.substr(0, text.find_first_of("eE"))};
  std::string_view power_text;
  bool is_small = false;
  if (mantissa.size() < text.size()) {
    power_text = text.substr(mantissa.size() + 1);
    is_small = power_text.starts_with('-');
    if (is_small || power_text.starts_with('+')) power_text.remove_prefix(1);
    if (!all_digits(power_text)) return std::nullopt;
  }
  const std::size_t point = mantissa.find('.');
  std::string whole = mantissa.substr(0, point);
  std::string fraction = point == std::string::npos ? "" : mantissa.substr(point + 1);
  if (!all_digits(whole) || (point != std::string::npos && !all_digits(fraction))) return std::nullopt;
  if (power_text.empty()) return key_of_parts(whole, fraction, 19);
  const bool is_zero = (whole + fraction).find_first_not_of('0') == std::string::npos;
  // What the reader takes on itself: 64 digits on either side, and a power below 64.
  if (whole.size() > 64 || cut_zeros_behind(fraction).size() > 64) return std::nullopt;
  if (is_zero) return key_of_parts("0", "", 19);
  if (!is_decimal_up_to(power_text, "63")) return std::nullopt;
  for (int power = std::atoi(std::string{power_text}.c_str()); power > 0; --power) {
    if (is_small) {
      if (whole.empty()) whole = "0";
      fraction.insert(fraction.begin(), whole.back());
      whole.pop_back();
    } else {
      if (fraction.empty()) fraction = "0";
      whole += fraction.front();
      fraction.erase(0, 1);
    }
  }
  return key_of_parts(whole.empty() ? "0" : whole, fraction, 19);
}

inline version_key hlc_key(std::string_view text) {
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view logical = point == std::string_view::npos ? "0" : text.substr(point + 1);
  if (!all_digits(whole) || !all_digits(logical)) return std::nullopt;
  return key_of_parts(whole, logical, 10);
}

/// RFC 3339, and as databases write it: a space for the T, +hhmm and +hh.
inline version_key time_key(std::string_view text) {
  if (text.size() < 20) return std::nullopt;
  std::string whole{text.substr(0, 19)};
  std::string_view rest = text.substr(19);
  std::string fraction;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    while (!rest.empty() && std::isdigit(static_cast<unsigned char>(rest.front())) != 0) {
      fraction += rest.front();
      rest.remove_prefix(1);
    }
    if (fraction.empty()) return std::nullopt;
  }
  if (whole[10] == ' ') whole[10] = 'T';
  if (rest.starts_with('.')) return std::nullopt;
  std::string offset{rest};
  if (offset.size() == 5 && offset[3] != ':') offset.insert(3, ":");
  if (offset.size() == 3) offset += ":00";
  const auto time = reference_rfc3339(whole + offset);
  if (!time || cut_zeros_behind(fraction).size() > 19) return std::nullopt;
  // A leap second lies behind all of the second before it, and a slash behind a point.
  const bool is_leap = whole.substr(17) == "60";
  const std::int64_t seconds = time->time_since_epoch().count() / 1000 + 62'167'219'200 - (is_leap ? 1 : 0);
  return padded(std::to_string(seconds), 20) + (is_leap ? "/" : "") + "." +
         std::string{cut_zeros_behind(fraction)};
}

inline version_key lsn_key(std::string_view text) {
  const auto is_hex = [](std::string_view digits, std::size_t most) {
    return !digits.empty() && digits.size() <= most &&
           digits.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
  };
  const auto lower = [](std::string_view digits, std::size_t places) {
    std::string out = std::string(places - digits.size(), '0') + std::string{digits};
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
  };
  if (text.size() == 22 && text.starts_with("0x") && is_hex(text.substr(2), 20))
    return "s" + lower(text.substr(2), 20);
  const std::size_t slash = text.find('/');
  if (text.find(':') == std::string_view::npos) {
    if (slash == std::string_view::npos) return std::nullopt;
    const std::string_view high = text.substr(0, slash);
    const std::string_view low = text.substr(slash + 1);
    if (!is_hex(high, 8) || !is_hex(low, 8)) return std::nullopt;
    return "p" + lower(high, 8) + lower(low, 8);
  }
  const std::size_t first = text.find(':');
  const std::size_t second = text.find(':', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const std::string_view file = text.substr(0, first);
  const std::string_view block = text.substr(first + 1, second - first - 1);
  const std::string_view slot = text.substr(second + 1);
  if (!is_hex(file, 8) || !is_hex(block, 8) || !is_hex(slot, 4)) return std::nullopt;
  return "s" + lower(file, 8) + lower(block, 8) + lower(slot, 4);
}

/// Crockford's digits without those that stand for others; their order is that of the bytes.
inline version_key ulid_key(std::string_view text) {
  std::string upper;
  for (const char c : text) upper += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const bool is_one = upper.size() == 26 && upper.front() <= '7' &&
                      upper.find_first_not_of("0123456789ABCDEFGHJKMNPQRSTVWXYZ") == std::string::npos;
  return is_one ? version_key{upper} : std::nullopt;
}

inline version_key uuid_key(std::string_view text) {
  if (!reference_uuidv7(text)) return std::nullopt;
  std::string lower;
  for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

/// The classes of core/ordered_text.hpp.
inline version_key text_key(std::string_view text) {
  const auto is_of = [text](std::string_view characters, std::size_t most) {
    return text.size() <= most && text.find_first_not_of(characters) == std::string_view::npos;
  };
  const auto is_of_utf8 = [](char c) { return c != '\0' && static_cast<unsigned char>(c) <= 0xF4; };
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_of_utf8)) return std::nullopt;
  const bool fits = text.size() <= 16 || is_of("0123456789", 37) || is_of("0123456789-./:TZ", 30) ||
                    is_of("0123456789:abcdef", 30) || is_of("0123456789-abcdefghijklmnopqrstuvwxyz", 24) ||
                    is_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", 24) ||
                    (ulid_key(text) == text && text.front() == '0') || uuid_key(text) == text;
  return fits ? version_key{text} : std::nullopt;
}

inline version_key key_of_version(sequence_kind kind, std::string_view text) {
  switch (kind) {
    case sequence_kind::decimal:
      return decimal_key(text);
    case sequence_kind::time:
      return time_key(text);
    case sequence_kind::lsn:
      return lsn_key(text);
    case sequence_kind::hlc:
      return hlc_key(text);
    case sequence_kind::ulid:
      return ulid_key(text);
    case sequence_kind::uuidv7:
      return uuid_key(text);
    default:
      return text_key(text);
  }
}

}  // namespace ratchet::fuzz
