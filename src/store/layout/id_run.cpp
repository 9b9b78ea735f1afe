// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <limits>

#include "core/byte_io.hpp"
#include "store/layout/layout.hpp"

/// The values of runs of ids.
namespace ratchet::layout {

namespace {

constexpr std::size_t k_id_bytes = 16;
constexpr std::size_t k_length_bytes = 2;

std::uint64_t read_u64(const char* at) noexcept {
  return leading_bytes({at, sizeof(std::uint64_t)});
}

}  // namespace

void encode_id_run(std::string& out, std::span<const filed_id> ids) {
  std::size_t aggregate_bytes = 0;
  for (const filed_id& f : ids) aggregate_bytes += f.aggregate.size();
  out.resize(1 + k_length_bytes + ids.size() * (k_id_bytes + k_length_bytes) + aggregate_bytes);
  char* at = out.data();
  *at++ = k_format;
  at = put_number<k_length_bytes>(at, ids.size());
  for (const filed_id& f : ids) at = put_number<8>(put_number<8>(at, f.id.high), f.id.low);
  for (const filed_id& f : ids) at = put_number<k_length_bytes>(at, f.aggregate.size());
  for (const filed_id& f : ids) {
    std::memcpy(at, f.aggregate.data(), f.aggregate.size());
    at += f.aggregate.size();
  }
}

result<id_run> decode_id_run(id_span span, std::string_view value) {
  byte_reader in{value};
  in.expect(in.u8() == static_cast<unsigned>(k_format));
  id_run out;
  out.count_ = in.u16();
  out.ids_ = in.take(out.count_ * k_id_bytes);
  out.lengths_ = in.take(out.count_ * k_length_bytes);
  out.aggregates_ = in.rest();
  if (in.bad() || out.count_ == 0 || out.count_ > k_run_ids) return make_error_code(errc::state_damaged);
  std::string_view left = out.aggregates_;
  filed_id before;
  for (std::size_t i = 0; i < out.count_; ++i) {
    const std::size_t length = out.length(i);
    const filed_id now{out.id(i), left.substr(0, length)};
    if (length > left.size() || id_span::of(now.id, span.bits) != span || (i > 0 && !(before < now)))
      return make_error_code(errc::state_damaged);
    left.remove_prefix(length);
    before = now;
  }
  if (!left.empty()) return make_error_code(errc::state_damaged);
  return out;
}

event_id id_run::id(std::size_t index) const noexcept {
  const char* at = ids_.data() + index * k_id_bytes;
  return {read_u64(at), read_u64(at + sizeof(std::uint64_t))};
}

std::size_t id_run::length(std::size_t index) const noexcept {
  constexpr unsigned k_byte = std::numeric_limits<unsigned char>::digits;
  const char* at = lengths_.data() + index * k_length_bytes;
  return std::size_t{static_cast<unsigned char>(at[0])} << k_byte | static_cast<unsigned char>(at[1]);
}

std::string_view id_run::aggregate(std::size_t index) const noexcept {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < index; ++i) begin += length(i);
  return aggregates_.substr(begin, length(index));
}

std::size_t id_run::lower_bound(const event_id& wanted) const noexcept {
  std::size_t low = 0;
  std::size_t high = count_;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (id(middle) < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

bool id_run::holds(const filed_id& wanted) const noexcept {
  for (std::size_t i = lower_bound(wanted.id); i < count_ && id(i) == wanted.id; ++i) {
    if (aggregate(i) == wanted.aggregate) return true;
  }
  return false;
}

}  // namespace ratchet::layout
