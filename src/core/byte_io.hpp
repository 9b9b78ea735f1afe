// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "ratchet/types.hpp"

namespace ratchet::layout {

/// Writes `Size` bytes, big-endian, and returns the end.
template <std::size_t Size>
inline char* put_number(char* at, std::uint64_t value) {
  static_assert(Size <= sizeof value);
  value <<= (sizeof value - Size) * 8;
  if constexpr (std::endian::native == std::endian::little) value = __builtin_bswap64(value);
  std::memcpy(at, &value, Size);
  return at + Size;
}

/// The first 8 bytes as a number that compares as they do; a shorter string is filled up with zeros.
inline std::uint64_t leading_bytes(std::string_view text) noexcept {
  std::uint64_t value = 0;
  std::memcpy(&value, text.data(), std::min(text.size(), sizeof value));
  return std::endian::native == std::endian::little ? __builtin_bswap64(value) : value;
}

/// Appends to a string.
class byte_writer {
 public:
  explicit byte_writer(std::string& out) : out_{&out} {}
  void u8(unsigned value) { out_->push_back(static_cast<char>(value)); }
  void u16(unsigned value) { number<2>(value); }
  void u32(std::uint32_t value) { number<4>(value); }
  void u64(std::uint64_t value) { number<8>(value); }
  void i32(std::int32_t value) { u32(static_cast<std::uint32_t>(value)); }
  void i64(std::int64_t value) { u64(static_cast<std::uint64_t>(value)); }
  void time(timestamp t) { i64(t.time_since_epoch().count()); }
  void hash(const hash128& h) {
    u64(h.high);
    u64(h.low);
  }
  void raw(std::string_view bytes) { out_->append(bytes); }
  void bytes(std::string_view bytes) {
    u32(static_cast<std::uint32_t>(bytes.size()));
    raw(bytes);
  }
  /// Order-preserving and prefix-free.
  void text(std::string_view bytes) {
    for (const char c : bytes) {
      out_->push_back(c);
      if (c == '\0') out_->push_back('\xFF');
    }
    out_->append("\0\x01", 2);
  }

 private:
  template <std::size_t Size>
  void number(std::uint64_t value) {
    char bytes[Size];
    put_number<Size>(bytes, value);
    out_->append(bytes, Size);
  }
  std::string* out_;
};

/// Reads from a view. A read past the end gives zeros and makes it bad; who reads looks at done() once, at
/// the end.
class byte_reader {
 public:
  explicit byte_reader(std::string_view in) : in_{in} {}
  [[nodiscard]] unsigned u8() { return static_cast<unsigned>(number<1>()); }
  [[nodiscard]] std::uint16_t u16() { return static_cast<std::uint16_t>(number<2>()); }
  [[nodiscard]] std::uint32_t u32() { return static_cast<std::uint32_t>(number<4>()); }
  [[nodiscard]] std::uint64_t u64() { return number<8>(); }
  [[nodiscard]] std::int32_t i32() { return static_cast<std::int32_t>(u32()); }
  [[nodiscard]] std::int64_t i64() { return static_cast<std::int64_t>(u64()); }
  [[nodiscard]] timestamp time() { return timestamp{std::chrono::milliseconds{i64()}}; }
  [[nodiscard]] hash128 hash() {
    const std::uint64_t high = u64();
    return {high, u64()};
  }
  [[nodiscard]] event_id id() {
    const std::uint64_t high = u64();
    return {high, u64()};
  }
  [[nodiscard]] std::string_view bytes() { return take(u32()); }
  [[nodiscard]] std::string text() {
    std::string out;
    while (!bad_) {
      const std::string_view c = take(1);
      if (bad_) break;
      if (c[0] != '\0') {
        out.push_back(c[0]);
        continue;
      }
      const unsigned mark = u8();
      if (mark == 0x01U) return out;
      if (mark != 0xFFU) bad_ = true;
      out.push_back('\0');
    }
    return out;
  }
  [[nodiscard]] std::string_view rest() { return take(in_.size()); }
  [[nodiscard]] std::string_view take(std::size_t size) {
    if (size > in_.size()) {
      bad_ = true;
      in_ = {};
      return {};
    }
    const std::string_view out = in_.substr(0, size);
    in_.remove_prefix(size);
    return out;
  }
  void expect(bool condition) {
    if (!condition) bad_ = true;
  }
  [[nodiscard]] bool bad() const { return bad_; }
  /// Nothing was missing, and nothing is left over.
  [[nodiscard]] bool done() const { return !bad_ && in_.empty(); }

 private:
  template <std::size_t Size>
  std::uint64_t number() {
    const std::string_view b = take(Size);
    std::uint64_t value = 0;
    for (const char c : b) value = value << 8U | static_cast<unsigned char>(c);
    return value;
  }
  std::string_view in_;
  bool bad_{false};
};

}  // namespace ratchet::layout
