// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "replicate/chain.hpp"
#include "replicate/log_record.hpp"
#include "replicate/row_buffer.hpp"

/// Records of a log, made to order.
namespace ratchet::replicate::testing {

inline constexpr hash128 k_lineage{0x1112131415161718, 0x191a1b1c1d1e1f20};
inline constexpr hash128 k_other_lineage{1, 2};
inline constexpr hash128 k_meaning{0x3132333435363738, 0x393a3b3c3d3e3f40};
inline constexpr std::uint32_t k_slot = 3;
inline constexpr std::uint32_t k_layout = 6;

struct author {
  log_epoch epoch{1, 0};
  std::uint64_t writer{7};
  hash128 lineage{k_lineage};
  std::uint32_t layout{k_layout};

  [[nodiscard]] record_head head(record_kind kind, bool last) const {
    return {kind, last, lineage, epoch, writer, layout};
  }
  [[nodiscard]] std::string fence(std::uint64_t known = 0, hash128 meaning = k_meaning) const {
    std::string out;
    append_fence(out, head(record_kind::fence, false), {known, meaning, "one", "one:9187"});
    return out;
  }
  [[nodiscard]] std::string point(std::uint64_t number, std::uint8_t part = 0,
                                  std::string_view key = {}) const {
    std::string out;
    append_point(out, head(record_kind::point, false), {number, 1'000, part, key});
    return out;
  }
  [[nodiscard]] std::string digest(std::uint64_t point, std::uint64_t step) const {
    std::string out;
    append_digest(out, head(record_kind::digest, false), {point, step, {8, 9}, 77});
    return out;
  }
  /// A part of a step that is not its last.
  [[nodiscard]] std::string part(std::uint64_t step, std::uint16_t number, std::string_view rows,
                                 std::uint64_t confirmed = 0) const {
    std::string out;
    append_chunk(out, head(record_kind::step, false), {step, number, confirmed, {}, rows});
    return out;
  }
  /// The last part of a step, or the only one.
  [[nodiscard]] std::string last(std::uint64_t step, std::uint16_t number, std::string_view rows,
                                 hash128 chain, std::uint64_t confirmed = 0) const {
    std::string out;
    append_chunk(out, head(record_kind::step, true), {step, number, confirmed, chain, rows});
    return out;
  }
};

/// A row that puts `value` at `key`.
inline std::string put_row(std::string_view key, std::string_view value) {
  row_buffer rows;
  rows.put(1, key, value);
  return rows.release();
}
/// The rows of the step with this number, as long as nobody says otherwise.
inline std::string rows_of(std::uint64_t step) {
  return put_row("k" + std::to_string(step), "v" + std::to_string(step));
}
/// The chain of that step behind steps 1, 2 … with such rows.
inline hash128 chain_of(std::uint64_t step) {
  hash128 chain = founding_chain(k_lineage, k_slot);
  for (std::uint64_t n = 1; n <= step; ++n) chain = next_chain(chain, rows_of(n));
  return chain;
}
/// That step in one record.
inline std::string step_record(const author& by, std::uint64_t step, std::uint64_t confirmed = 0) {
  return by.last(step, 0, rows_of(step), chain_of(step), confirmed);
}

}  // namespace ratchet::replicate::testing
