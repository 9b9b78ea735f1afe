// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "text/units.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

namespace ratchet {

namespace {

constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

struct unit {
  std::string_view name;
  std::uint64_t factor;
};
constexpr std::array<unit, 5> k_durations{
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}}};
constexpr std::array<unit, 5> k_sizes{{{"TiB", std::uint64_t{1} << 40},
                                       {"GiB", std::uint64_t{1} << 30},
                                       {"MiB", std::uint64_t{1} << 20},
                                       {"KiB", std::uint64_t{1} << 10},
                                       {"B", 1}}};
constexpr std::uint64_t k_longest_ms = std::uint64_t{36'525} * 86'400'000;  // 100 years
constexpr std::uint64_t k_largest_bytes = std::uint64_t{1} << 63;

std::optional<std::uint64_t> parse_with_unit(std::string_view text, std::span<const unit> units,
                                             std::uint64_t most) noexcept {
  std::size_t digits = 0;
  while (digits < text.size() && is_digit(text[digits])) ++digits;
  const auto number = parse_whole_number(text.substr(0, digits));
  if (!number) return std::nullopt;
  for (const unit& u : units) {
    if (u.name != text.substr(digits)) continue;
    if (*number > most / u.factor) return std::nullopt;
    return *number * u.factor;
  }
  return std::nullopt;
}

std::string format_with_unit(std::uint64_t value, std::span<const unit> units) {
  for (const unit& u : units) {
    if (u.name == "d" && value == u.factor) continue;  // 24h, as people say
    if (value % u.factor == 0 && value != 0) return std::to_string(value / u.factor).append(u.name);
  }
  return "0" + std::string{units.back().name};
}

}  // namespace

std::optional<std::uint64_t> parse_whole_number(std::string_view text) noexcept {
  if (text.empty() || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  if (!std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
  std::uint64_t number = 0;
  const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || last != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) noexcept {
  const auto ms = parse_with_unit(text, k_durations, k_longest_ms);
  if (!ms) return std::nullopt;
  return std::chrono::milliseconds{static_cast<std::int64_t>(*ms)};
}

std::string format_duration(std::chrono::milliseconds duration) {
  return format_with_unit(static_cast<std::uint64_t>(std::max<std::int64_t>(duration.count(), 0)),
                          k_durations);
}

std::string format_rounded(std::chrono::milliseconds duration) {
  using namespace std::chrono;
  if (duration >= hours{48}) return format_duration(floor<days>(duration));
  if (duration >= minutes{120}) return format_duration(floor<hours>(duration));
  if (duration >= seconds{120}) return format_duration(floor<minutes>(duration));
  return format_duration(duration >= seconds{2} ? floor<seconds>(duration) : duration);
}

std::optional<std::uint64_t> parse_size(std::string_view text) noexcept {
  return parse_with_unit(text, k_sizes, k_largest_bytes);
}

std::string format_size(std::uint64_t bytes) {
  return format_with_unit(bytes, k_sizes);
}

}  // namespace ratchet
