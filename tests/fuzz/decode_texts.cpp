// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/event_id_text.hpp"
#include "decode/field_source.hpp"
#include "decode/media_type.hpp"
#include "decode/sequence_text.hpp"
#include "decode/time_text.hpp"
#include "fuzz/fuzz_input.hpp"
#include "fuzz/text_reference.hpp"

/// Any text as id, sequence, time, field source and media type: the readers agree with plain ones, and what
/// they read is printed and read back.

using namespace ratchet;

namespace {

void check_id(std::string_view text) {
  const auto id = parse_uuidv7(text);
  RATCHET_FUZZ_CHECK(id == fuzz::reference_uuidv7(text));
  if (id) RATCHET_FUZZ_CHECK(parse_uuidv7(to_text(*id)) == id);
}

void check_time(std::string_view text) {
  const auto time = parse_rfc3339(text);
  RATCHET_FUZZ_CHECK(time == fuzz::reference_rfc3339(text));
  if (time) RATCHET_FUZZ_CHECK(parse_rfc3339(to_rfc3339(*time)) == time);
  const auto milliseconds = parse_milliseconds(text);
  RATCHET_FUZZ_CHECK(milliseconds == fuzz::reference_milliseconds(text));
  if (milliseconds) RATCHET_FUZZ_CHECK(fuzz::reference_rfc3339(to_rfc3339(*milliseconds)) == milliseconds);
}

/// A pointer's tokens, escaped and joined, are the pointer.
void check_source(std::string_view text) {
  const auto source = parse_field_source(text);
  if (!source) return;
  RATCHET_FUZZ_CHECK(source.value().text == text);
  if (source.value().from == field_source::place::key) RATCHET_FUZZ_CHECK(text == "key");
  if (source.value().from == field_source::place::header) {
    RATCHET_FUZZ_CHECK("header:" + source.value().header == text && !source.value().header.empty());
  }
  if (source.value().from != field_source::place::pointer) return;
  std::string joined;
  for (const std::string& token : source.value().tokens) {
    joined += '/';
    for (const char c : token) joined += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  }
  RATCHET_FUZZ_CHECK(joined == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::exact_copy copy{{reinterpret_cast<const char*>(data), size}};
  const std::string_view text = copy.view();
  check_id(text);
  check_time(text);
  check_source(text);
  RATCHET_FUZZ_CHECK(parse_u64(text) == fuzz::reference_u64(text));
  RATCHET_FUZZ_CHECK(parse_u128(text) == fuzz::reference_u128(text));
  RATCHET_FUZZ_CHECK(parse_hex_u128(text) == fuzz::reference_hex_u128(text));
  if (is_json_media_type(text)) RATCHET_FUZZ_CHECK(text.find_first_of("jJ") != std::string_view::npos);
  // Any 64 bits are a time that can be printed.
  fuzz::fuzz_input in{data, size};
  RATCHET_FUZZ_CHECK(to_rfc3339(timestamp{std::chrono::milliseconds{in.i64()}}).size() >= 24);
  return 0;
}
