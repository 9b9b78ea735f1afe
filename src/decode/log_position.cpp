// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/log_position.hpp"

#include "decode/json_scan.hpp"
#include "decode/sequence_text.hpp"

namespace ratchet {

namespace {

/// So many hexadecimal digits, which are taken off the text.
std::optional<std::uint32_t> take_hex(std::string_view& text, std::size_t digits) noexcept {
  if (text.size() < digits) return std::nullopt;
  std::uint32_t value = 0;
  for (const char c : text.substr(0, digits)) {
    const int digit = json::hex_value(c);
    if (digit < 0) return std::nullopt;
    value = value << 4U | static_cast<std::uint32_t>(digit);
  }
  text.remove_prefix(digits);
  return value;
}

bool take_colon(std::string_view& text) noexcept {
  if (!text.starts_with(':')) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::optional<std::uint64_t> binlog_number(std::string_view file) noexcept {
  const std::size_t dot = file.rfind('.');
  return dot == std::string_view::npos ? std::nullopt : parse_u64(file.substr(dot + 1));
}

std::optional<sequence> binlog_sequence(std::uint64_t file, std::uint64_t position,
                                        std::uint64_t row) noexcept {
  constexpr unsigned k_position_bits = 40;
  constexpr unsigned k_row_bits = 24;
  if (position >> k_position_bits != 0 || row >> k_row_bits != 0) return std::nullopt;
  return sequence{file, position << k_row_bits | row};
}

std::optional<sqlserver_lsn> parse_sqlserver_lsn(std::string_view text) noexcept {
  const auto file = take_hex(text, 8);
  if (!file || !take_colon(text)) return std::nullopt;
  const auto block = take_hex(text, 8);
  if (!block || !take_colon(text)) return std::nullopt;
  const auto slot = take_hex(text, 4);
  if (!slot || !text.empty()) return std::nullopt;
  return sqlserver_lsn{*file, *block, static_cast<std::uint16_t>(*slot)};
}

std::optional<sequence> sqlserver_sequence(sqlserver_lsn commit,
                                           std::optional<sqlserver_lsn> change) noexcept {
  constexpr std::uint32_t k_files = 15;
  constexpr unsigned k_block_bits = 28;
  const std::uint64_t high = std::uint64_t{commit.file} << 32U | commit.block;
  std::uint64_t low = std::uint64_t{commit.slot} << 48U;
  if (!change) return sequence{high, low};
  if (change->block >> k_block_bits != 0) return std::nullopt;
  const std::uint32_t back = commit.file >= change->file ? commit.file - change->file : 0;
  // Never what a snapshot has: the lowest of a change is 1.
  if (back >= k_files) return sequence{high, low | 1U};
  low |= std::uint64_t{k_files - back} << 44U;
  low |= std::uint64_t{change->block} << 16U | change->slot;
  return sequence{high, low};
}

}  // namespace ratchet
