// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ratchet/types.hpp"
#include "replicate/log_reader.hpp"
#include "replicate/log_record.hpp"

/// The records of a base, byte for byte (docs/internals/replicated-log.md). A **base** is a whole copy of the
/// rows as of one step, in a topic of its own, behind which the log need not go back. Pure. All numbers are
/// big-endian.
namespace ratchet::replicate {

inline constexpr unsigned k_base_version = 1;
/// The end of the year 9999: no base was begun later.
inline constexpr std::int64_t k_last_made = 253'402'300'799'999;

/// The numbers are part of the format.
enum class base_kind : std::uint8_t { begin = 1, part = 2, end = 3 };

/// What each record begins with. Several bases may lie between each other: `base` tells them apart.
struct base_head {
  base_kind kind{base_kind::begin};
  hash128 lineage;
  std::uint64_t base{0};  ///< drawn at random for each base
  friend bool operator==(const base_head&, const base_head&) = default;
};

/// What a base is a copy of.
struct base_content {
  log_position at;          ///< behind the last step that is in it; never at a fence
  std::uint32_t layout{0};  ///< which layout of the store the rows are written in
  hash128 meaning;          ///< of the streams
  /// When it was begun, in milliseconds since 1970, by its writer's clock. Nobody else's clock need agree.
  std::int64_t made{0};
  friend bool operator==(const base_content&, const base_content&) = default;
};

/// A piece of the rows, cut anywhere. The parts of a base are numbered from 0. The rows are puts alone, in no
/// order that matters.
struct base_part {
  std::uint64_t number{0};
  std::string_view rows;
  friend bool operator==(const base_part&, const base_part&) = default;
};

/// The last record. It says again what the base is, so that it alone tells about the newest one.
struct base_end {
  base_content of;
  std::uint64_t parts{0};
  std::uint64_t bytes{0};  ///< of all rows
  hash128 hash;            ///< of all rows: next_chain() of each part behind the one before, from {} on
  friend bool operator==(const base_end&, const base_end&) = default;
};

/// One record; of the bodies that of its kind is filled.
struct base_record {
  base_head head;
  base_content begin;
  base_part part;
  base_end end;
  friend bool operator==(const base_record&, const base_record&) = default;
};

/// Reads a record. Rows of `to` are a view of `bytes`. False: the bytes are no record that this version can
/// read.
[[nodiscard]] bool decode_base_record(std::string_view bytes, base_record& to) noexcept;

void append_base_begin(std::string& out, const base_head&, const base_content&);
/// Its rows must not be above k_chunk_bytes.
void append_base_part(std::string& out, const base_head&, const base_part&);
void append_base_end(std::string& out, const base_head&, const base_end&);

}  // namespace ratchet::replicate
