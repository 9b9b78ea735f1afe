// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "outbox/output_id.hpp"

#include <openssl/evp.h>

#include <array>
#include <memory>
#include <string>

#include "core/byte_io.hpp"

namespace ratchet {

namespace {

/// With its length, so that no two lists of texts are the same bytes.
void add_text(layout::byte_writer& to, std::string_view text) {
  to.u64(text.size());
  to.raw(text);
}

std::string bytes_of(const output_cause& cause) {
  enum : std::uint8_t { by_id = 1, by_sequence = 2, by_position = 3, by_place_in_record = 4 };
  std::string bytes;
  constexpr std::size_t k_rest = 64;  // lengths, and what is of one length
  bytes.reserve(k_rest + cause.group.size() + cause.stream.size() + cause.aggregate.size() +
                cause.purpose.size());
  layout::byte_writer out{bytes};
  add_text(out, cause.group);
  add_text(out, cause.stream);
  add_text(out, cause.aggregate);
  if (cause.id) {
    out.u8(by_id);
    out.u64(cause.id->high);
    out.u64(cause.id->low);
  } else if (cause.sequence) {
    out.u8(by_sequence);
    out.u64(cause.sequence->epoch);
    out.u64(cause.sequence->number);
  } else {
    out.u8(cause.index == 0 ? by_position : by_place_in_record);
    if (cause.where != nullptr) {
      add_text(out, cause.where->topic);
      out.u64(static_cast<std::uint32_t>(cause.where->partition));
    }
    out.u64(static_cast<std::uint64_t>(cause.offset));
    if (cause.index != 0) out.u32(cause.index);
  }
  add_text(out, cause.purpose);
  return bytes;
}

constexpr std::size_t k_digest_bytes = 32;

/// SHA-256 (FIPS 180-4). The algorithm is looked up once: OpenSSL's call that looks it up each time took five
/// times as long for texts of this length.
std::array<unsigned char, k_digest_bytes> sha256(std::string_view bytes) {
  struct hasher {
    std::unique_ptr<EVP_MD, decltype(&EVP_MD_free)> algorithm{EVP_MD_fetch(nullptr, "SHA2-256", nullptr),
                                                              &EVP_MD_free};
    std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
  };
  static thread_local const hasher own;
  std::array<unsigned char, k_digest_bytes> digest{};
  const bool done = EVP_DigestInit_ex2(own.context.get(), own.algorithm.get(), nullptr) == 1 &&
                    EVP_DigestUpdate(own.context.get(), bytes.data(), bytes.size()) == 1 &&
                    EVP_DigestFinal_ex(own.context.get(), digest.data(), nullptr) == 1;
  if (!done) std::abort();  // no memory, or a library without SHA-256: no id could be told from another
  return digest;
}

}  // namespace

event_id output_id(const output_cause& cause) {
  const auto digest = sha256(bytes_of(cause));
  event_id random;
  for (std::size_t i = 0; i < sizeof random.high; ++i) {
    random.high = random.high << 8U | digest[i];
    random.low = random.low << 8U | digest[i + sizeof random.high];
  }
  constexpr std::uint64_t k_version = 7;
  constexpr std::uint64_t k_variant = 2;
  constexpr std::uint64_t k_most_time = (std::uint64_t{1} << 48U) - 1;
  std::uint64_t time = 0;
  if (cause.id && cause.id_has_time) {
    time = cause.id->high >> 16U;
  } else if (cause.time && cause.time->time_since_epoch().count() > 0) {
    time = static_cast<std::uint64_t>(cause.time->time_since_epoch().count()) & k_most_time;
  }
  return {time << 16U | k_version << 12U | (random.high & 0xFFFU),
          k_variant << 62U | (random.low & (~std::uint64_t{0} >> 2U))};
}

}  // namespace ratchet
