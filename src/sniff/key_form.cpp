// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sniff/key_form.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/json_scan.hpp"
#include "decode/json_grammar.hpp"
#include "decode/key_text.hpp"
#include "decode/registry_frame.hpp"
#include "sniff/value_form.hpp"

namespace ratchet::sniff {

namespace {

std::uint64_t big_endian(std::string_view bytes) noexcept {
  std::uint64_t value = 0;
  for (const char c : bytes) value = value << 8U | static_cast<unsigned char>(c);
  return value;
}

bool is_json_string(std::string_view key) {
  const std::string_view text = json_scan::trimmed(key);
  return text.size() >= 2 && text.front() == '"' && json::check_json(key).reason == malformed_reason::none;
}

/// Between 2^-40 and 2^63, or zero. As integers these are above 4 * 10^18, where few ids are.
bool may_be_double(std::string_view key) noexcept {
  constexpr std::uint64_t k_least = 0x3D7;
  constexpr std::uint64_t k_most = 0x43E;
  const std::uint64_t bits = big_endian(key);
  const std::uint64_t exponent = bits >> 52U & 0x7FFU;
  return bits << 1U == 0 || (exponent >= k_least && exponent <= k_most);
}

/// Between 2^-10 and 2^24, or zero; of integers, from 981 million on.
bool may_be_float(std::string_view key) noexcept {
  constexpr std::uint64_t k_least = 117;
  constexpr std::uint64_t k_most = 151;
  const std::uint64_t bits = big_endian(key);
  const std::uint64_t exponent = bits >> 23U & 0xFFU;
  return (bits & 0x7FFFFFFFU) == 0 || (exponent >= k_least && exponent <= k_most);
}

/// Few bits of a fraction are used by numbers that people write.
bool has_short_fraction(std::string_view key) noexcept {
  return key.back() == '\0';
}

using keys = std::vector<std::string_view>;

template <class Fits>
bool are_all(const keys& all, Fits fits) {
  return std::all_of(all.begin(), all.end(), fits);
}

key_form numbers_of_8(const keys& all) {
  if (are_all(all, may_be_double)) {
    return {key_kind::i64,
            "IEEE doubles of 8 bytes, as Java's DoubleSerializer writes; `key: i64` reads their bits as an "
            "integer, which is one name for each"};
  }
  return {key_kind::i64, "big-endian integers of 8 bytes, as Java's LongSerializer writes; `key: i64`"};
}

key_form numbers_of_4(const keys& all) {
  const auto short_ones = std::count_if(all.begin(), all.end(), has_short_fraction);
  if (are_all(all, may_be_float) && 2 * static_cast<std::size_t>(short_ones) > all.size()) {
    return {key_kind::i32,
            "IEEE floats of 4 bytes, as Java's FloatSerializer writes; `key: i32` reads their bits as an "
            "integer, which is one name for each"};
  }
  return {key_kind::i32, "big-endian integers of 4 bytes, as Java's IntegerSerializer writes; `key: i32`"};
}

key_form unreadable(std::string what) {
  return {key_kind::automatic, std::move(what), false};
}

}  // namespace

key_form form_of_keys(std::span<const sniffed_record> records) {
  keys all;
  for (const sniffed_record& r : records) {
    if (r.key && !r.key->empty()) all.emplace_back(*r.key);
  }
  if (all.empty()) return {key_kind::automatic, {}, true, false};
  if (are_all(all, is_plain_text)) {
    if (are_all(all, is_json_string)) return {key_kind::json, "JSON strings in quotes; `key: json`"};
    return {};
  }
  if (are_all(all, [](std::string_view key) { return json_behind_frame(key).has_value(); }) &&
      std::any_of(all.begin(), all.end(), [](std::string_view key) { return key.size() != 8; })) {
    return {};  // they are read as they are
  }
  const std::size_t size = all.front().size();
  const bool are_of_one_size = are_all(all, [size](std::string_view key) { return key.size() == size; });
  if (are_of_one_size && size == 8) return numbers_of_8(all);
  if (are_of_one_size && size == 4) return numbers_of_4(all);
  if (are_of_one_size && size == 16) return {key_kind::uuid, "16 bytes, as a UUID in binary; `key: uuid`"};
  if (are_of_one_size && size == 2)
    return unreadable("numbers of 2 bytes, as of Java's ShortSerializer: Ratchet does not read them");
  const auto framed = std::find_if(all.begin(), all.end(), [](std::string_view key) {
    const auto found = read_frame(key);
    return found && found->kind != framed_kind::json;
  });
  if (framed != all.end())
    return unreadable("bytes behind the frame of a schema registry, schema id " +
                      read_frame(*framed)->schema + ": Avro or Protobuf, which Ratchet does not read");
  const auto texts = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), is_plain_text));
  if (10 * texts >= 9 * all.size()) return {};
  return unreadable(texts == 0 ? "bytes that are not text"
                               : "bytes that are not text, in " + std::to_string(all.size() - texts) +
                                     " of " + std::to_string(all.size()));
}

}  // namespace ratchet::sniff
