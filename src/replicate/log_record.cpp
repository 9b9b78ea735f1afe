// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "replicate/log_record.hpp"

#include "core/assert.hpp"
#include "core/byte_io.hpp"

namespace ratchet::replicate {
namespace {

constexpr char k_magic = 'R';
constexpr unsigned k_last = 1;

void append_head(std::string& out, const record_head& head) {
  RATCHET_ASSERT(head.epoch > log_epoch{});
  layout::byte_writer to{out};
  to.u8(static_cast<unsigned char>(k_magic));
  to.u8(k_record_version);
  to.u8(static_cast<unsigned>(head.kind));
  to.u8(head.last ? k_last : 0);
  to.hash(head.lineage);
  to.u32(head.epoch.generation);
  to.u32(head.epoch.attempt);
  to.u64(head.writer);
  to.u32(head.layout);
}

record_fault read_fence(layout::byte_reader& in, fence_body& to) noexcept {
  to.known_step = in.u64();
  to.meaning = in.hash();
  to.instance = in.bytes();
  to.advertise = in.bytes();
  if (in.bad()) return record_fault::cut_off;
  if (!in.done()) return record_fault::left_over;
  if (to.instance.size() > k_name_bytes || to.advertise.size() > k_name_bytes) return record_fault::long_name;
  return record_fault::none;
}

record_fault read_chunk(layout::byte_reader& in, bool last, chunk_body& to) noexcept {
  to.step = in.u64();
  to.number = in.u16();
  to.confirmed = in.u64();
  to.chain = last ? in.hash() : hash128{};
  if (in.bad()) return record_fault::cut_off;
  to.rows = in.rest();
  if (to.step == 0) return record_fault::step_zero;
  if (to.confirmed >= to.step) return record_fault::confirmed_itself;
  if (to.rows.size() > k_chunk_bytes) return record_fault::long_chunk;
  return record_fault::none;
}

}  // namespace

record_fault decode_record(std::string_view bytes, log_record& to) noexcept {
  to = {};
  layout::byte_reader in{bytes};
  const unsigned magic = in.u8();
  const unsigned version = in.u8();
  if (bytes.empty() || magic != static_cast<unsigned char>(k_magic) || (bytes.size() > 1 && version == 0)) {
    return record_fault::not_a_record;
  }
  to.head.kind = static_cast<record_kind>(in.u8());
  const unsigned flags = in.u8();
  to.head.last = (flags & k_last) != 0;
  to.head.lineage = in.hash();
  to.head.epoch.generation = in.u32();
  to.head.epoch.attempt = in.u32();
  to.head.writer = in.u64();
  to.head.layout = in.u32();
  if (in.bad()) return record_fault::head_cut_off;
  if (version > k_record_version) return record_fault::newer_version;
  const bool is_step = to.head.kind == record_kind::step;
  if (!is_step && to.head.kind != record_kind::fence) return record_fault::unknown_kind;
  if (flags > (is_step ? k_last : 0)) return record_fault::unknown_flags;
  if (to.head.epoch == log_epoch{}) return record_fault::no_epoch;
  return is_step ? read_chunk(in, to.head.last, to.chunk) : read_fence(in, to.fence);
}

void append_fence(std::string& out, const record_head& head, const fence_body& fence) {
  RATCHET_ASSERT(head.kind == record_kind::fence && !head.last);
  append_head(out, head);
  layout::byte_writer to{out};
  to.u64(fence.known_step);
  to.hash(fence.meaning);
  to.bytes(fence.instance.substr(0, k_name_bytes));
  to.bytes(fence.advertise.substr(0, k_name_bytes));
}

void append_chunk(std::string& out, const record_head& head, const chunk_body& chunk) {
  RATCHET_ASSERT(head.kind == record_kind::step && chunk.confirmed < chunk.step &&
                 chunk.rows.size() <= k_chunk_bytes);
  append_head(out, head);
  layout::byte_writer to{out};
  to.u64(chunk.step);
  to.u16(chunk.number);
  to.u64(chunk.confirmed);
  if (head.last) to.hash(chunk.chain);
  to.raw(chunk.rows);
}

}  // namespace ratchet::replicate
