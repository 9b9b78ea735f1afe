// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "replicate/chain.hpp"

#include <string>

#include "core/byte_io.hpp"
#include "core/xxhash_inline.hpp"

namespace ratchet::replicate {
namespace {

hash128 hash_of(std::string_view beginning, std::string_view rest) noexcept {
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  XXH3_128bits_reset(&state);
  XXH3_128bits_update(&state, beginning.data(), beginning.size());
  if (!rest.empty()) XXH3_128bits_update(&state, rest.data(), rest.size());
  const XXH128_hash_t hash = XXH3_128bits_digest(&state);
  return {hash.high64, hash.low64};
}

}  // namespace

hash128 founding_chain(const hash128& lineage, std::uint32_t slot) noexcept {
  char bytes[20];
  char* at = layout::put_number<8>(bytes, lineage.high);
  at = layout::put_number<8>(at, lineage.low);
  layout::put_number<4>(at, slot);
  return hash_of({bytes, sizeof bytes}, {});
}

hash128 next_chain(const hash128& before, std::string_view rows) noexcept {
  char bytes[16];
  layout::put_number<8>(layout::put_number<8>(bytes, before.high), before.low);
  return hash_of({bytes, sizeof bytes}, rows);
}

}  // namespace ratchet::replicate
