// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "replicate/row_buffer.hpp"

#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "core/assert.hpp"
#include "core/byte_io.hpp"

namespace ratchet::replicate {
namespace {

void put_text(std::string& out, std::string_view text) {
  layout::byte_writer{out}.bytes(text);
}

}  // namespace

void row_buffer::begin_row(std::uint8_t family, row_op op, std::string_view key, std::size_t more) {
  RATCHET_ASSERT(key.size() <= std::numeric_limits<std::uint32_t>::max() &&
                 more <= std::numeric_limits<std::uint32_t>::max());
  bytes_.push_back(static_cast<char>(family));
  bytes_.push_back(static_cast<char>(op));
  put_text(bytes_, key);
  ++count_;
}

void row_buffer::put(std::uint8_t family, std::string_view key, std::string_view value) {
  begin_row(family, row_op::put, key, value.size());
  put_text(bytes_, value);
}

void row_buffer::put(std::uint8_t family, std::string_view key, std::string_view head,
                     std::string_view tail) {
  begin_row(family, row_op::put, key, head.size() + tail.size());
  layout::byte_writer out{bytes_};
  out.u32(static_cast<std::uint32_t>(head.size() + tail.size()));
  out.raw(head);
  out.raw(tail);
}

void row_buffer::erase(std::uint8_t family, std::string_view key) {
  begin_row(family, row_op::erase, key, 0);
}

void row_buffer::erase_range(std::uint8_t family, std::string_view begin, std::string_view behind) {
  RATCHET_ASSERT(begin <= behind);
  begin_row(family, row_op::erase_range, begin, behind.size());
  put_text(bytes_, behind);
}

void row_buffer::clear() {
  bytes_.clear();
  count_ = 0;
}

std::string row_buffer::release() {
  count_ = 0;
  return std::exchange(bytes_, {});
}

bool row_cursor::fail(row_fault fault) noexcept {
  fault_ = fault;
  return false;
}

bool row_cursor::next(row& to) noexcept {
  if (fault_ != row_fault::none || in_.done()) return false;
  to.family = static_cast<std::uint8_t>(in_.u8());
  const unsigned op = in_.u8();
  if (in_.bad()) return fail(row_fault::cut_off);
  if (op < static_cast<unsigned>(row_op::put) || op > static_cast<unsigned>(row_op::erase_range)) {
    return fail(row_fault::unknown_op);
  }
  to.op = static_cast<row_op>(op);
  to.key = in_.bytes();
  to.value = to.op == row_op::erase ? std::string_view{} : in_.bytes();
  if (in_.bad()) return fail(row_fault::cut_off);
  if (to.op == row_op::erase_range && to.value < to.key) return fail(row_fault::wrong_order);
  return true;
}

namespace {

/// The text that begins there, and moves behind it.
std::string_view take_text(const char*& at) noexcept {
  std::uint32_t size = 0;
  std::memcpy(&size, at, sizeof size);
  if constexpr (std::endian::native == std::endian::little) size = __builtin_bswap32(size);
  const std::string_view text{at + sizeof size, size};
  at = text.data() + text.size();
  return text;
}

}  // namespace

row row_at(const char* begin) noexcept {
  row out;
  out.family = static_cast<std::uint8_t>(*begin++);
  out.op = static_cast<row_op>(*begin++);
  out.key = take_text(begin);
  if (out.op != row_op::erase) out.value = take_text(begin);
  return out;
}

std::optional<std::size_t> whole_rows(std::string_view bytes) noexcept {
  row_cursor rows{bytes};
  std::size_t whole = 0;
  for (row each; rows.next(each);) {
    const std::string_view last = each.op == row_op::erase ? each.key : each.value;
    whole = static_cast<std::size_t>(last.data() + last.size() - bytes.data());
  }
  const bool may_go_on = rows.fault() == row_fault::none || rows.fault() == row_fault::cut_off;
  return may_go_on ? std::optional{whole} : std::nullopt;
}

row_fault check_rows(std::string_view bytes) noexcept {
  row_cursor rows{bytes};
  for (row each; rows.next(each);) {
  }
  return rows.fault();
}

}  // namespace ratchet::replicate
