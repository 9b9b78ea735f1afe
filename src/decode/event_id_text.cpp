// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/event_id_text.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "decode/json_scan.hpp"
#include "decode/record_hash.hpp"

namespace ratchet {
namespace {

constexpr std::size_t k_text_size = 36;

constexpr std::size_t k_ulid_size = 26;
constexpr std::string_view k_crockford_digits{"0123456789ABCDEFGHJKMNPQRSTVWXYZ"};
constexpr std::uint8_t k_no_digit = 0xFF;

constexpr std::array<std::uint8_t, 256> k_crockford = [] {
  std::array<std::uint8_t, 256> table{};
  for (std::uint8_t& value : table) value = k_no_digit;
  for (std::size_t i = 0; i < k_crockford_digits.size(); ++i) {
    const auto digit = static_cast<unsigned char>(k_crockford_digits[i]);
    table[digit] = static_cast<std::uint8_t>(i);
    if (digit >= 'A') table[digit | 0x20U] = static_cast<std::uint8_t>(i);
  }
  return table;
}();

constexpr std::size_t k_hex_digits = 32;
constexpr std::string_view k_hashed{"xxh3:"};

std::string hex_digits(event_id id) {
  std::string text(k_hex_digits, '0');
  for (std::size_t i = k_hex_digits; i > 0; --i) {
    text[i - 1] = "0123456789abcdef"[id.low & 0xFU];
    id = {id.high >> 4, id.high << 60 | id.low >> 4};
  }
  return text;
}

event_id of_hash(const hash128& hash) noexcept {
  return {hash.high, hash.low};
}

/// XXH3-128 of the numbers, big-endian.
template <std::size_t Count>
hash128 hash_of_halves(const std::array<std::uint64_t, Count>& halves) noexcept {
  std::array<char, sizeof halves> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(halves[i / 8] >> (56 - 8 * (i % 8)) & 0xFFU);
  }
  return payload_hash({bytes.data(), bytes.size()});
}

#if defined(__SSE2__)
template <class Word>
std::uint64_t load(const char* p) noexcept {
  Word w;
  std::memcpy(&w, p, sizeof w);
  return w;
}

/// 16 hexadecimal digits, 8 in each half, as a number. Bytes that are none are added to `bad`.
std::uint64_t sixteen_digits(std::uint64_t first, std::uint64_t second, int& bad) noexcept {
  const __m128i x = _mm_set_epi64x(static_cast<long long>(second), static_cast<long long>(first));
  const auto at_most = [](__m128i v, char most) {
    return _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(most)), v);
  };
  const __m128i digit = _mm_sub_epi8(x, _mm_set1_epi8('0'));
  const __m128i letter = _mm_sub_epi8(_mm_or_si128(x, _mm_set1_epi8(0x20)), _mm_set1_epi8('a'));
  const __m128i is_digit = at_most(digit, 9);
  bad |= _mm_movemask_epi8(_mm_or_si128(is_digit, at_most(letter, 5))) ^ 0xFFFF;
  const __m128i value = _mm_or_si128(_mm_and_si128(is_digit, digit),
                                     _mm_andnot_si128(is_digit, _mm_add_epi8(letter, _mm_set1_epi8(10))));
  // Each pair of digits, the left one in the lower byte, becomes one byte.
  const __m128i pairs =
      _mm_and_si128(_mm_or_si128(_mm_slli_epi16(value, 4), _mm_srli_epi16(value, 8)), _mm_set1_epi16(0xFF));
  return __builtin_bswap64(static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_packus_epi16(pairs, pairs))));
}

/// The digits of 8-4-4-4-12, the dashes left out. False: one of them is none.
bool read_digits(const char* text, event_id& id) noexcept {
  using four = std::uint32_t;
  using eight = std::uint64_t;
  int bad = 0;
  id.high = sixteen_digits(load<eight>(text), load<four>(text + 9) | load<four>(text + 14) << 32, bad);
  id.low = sixteen_digits(load<four>(text + 19) | load<four>(text + 24) << 32, load<eight>(text + 28), bad);
  return bad == 0;
}
#else
/// The digit's value, 0xFF for what is none: a mask of four bits tells them apart once at the end.
constexpr std::array<std::uint8_t, 256> k_hex = [] {
  std::array<std::uint8_t, 256> table{};
  for (unsigned c = 0; c < 256; ++c) {
    const int value = json::hex_value(static_cast<char>(c));
    table[c] = value < 0 ? std::uint8_t{0xFF} : static_cast<std::uint8_t>(value);
  }
  return table;
}();

/// The digits of 8-4-4-4-12, the dashes left out. False: one of them is none.
bool read_digits(const char* text, event_id& id) noexcept {
  unsigned seen = 0;
  // Short runs of their own, as one long one would wait for itself at every digit.
  const auto digits = [&](std::size_t from, std::size_t to) {
    std::uint64_t value = 0;
    for (std::size_t i = from; i < to; ++i) {
      const unsigned digit = k_hex[static_cast<unsigned char>(text[i])];
      seen |= digit;
      value = value << 4 | (digit & 0xFU);
    }
    return value;
  };
  id = {digits(0, 8) << 32 | digits(9, 13) << 16 | digits(14, 18),
        digits(19, 23) << 48 | digits(24, 30) << 24 | digits(30, 36)};
  return (seen & 0xF0U) == 0;
}
#endif

}  // namespace

std::optional<event_id> parse_uuidv7(std::string_view text) noexcept {
  if (text.size() != k_text_size) return std::nullopt;
  if (text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-') return std::nullopt;
  event_id id;
  if (!read_digits(text.data(), id)) return std::nullopt;
  if ((id.high >> 12 & 0xFU) != 7 || id.low >> 62 != 2) return std::nullopt;
  return id;
}

std::optional<event_id> parse_ulid(std::string_view text) noexcept {
  if (text.size() != k_ulid_size) return std::nullopt;
  event_id id;
  for (const char c : text) {
    const std::uint8_t value = k_crockford[static_cast<unsigned char>(c)];
    if (value == k_no_digit) return std::nullopt;
    id = {id.high << 5 | id.low >> 59, id.low << 5 | value};
  }
  // 26 digits of 5 bits are 130: the first has two that are none of the id's.
  return k_crockford[static_cast<unsigned char>(text.front())] < 8 ? std::optional{id} : std::nullopt;
}

std::optional<event_id> hash_opaque_id(std::string_view text) noexcept {
  if (text.empty() || text.size() > k_most_id_bytes) return std::nullopt;
  return of_hash(payload_hash(text));
}

std::optional<event_id> parse_hashed_id(std::string_view text) noexcept {
  if (!text.starts_with(k_hashed) || text.size() != k_hashed.size() + k_hex_digits) return std::nullopt;
  event_id id;
  for (const char c : text.substr(k_hashed.size())) {
    const int digit = json::hex_value(c);
    if (digit < 0) return std::nullopt;
    id = {id.high << 4 | id.low >> 60, id.low << 4 | static_cast<std::uint64_t>(digit)};
  }
  return id;
}

std::optional<event_id> parse_event_id(id_kind kind, std::string_view text) noexcept {
  switch (kind) {
    case id_kind::uuidv7:
      return parse_uuidv7(text);
    case id_kind::ulid:
      return parse_ulid(text);
    case id_kind::opaque:
      return hash_opaque_id(text);
    case id_kind::monotonic:
    case id_kind::none:
      break;
  }
  return std::nullopt;
}

const char* name_of(id_kind kind) noexcept {
  switch (kind) {
    case id_kind::none:
      return "none";
    case id_kind::uuidv7:
      return "uuidv7";
    case id_kind::ulid:
      return "ulid";
    case id_kind::opaque:
      return "opaque";
    case id_kind::monotonic:
      return "monotonic";
  }
  return "?";
}

event_id id_of_source(id_kind kind, event_id id, std::string_view source) noexcept {
  // Behind the time; of a UUIDv7 all but version and variant.
  const std::uint64_t high = kind == id_kind::ulid ? 0xFFFF : 0x0FFF;
  const std::uint64_t low = kind == id_kind::ulid ? ~std::uint64_t{0} : ~std::uint64_t{0} >> 2;
  const hash128 hash = payload_hash(source);
  if (kind == id_kind::opaque)
    return of_hash(hash_of_halves(std::array{id.high, id.low, hash.high, hash.low}));
  return {id.high ^ (hash.high & high), id.low ^ (hash.low & low)};
}

event_id id_of_number(const topic_partition& where, std::string_view source, sequence number) noexcept {
  const hash128 topic = payload_hash(where.topic);
  const hash128 of_source = payload_hash(source);
  const std::uint64_t partition = static_cast<std::uint32_t>(where.partition);
  return of_hash(hash_of_halves(std::array{topic.high, topic.low, partition, of_source.high, of_source.low,
                                           number.epoch, number.number}));
}

event_id id_of_place(id_kind kind, timestamp time, std::string_view place) noexcept {
  const auto milliseconds = static_cast<std::uint64_t>(time.time_since_epoch().count());
  const event_id bare{milliseconds << 16U | (kind == id_kind::ulid ? 0 : std::uint64_t{7} << 12U),
                      kind == id_kind::ulid ? 0 : std::uint64_t{1} << 63U};
  return id_of_source(kind, bare, place);
}

std::string to_text(event_id id) {
  std::string text = hex_digits(id);
  for (const std::size_t place : {8U, 13U, 18U, 23U}) text.insert(place, 1, '-');
  return text;
}

std::string to_text(id_kind kind, event_id id) {
  if (kind == id_kind::opaque || kind == id_kind::monotonic)
    return std::string{k_hashed}.append(hex_digits(id));
  if (kind != id_kind::ulid) return to_text(id);
  std::string text(k_ulid_size, '0');
  for (std::size_t i = k_ulid_size; i > 0; --i) {
    text[i - 1] = k_crockford_digits[id.low & 0x1FU];
    id = {id.high >> 5, id.high << 59 | id.low >> 5};
  }
  return text;
}

}  // namespace ratchet
