// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <cctype>

#include "core/resume.hpp"
#include "fuzz/fuzz_input.hpp"

/// Commit metadata, which anybody may have written: what is taken for ours is ours to the letter, and what we
/// write is read back. The first byte says whether the rest is a text, or a mark to write and then to change
/// in one place.

using namespace ratchet;

namespace {

void check_text(std::string_view text) {
  const auto mark = parse_metadata(text);
  if (mark) RATCHET_FUZZ_CHECK(to_metadata(*mark) == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::fuzz_input in{data, size};
  if (in.flag()) {
    const fuzz::exact_copy copy{in.rest()};
    check_text(copy.view());
    return 0;
  }
  commit_mark mark;
  mark.incarnation = {in.u64(), in.u64()};
  mark.step = in.u64();
  const std::uint64_t digits = in.u64();
  mark.store_uuid = "00000000-0000-4000-8000-000000000000";
  for (std::size_t i = 0; i < 8; ++i) mark.store_uuid[i] = "0123456789abcdef"[digits >> (4 * i) & 0xFU];
  std::string text = to_metadata(mark);
  RATCHET_FUZZ_CHECK(text.size() <= 4096);  // what a broker takes
  for (const char c : text) RATCHET_FUZZ_CHECK(c > ' ' && c < '\x7F');
  RATCHET_FUZZ_CHECK(parse_metadata(text) == mark);
  text[in.u8() % text.size()] = static_cast<char>(in.u8());
  check_text(text);
  return 0;
}
