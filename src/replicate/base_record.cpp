// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "replicate/base_record.hpp"

#include "core/assert.hpp"
#include "core/byte_io.hpp"

namespace ratchet::replicate {
namespace {

constexpr char k_base_magic = 'B';

void append_head(std::string& out, const base_head& head, base_kind kind) {
  RATCHET_ASSERT(head.kind == kind);
  layout::byte_writer to{out};
  to.u8(static_cast<unsigned char>(k_base_magic));
  to.u8(k_base_version);
  to.u8(static_cast<unsigned>(kind));
  to.hash(head.lineage);
  to.u64(head.base);
}

void append_content(std::string& out, const base_content& of) {
  RATCHET_ASSERT(of.at.lineage && !of.at.at_fence);
  layout::byte_writer to{out};
  to.u32(of.layout);
  to.hash(of.meaning);
  to.i64(of.made);
  to.u32(of.at.epoch.generation);
  to.u32(of.at.epoch.attempt);
  to.u64(of.at.writer);
  to.u64(of.at.fenced_step);
  to.u64(of.at.step);
  to.hash(of.at.chain);
  to.i64(of.at.offset);
  to.u64(of.at.bytes);
}

base_content read_content(layout::byte_reader& in, const base_head& head) {
  base_content of;
  of.layout = in.u32();
  of.meaning = in.hash();
  of.made = in.i64();
  of.at.lineage = head.lineage;
  of.at.epoch.generation = in.u32();
  of.at.epoch.attempt = in.u32();
  of.at.writer = in.u64();
  of.at.fenced_step = in.u64();
  of.at.step = in.u64();
  of.at.chain = in.hash();
  of.at.offset = in.i64();
  of.at.bytes = in.u64();
  in.expect(of.at.is_of_rows() && of.made >= 0 && of.made <= k_last_made);
  return of;
}

}  // namespace

bool decode_base_record(std::string_view bytes, base_record& to) noexcept {
  to = {};
  layout::byte_reader in{bytes};
  in.expect(in.u8() == static_cast<unsigned char>(k_base_magic));
  in.expect(in.u8() == k_base_version);
  to.head.kind = static_cast<base_kind>(in.u8());
  to.head.lineage = in.hash();
  to.head.base = in.u64();
  switch (to.head.kind) {
    case base_kind::begin:
      to.begin = read_content(in, to.head);
      return in.done();
    case base_kind::part:
      to.part.number = in.u64();
      if (in.bad()) return false;
      to.part.rows = in.rest();
      return in.done();
    case base_kind::end:
      to.end.of = read_content(in, to.head);
      to.end.parts = in.u64();
      to.end.bytes = in.u64();
      to.end.hash = in.hash();
      return in.done();
  }
  return false;
}

void append_base_begin(std::string& out, const base_head& head, const base_content& of) {
  append_head(out, head, base_kind::begin);
  append_content(out, of);
}

void append_base_part(std::string& out, const base_head& head, const base_part& part) {
  RATCHET_ASSERT(part.rows.size() <= k_chunk_bytes);
  append_head(out, head, base_kind::part);
  layout::byte_writer to{out};
  to.u64(part.number);
  to.raw(part.rows);
}

void append_base_end(std::string& out, const base_head& head, const base_end& end) {
  append_head(out, head, base_kind::end);
  append_content(out, end.of);
  layout::byte_writer to{out};
  to.u64(end.parts);
  to.u64(end.bytes);
  to.hash(end.hash);
}

}  // namespace ratchet::replicate
