// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/layout/slot_row.hpp"

#include "store/layout/io.hpp"

namespace ratchet::layout {

std::string slot_key(slot s) {
  std::string key = prefix_of(kind::slot);
  byte_writer{key}.u32(static_cast<std::uint32_t>(s));
  return key;
}

std::string restore_key() {
  return prefix_of(kind::restore);
}

std::string owner_key() {
  return prefix_of(kind::owner);
}

std::string encode_owner(const slot_owner& o) {
  std::string value = with_format();
  byte_writer out{value};
  out.u32(o.epoch.generation);
  out.u32(o.epoch.attempt);
  out.bytes(o.instance);
  out.bytes(o.advertise);
  return value;
}

result<slot_owner> decode_owner(std::string_view value) {
  byte_reader in = after_format(value);
  slot_owner o;
  o.epoch.generation = in.u32();
  o.epoch.attempt = in.u32();
  o.instance = in.bytes();
  o.advertise = in.bytes();
  in.expect(o.epoch != replicate::log_epoch{});
  if (!in.done()) return damaged();
  return o;
}

result<slot> parse_slot_key(std::string_view key) {
  byte_reader in{key};
  in.expect(in.u8() == static_cast<unsigned>(kind::slot));
  const slot s{in.u32()};
  if (!in.done()) return damaged();
  return s;
}

std::string encode_slot(const replicate::log_position& at) {
  std::string value = with_format();
  byte_writer out{value};
  out.u64(at.step);
  out.hash(at.chain);
  out.u32(at.epoch.generation);
  out.u32(at.epoch.attempt);
  out.u64(at.writer);
  out.u64(at.fenced_step);
  out.i64(at.offset);
  out.u64(at.bytes);
  out.hash(at.lineage.value_or(hash128{}));
  return value;
}

result<replicate::log_position> decode_slot(std::string_view value) {
  byte_reader in = after_format(value);
  replicate::log_position at;
  at.step = in.u64();
  at.chain = in.hash();
  at.epoch.generation = in.u32();
  at.epoch.attempt = in.u32();
  at.writer = in.u64();
  at.fenced_step = in.u64();
  at.offset = in.i64();
  at.bytes = in.u64();
  at.lineage = in.hash();
  in.expect(at.is_of_rows());
  if (!in.done()) return damaged();
  return at;
}

namespace {

/// Of the kinds in `default`, those that the log has.
bool is_replicated(kind k) noexcept {
  switch (k) {
    case kind::outbox_epoch:
    case kind::outbox:
    case kind::stream:
    case kind::stream_state:
    case kind::partition:
    case kind::rejected:
    case kind::audit:
      return true;
    case kind::step:
    case kind::identity:
    case kind::copy_mark:
    case kind::slot:
    case kind::restore:
    case kind::owner:
    case kind::incarnation:
      return false;
  }
  return false;
}

kind kind_of(std::string_view key) noexcept {
  return key.empty() ? kind::step : static_cast<kind>(key.front());
}

}  // namespace

bool is_local_key(bool in_default, std::string_view key) noexcept {
  if (in_default) return !is_replicated(kind_of(key));
  static const std::string step = step_key(false);
  return key == step;
}

bool may_cover_local_key(bool in_default, std::string_view begin, std::string_view behind) {
  if (!in_default) {
    static const std::string step = step_key(false);
    return begin <= step && step < behind;
  }
  const kind k = kind_of(begin);
  return !is_replicated(k) || behind > std::string_view{end_of_prefix(prefix_of(k))};
}

}  // namespace ratchet::layout
