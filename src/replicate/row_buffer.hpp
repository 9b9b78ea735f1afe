// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/byte_io.hpp"

namespace ratchet::replicate {

/// What is done to a key, or to a range of keys. The numbers are part of the format.
enum class row_op : std::uint8_t {
  put = 1,
  erase = 2,
  erase_range = 3,  ///< from the key, up to what stands in the value's place and without it
};

/// One change of the state. The log does not look into keys and values, and knows a family only as a number.
struct row {
  std::uint8_t family{0};
  row_op op{row_op::put};
  std::string_view key;
  std::string_view value;  ///< put: the value; erase_range: the first key behind the range; erase: empty
  friend bool operator==(const row&, const row&) = default;
};

/// The rows of a step, in the order in which they are to be applied, as the bytes that a record carries.
/// Thread-safety: one thread at a time.
class row_buffer {
 public:
  void put(std::uint8_t family, std::string_view key, std::string_view value);
  /// A value in two pieces, copied once.
  void put(std::uint8_t family, std::string_view key, std::string_view head, std::string_view tail);
  void erase(std::uint8_t family, std::string_view key);
  /// `behind` must not be below `begin`.
  void erase_range(std::uint8_t family, std::string_view begin, std::string_view behind);

  /// Valid until the next change.
  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  /// Keeps the memory.
  void clear();
  /// Gives the bytes away, and is empty then.
  [[nodiscard]] std::string release();

 private:
  void begin_row(std::uint8_t family, row_op, std::string_view key, std::size_t more);

  std::string bytes_;
  std::size_t count_{0};
};

enum class row_fault : std::uint8_t {
  none,
  cut_off,      ///< the bytes end inside of a row
  unknown_op,   ///< neither put nor erase nor erase_range
  wrong_order,  ///< a range ends before it begins
};
/// A word for people, as `cut_off`.
[[nodiscard]] const char* name_of(row_fault) noexcept;

/// Walks over the rows of a step. The rows are views of the bytes that it was given.
class row_cursor {
 public:
  explicit row_cursor(std::string_view bytes) : in_{bytes} {}
  /// False at the end, and for ever where the bytes are no rows: fault() tells them apart.
  [[nodiscard]] bool next(row& to) noexcept;
  [[nodiscard]] row_fault fault() const noexcept { return fault_; }

 private:
  [[nodiscard]] bool fail(row_fault) noexcept;

  layout::byte_reader in_;
  row_fault fault_{row_fault::none};
};

/// Bytes of a row before its key: family, op and the size of the key.
inline constexpr std::size_t k_row_head_bytes = 6;
/// Where the row begins whose key this is, as row_cursor gave it.
[[nodiscard]] inline const char* begin_of(const row& r) noexcept {
  return r.key.data() - k_row_head_bytes;
}
/// The row that begins there. row_cursor must have given it before.
[[nodiscard]] row row_at(const char* begin) noexcept;

/// How many of the bytes are whole rows, from the first on. None: the bytes behind them are no rows, however
/// they go on.
[[nodiscard]] std::optional<std::size_t> whole_rows(std::string_view bytes) noexcept;

/// None where all of the bytes are rows.
[[nodiscard]] row_fault check_rows(std::string_view bytes) noexcept;

}  // namespace ratchet::replicate
