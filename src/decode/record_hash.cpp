// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/record_hash.hpp"

#include <array>
#include <exception>
#include <memory>

#include "core/xxhash_inline.hpp"

namespace ratchet {
namespace {

hash128 from_xxhash(XXH128_hash_t hash) noexcept {
  return {hash.high64, hash.low64};
}

/// Presence, length and bytes, so that no two pairs of key and value feed the same bytes to the hash.
void feed(XXH3_state_t& state, const std::optional<std::string_view>& part) noexcept {
  std::array<unsigned char, 9> head{};
  head[0] = part ? 1 : 0;
  const std::uint64_t size = part ? part->size() : 0;
  for (unsigned i = 0; i < 8; ++i) head[1 + i] = static_cast<unsigned char>(size >> (56 - 8 * i));
  XXH3_128bits_update(&state, head.data(), head.size());
  if (size != 0) XXH3_128bits_update(&state, part->data(), part->size());
}

}  // namespace

hash128 payload_hash(std::string_view payload) noexcept {
  return from_xxhash(XXH3_128bits(payload.data(), payload.size()));
}

hash128 record_hash(std::optional<std::string_view> key, std::optional<std::string_view> value) noexcept {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state{XXH3_createState(), &XXH3_freeState};
  if (!state) std::terminate();  // out of memory
  XXH3_128bits_reset(state.get());
  feed(*state, key);
  feed(*state, value);
  return from_xxhash(XXH3_128bits_digest(state.get()));
}

}  // namespace ratchet
