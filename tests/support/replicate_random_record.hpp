// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "fuzz/fuzz_input.hpp"
#include "replicate/log_reader.hpp"
#include "support/replicate_records.hpp"

/// Records of a log that are nearly right, made of bytes.
namespace ratchet::replicate::testing {

inline constexpr hash128 k_lineages[] = {k_lineage, k_other_lineage};
inline constexpr hash128 k_meanings[] = {k_meaning, {5, 5}};
/// A byte that makes the next record one of the writer that counts, in its epoch.
inline constexpr std::uint8_t k_its_writer = 0xC0;

inline std::string rows_for(std::uint64_t step, bool broken) {
  std::string rows = rows_of(step);
  if (broken) rows.pop_back();
  return rows;
}

/// The next record, as seen from a reader that has come to `at` with a step of that chain.
inline std::string make_record(fuzz::fuzz_input& in, const log_position& at, std::uint32_t slot) {
  const unsigned what = in.u8();
  if ((what & 0xF0U) == 0xF0) return std::string{in.text()};
  const unsigned who = in.u8();
  author by;
  by.epoch = (who & 0x80U) != 0 ? at.epoch : log_epoch{1 + (who & 3U), who >> 2U & 1U};
  if (by.epoch == log_epoch{}) by.epoch = {1, 0};
  if ((who & 0xBFU) == 0x2F) by.epoch = {k_generations_end, who >> 6U & 1U};
  by.writer = (who & 0x40U) != 0 ? at.writer : who >> 3U & 1U;
  by.lineage = k_lineages[(who & 0x30U) == 0x30 ? 1 : 0];
  std::string record;
  if ((what & 0x83U) == 0x82) {
    record = (what & 4U) != 0 ? by.point(at.step, what >> 3U & 7U, "key") : by.digest(at.step, at.step);
  } else if ((what & 3U) == 3) {
    record = by.fence(at.step - std::min<std::uint64_t>(at.step, 1) + (what >> 2U & 3U) % 3,
                      k_meanings[(what & 0xE0U) == 0xE0 ? 1 : 0]);
  } else {
    const unsigned which = in.u8();
    const std::uint64_t step = std::max<std::uint64_t>(at.step + (which & 3U), 1);
    const std::string rows = rows_for(step, (what & 0xC0U) == 0xC0);
    const hash128 before = at.lineage ? at.chain : founding_chain(by.lineage, slot);
    hash128 chain = next_chain(before, rows);
    if ((which & 0x60U) == 0x60) ++chain.low;
    const std::uint64_t parts = 1 + step % 3;
    const auto part = static_cast<std::uint16_t>(which >> 2U & 3U);
    const std::size_t size = rows.size() / parts;
    const std::uint64_t confirmed = std::min(step - 1, at.step + (which >> 7U));
    if (part + 1U < parts) {
      record = by.part(step, part, std::string_view{rows}.substr(part * size, size), confirmed);
    } else {
      record = by.last(step, part, std::string_view{rows}.substr(std::min((parts - 1) * size, rows.size())),
                       chain, confirmed);
    }
  }
  if ((what & 0x0CU) == 0x0C && (what & 0x10U) != 0) {
    const std::size_t where = in.u8() % record.size();
    const unsigned how = in.u8();
    if (how == 0) {
      record.resize(where);
    } else {
      record[where] = static_cast<char>(static_cast<unsigned char>(record[where]) ^ how);
    }
  }
  return record;
}

}  // namespace ratchet::replicate::testing
