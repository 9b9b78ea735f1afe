// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ratchet/types.hpp"
#include "replicate/log_epoch.hpp"

/// The records of a replicated log, byte for byte (docs/internals/replicated-log.md). Pure. All numbers are
/// big-endian.
namespace ratchet::replicate {

inline constexpr unsigned k_record_version = 1;
/// The longest part of a step in one record. Brokers take 1 MiB by default.
inline constexpr std::size_t k_chunk_bytes = std::size_t{512} << 10U;
/// The most that the rows of a step may be. A reader holds that much in memory.
inline constexpr std::size_t k_step_bytes = std::size_t{1} << 30U;
/// The longest name of an instance, and the longest address.
inline constexpr std::size_t k_name_bytes = 255;

/// The numbers are part of the format, of this version and of all later ones.
enum class record_kind : std::uint8_t { fence = 1, step = 2, point = 3, digest = 4 };

/// What each record begins with. Later versions keep it as it is, so that an older reader can still tell
/// whether a record that it cannot read would count.
struct record_head {
  record_kind kind{record_kind::fence};
  bool last{false};  ///< of a step's records
  hash128 lineage;   ///< which history: drawn when it began
  log_epoch epoch;
  std::uint64_t writer{0};  ///< drawn for each fence
  std::uint32_t layout{0};  ///< which layout of the store the rows are written in
  friend bool operator==(const record_head&, const record_head&) = default;
};

/// What a fence says beside its head.
struct fence_body {
  std::uint64_t known_step{0};  ///< the last step in its writer's store; the log may have later ones
  hash128 meaning;              ///< of the streams, as the writer's config has them
  std::string_view instance;    ///< for people
  std::string_view advertise;   ///< for people and programs: where the instance is reached
  friend bool operator==(const fence_body&, const fence_body&) = default;
};

/// A part of a step. The parts of one step stand behind each other, numbered from 0.
struct chunk_body {
  std::uint64_t step{0};
  std::uint16_t number{0};
  std::uint64_t confirmed{0};  ///< the last step that its writer knew as confirmed when it appended this
  hash128 chain;               ///< of the step, in its last record alone; zero elsewhere
  std::string_view rows;       ///< a piece of the step's rows, cut anywhere
  friend bool operator==(const chunk_body&, const chunk_body&) = default;
};

/// Each replica is to compute a digest of a piece of its state, as of the steps before this record. The
/// pieces follow one another, so that all of the state has its turn.
struct point_body {
  std::uint64_t number{0};  ///< drawn at random
  std::uint64_t most{0};    ///< the piece ends behind so many bytes of rows, or where the rows end
  std::uint8_t part{0};     ///< where it begins: in which part of the state,
  std::string_view key;     ///< and at which key of it
  friend bool operator==(const point_body&, const point_body&) = default;
};

/// What the writer computed of its own state at a point.
struct digest_body {
  std::uint64_t point{0};  ///< the number of that point
  std::uint64_t step{0};   ///< the last step before it
  hash128 hash;
  std::uint64_t bytes{0};  ///< of the rows in it
  friend bool operator==(const digest_body&, const digest_body&) = default;
};

/// One record; of the bodies that of its kind is filled.
struct log_record {
  record_head head;
  fence_body fence;
  chunk_body chunk;
  point_body point;
  digest_body digest;
  friend bool operator==(const log_record&, const log_record&) = default;
};

/// Why bytes are no record. From `newer_version` on the head was read.
enum class record_fault : std::uint8_t {
  none,
  not_a_record,      ///< does not begin as one
  head_cut_off,      ///< ends inside of the head
  newer_version,     ///< written by a later version of Ratchet
  unknown_kind,      ///< of none of the kinds
  unknown_flags,     ///< flags that its kind does not have
  no_epoch,          ///< the epoch {0, 0}, which nobody has
  cut_off,           ///< ends inside of what its kind has
  long_name,         ///< a name above k_name_bytes
  left_over,         ///< there are bytes behind its end
  step_zero,         ///< steps count from 1
  confirmed_itself,  ///< says that it was confirmed before it was written
  long_chunk,        ///< above k_chunk_bytes
  long_key,          ///< a point begins at a key above k_chunk_bytes
};
/// A word for people, as `cut_off`.
[[nodiscard]] const char* name_of(record_fault) noexcept;
/// Whether decode_record() read the head all the same.
[[nodiscard]] constexpr bool has_head(record_fault fault) noexcept {
  return fault == record_fault::none || fault >= record_fault::newer_version;
}

/// Reads a record. Texts and rows of `to` are views of `bytes`. Of a faulty record only the head is to be
/// looked at, and only where there is one; its kind may then have no name.
[[nodiscard]] record_fault decode_record(std::string_view bytes, log_record& to) noexcept;

/// Appends the bytes of a fence. Names longer than k_name_bytes are cut.
void append_fence(std::string& out, const record_head&, const fence_body&);
/// Appends the bytes of a part of a step. Its rows must not be above k_chunk_bytes.
void append_chunk(std::string& out, const record_head&, const chunk_body&);
/// Appends the bytes of a point. Its key must not be above k_chunk_bytes.
void append_point(std::string& out, const record_head&, const point_body&);
/// Appends the bytes of a digest.
void append_digest(std::string& out, const record_head&, const digest_body&);
/// Appends the bytes of a record of any kind, under the terms of its kind.
void append_record(std::string& out, const log_record&);

}  // namespace ratchet::replicate
