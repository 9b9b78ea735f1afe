// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "replicate/log_record.hpp"

#include "core/assert.hpp"
#include "core/byte_io.hpp"

namespace ratchet::replicate {
namespace {

constexpr char k_log_magic = 'R';
constexpr unsigned k_last = 1;

void append_head(std::string& out, const record_head& head) {
  RATCHET_ASSERT(head.epoch > log_epoch{});
  layout::byte_writer to{out};
  to.u8(static_cast<unsigned char>(k_log_magic));
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

record_fault read_point(layout::byte_reader& in, point_body& to) noexcept {
  to.number = in.u64();
  to.most = in.u64();
  to.part = static_cast<std::uint8_t>(in.u8());
  to.key = in.bytes();
  if (in.bad()) return record_fault::cut_off;
  if (!in.done()) return record_fault::left_over;
  return to.key.size() > k_chunk_bytes ? record_fault::long_key : record_fault::none;
}

record_fault read_digest(layout::byte_reader& in, digest_body& to) noexcept {
  to.point = in.u64();
  to.step = in.u64();
  to.hash = in.hash();
  to.bytes = in.u64();
  if (in.bad()) return record_fault::cut_off;
  return in.done() ? record_fault::none : record_fault::left_over;
}

}  // namespace

record_fault decode_record(std::string_view bytes, log_record& to) noexcept {
  to = {};
  layout::byte_reader in{bytes};
  const unsigned magic = in.u8();
  const unsigned version = in.u8();
  if (bytes.empty() || magic != static_cast<unsigned char>(k_log_magic) ||
      (bytes.size() > 1 && version == 0)) {
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
  if (to.head.kind < record_kind::fence || to.head.kind > record_kind::digest)
    return record_fault::unknown_kind;
  if (flags > (to.head.kind == record_kind::step ? k_last : 0)) return record_fault::unknown_flags;
  if (to.head.epoch == log_epoch{}) return record_fault::no_epoch;
  switch (to.head.kind) {
    case record_kind::fence:
      return read_fence(in, to.fence);
    case record_kind::step:
      return read_chunk(in, to.head.last, to.chunk);
    case record_kind::point:
      return read_point(in, to.point);
    case record_kind::digest:
      return read_digest(in, to.digest);
  }
  return record_fault::unknown_kind;
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

void append_point(std::string& out, const record_head& head, const point_body& point) {
  RATCHET_ASSERT(head.kind == record_kind::point && !head.last && point.key.size() <= k_chunk_bytes);
  append_head(out, head);
  layout::byte_writer to{out};
  to.u64(point.number);
  to.u64(point.most);
  to.u8(point.part);
  to.bytes(point.key);
}

void append_digest(std::string& out, const record_head& head, const digest_body& digest) {
  RATCHET_ASSERT(head.kind == record_kind::digest && !head.last);
  append_head(out, head);
  layout::byte_writer to{out};
  to.u64(digest.point);
  to.u64(digest.step);
  to.hash(digest.hash);
  to.u64(digest.bytes);
}

void append_record(std::string& out, const log_record& record) {
  switch (record.head.kind) {
    case record_kind::fence:
      return append_fence(out, record.head, record.fence);
    case record_kind::step:
      return append_chunk(out, record.head, record.chunk);
    case record_kind::point:
      return append_point(out, record.head, record.point);
    case record_kind::digest:
      return append_digest(out, record.head, record.digest);
  }
}

}  // namespace ratchet::replicate
