// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/json_number.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "decode/json_scan.hpp"

namespace ratchet::json {
namespace {

/// digits * 10^exponent; the digits begin and end with none that is 0, and zero has none.
struct decimal {
  bool negative{false};
  std::string digits;
  std::int64_t exponent{0};
  friend bool operator==(const decimal&, const decimal&) = default;
};

/// Far from the end of its type, so that the length of a record may be added: behind it all are one.
constexpr std::int64_t k_most_exponent = std::int64_t{1} << 58U;

std::int64_t exponent_of(std::string_view text) noexcept {
  const bool negative = text.front() == '-';
  if (!is_digit(text.front())) text.remove_prefix(1);
  std::int64_t out = 0;
  for (const char digit : text) {
    out = std::min(out * 10 + (digit - '0'), k_most_exponent);
    if (out == k_most_exponent) break;
  }
  return negative ? -out : out;
}

std::optional<decimal> decimal_of(std::string_view text) {
  const char* p = text.data();
  const char* const end = p + text.size();
  if (p == end || (*p != '-' && !is_digit(*p)) || !scan_number(p, end) || p != end) return std::nullopt;
  decimal out;
  const std::size_t e = text.find_first_of("eE");
  if (e != std::string_view::npos) out.exponent = exponent_of(text.substr(e + 1));
  std::string_view mantissa = text.substr(0, e);
  if (mantissa.front() == '-') {
    out.negative = true;
    mantissa.remove_prefix(1);
  }
  const std::size_t point = mantissa.find('.');
  out.digits = mantissa.substr(0, point);
  if (point != std::string_view::npos) {
    const std::string_view fraction = mantissa.substr(point + 1);
    out.digits += fraction;
    out.exponent -= static_cast<std::int64_t>(fraction.size());
  }
  out.digits.erase(0, out.digits.find_first_not_of('0'));
  if (out.digits.empty()) return decimal{};
  const std::size_t size = out.digits.find_last_not_of('0') + 1;
  out.exponent += static_cast<std::int64_t>(out.digits.size() - size);
  out.digits.resize(size);
  return out;
}

}  // namespace

bool is_same_number(std::string_view a, std::string_view b) {
  const auto first = decimal_of(a);
  return first && first == decimal_of(b);
}

bool is_zero(std::string_view number) {
  return decimal_of(number) == decimal{};
}

}  // namespace ratchet::json
