// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/layout/answer.hpp"

#include "store/layout/io.hpp"

namespace ratchet::layout {

namespace {

constexpr unsigned k_fingerprint = 1;
constexpr unsigned k_reply = 2;

struct parts {
  timestamp filed;
  sequence number;
  std::optional<hash128> fingerprint;
  std::optional<std::string_view> reply;  ///< borrowed
};

result<parts> read(std::string_view value) {
  byte_reader in{value};
  in.expect(in.u8() == static_cast<unsigned>(k_answered_format));
  parts out;
  out.filed = in.time();
  out.number.epoch = in.u64();
  out.number.number = in.u64();
  const unsigned flags = in.u8();
  in.expect(flags <= (k_fingerprint | k_reply));
  if ((flags & k_fingerprint) != 0) out.fingerprint = in.hash();
  if ((flags & k_reply) != 0) out.reply = in.bytes();
  if (!in.done()) return damaged();
  return out;
}

[[nodiscard]] bool has_answer(std::string_view value) noexcept {
  return !value.empty() && value.front() == k_answered_format;
}

}  // namespace

std::string encode_answered_id(timestamp filed, const kept_answer& answer) {
  std::string value(1, k_answered_format);
  byte_writer out{value};
  out.time(filed);
  out.u64(answer.sequence.epoch);
  out.u64(answer.sequence.number);
  out.u8((answer.fingerprint ? k_fingerprint : 0U) | (answer.reply ? k_reply : 0U));
  if (answer.fingerprint) out.hash(*answer.fingerprint);
  if (answer.reply) out.bytes(*answer.reply);
  return value;
}

result<std::optional<kept_answer>> decode_answer(std::string_view value) {
  if (!has_answer(value)) {
    RATCHET_TRY(const timestamp filed, decode_filed_time(value));
    (void)filed;
    return std::optional<kept_answer>{};
  }
  RATCHET_TRY(const parts found, read(value));
  kept_answer answer{found.number, found.fingerprint, std::nullopt};
  if (found.reply) answer.reply = std::string{*found.reply};
  return std::optional{std::move(answer)};
}

result<timestamp> filed_time_of(std::string_view value) {
  if (!has_answer(value)) return decode_filed_time(value);
  RATCHET_TRY(const parts found, read(value));
  return found.filed;
}

}  // namespace ratchet::layout
