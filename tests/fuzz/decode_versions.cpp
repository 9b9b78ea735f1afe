// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <string_view>

#include "decode/sequence_kinds.hpp"
#include "fuzz/fuzz_input.hpp"
#include "fuzz/version_reference.hpp"

/// Any two texts as versions of one kind: each is read where the reference can read it, both have the order
/// that they have there, and what is shown of one is read as the same version again.
///
/// Input: the kind, one text behind its length, and the other.

using namespace ratchet;

namespace {

constexpr std::array k_kinds{sequence_kind::decimal, sequence_kind::time, sequence_kind::lsn,
                             sequence_kind::hlc,     sequence_kind::ulid, sequence_kind::uuidv7,
                             sequence_kind::text};

void check_one(sequence_kind kind, const read_version& got, const fuzz::version_key& want) {
  RATCHET_FUZZ_CHECK((got.fault == malformed_reason::none) == want.has_value());
  if (!want) return;
  const sequence_spelling spelling{kind};
  const std::string shown = spelling.text(got.sequence);
  const read_version again = read_version_of(kind, shown);
  RATCHET_FUZZ_CHECK(again.fault == malformed_reason::none && again.sequence == got.sequence);
  RATCHET_FUZZ_CHECK(fuzz::key_of_version(kind, shown) == want);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::fuzz_input in{data, size};
  const sequence_kind kind = k_kinds.at(in.u8() % k_kinds.size());
  const fuzz::exact_copy first{in.text()};
  const fuzz::exact_copy second{in.rest()};
  const read_version a = read_version_of(kind, first.view());
  const read_version b = read_version_of(kind, second.view());
  const fuzz::version_key key_a = fuzz::key_of_version(kind, first.view());
  const fuzz::version_key key_b = fuzz::key_of_version(kind, second.view());
  check_one(kind, a, key_a);
  check_one(kind, b, key_b);
  if (!key_a || !key_b) return 0;
  RATCHET_FUZZ_CHECK((a.sequence < b.sequence) == (*key_a < *key_b));
  RATCHET_FUZZ_CHECK((a.sequence == b.sequence) == (*key_a == *key_b));
  return 0;
}
