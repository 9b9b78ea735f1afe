// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "decode/base64_text.hpp"
#include "decode/event_id_text.hpp"
#include "decode/field_source.hpp"
#include "decode/json_number.hpp"
#include "decode/media_type.hpp"
#include "decode/sequence_text.hpp"
#include "decode/time_text.hpp"

namespace ratchet {
namespace {

constexpr event_id k_id{0x018F2B7C12347ABC, 0x89AB0123456789AB};

TEST(uuidv7_text, is_read_in_either_case) {
  EXPECT_EQ(parse_uuidv7("018f2b7c-1234-7abc-89ab-0123456789ab"), k_id);
  EXPECT_EQ(parse_uuidv7("018F2B7C-1234-7ABC-89AB-0123456789AB"), k_id);
  EXPECT_EQ(parse_uuidv7("018f2B7c-1234-7aBc-89Ab-0123456789aB"), k_id);
}

TEST(uuidv7_text, is_printed_in_lower_case) {
  EXPECT_EQ(to_text(k_id), "018f2b7c-1234-7abc-89ab-0123456789ab");
  EXPECT_EQ(to_text(event_id{}), "00000000-0000-0000-0000-000000000000");
  EXPECT_EQ(to_text(event_id{~0ULL, ~0ULL}), "ffffffff-ffff-ffff-ffff-ffffffffffff");
}

TEST(uuidv7_text, holds_its_own_time) {
  // The example of RFC 9562, appendix A.6: 22 February 2022, 19:22:22 GMT.
  const auto id = parse_uuidv7("017F22E2-79B0-7CC3-98C4-DC0C0C07398F");
  ASSERT_TRUE(id);
  EXPECT_EQ(to_rfc3339(id->time()), "2022-02-22T19:22:22.000Z");
}

TEST(uuidv7_text, allows_the_variants_of_rfc_9562_alone) {
  EXPECT_TRUE(parse_uuidv7("018f2b7c-1234-7abc-8000-000000000000"));
  EXPECT_TRUE(parse_uuidv7("018f2b7c-1234-7abc-bfff-ffffffffffff"));
  EXPECT_FALSE(parse_uuidv7("018f2b7c-1234-7abc-7fff-ffffffffffff"));
  EXPECT_FALSE(parse_uuidv7("018f2b7c-1234-7abc-c000-000000000000"));
}

TEST(uuidv7_text, has_a_dash_in_each_of_its_four_places_and_a_digit_in_all_others) {
  const std::string right = "018f2b7c-1234-7abc-89ab-0123456789ab";
  for (std::size_t i = 0; i < right.size(); ++i) {
    for (const char wrong : {'_', ' ', '/', ':', '@', 'g', 'G', '\0', '\x7F', '\xB0'}) {
      std::string text = right;
      text[i] = wrong;
      EXPECT_FALSE(parse_uuidv7(text)) << i << " " << text;
    }
    std::string text = right;
    text[i] = right[i] == '-' ? '0' : '-';
    EXPECT_FALSE(parse_uuidv7(text)) << i << " " << text;
  }
}

TEST(uuidv7_text, refuses_every_other_spelling) {
  for (const char* text : {
           "",
           "018f2b7c",
           "{018f2b7c-1234-7abc-89ab-0123456789ab}",
           "urn:uuid:018f2b7c-1234-7abc-89ab-0123456789ab",
           "018f2b7c12347abc89ab0123456789ab",
           "018f2b7c-1234-7abc-89ab-0123456789ab ",
           " 018f2b7c-1234-7abc-89ab-0123456789ab",
           "018f2b7c-1234-7abc-89ab-0123456789a",
           "018f2b7c-1234-7abc-89ab-0123456789abc",
           "018f2b7c-1234-7abc-89ab-0123456789ag",
           "018f2b7c-1234-7abc-89ab0-123456789ab",
           "018f2b7c_1234-7abc-89ab-0123456789ab",
           "018f2b7c-1234-7abc-89ab-01234-6789ab",
           "018f2b7c-1234-7abc-89ab-012345678\xC3\xA4"
           "b",
           "018f2b7c-1234-1abc-89ab-0123456789ab",  // other versions
           "018f2b7c-1234-4abc-89ab-0123456789ab",
           "018f2b7c-1234-6abc-89ab-0123456789ab",
           "018f2b7c-1234-8abc-89ab-0123456789ab",
           "018f2b7c-1234-0abc-89ab-0123456789ab",
           "00000000-0000-0000-0000-000000000000",  // nil
           "ffffffff-ffff-ffff-ffff-ffffffffffff",  // max
       }) {
    EXPECT_FALSE(parse_uuidv7(text)) << text;
  }
}

struct time_row {
  const char* text;
  const char* want;  ///< as to_rfc3339() prints it; empty: refused
};

TEST(rfc3339_text, is_read_as_its_rows_say) {
  constexpr time_row k_rows[] = {
      {"2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000Z"},
      {"2026-01-01t00:00:00z", "2026-01-01T00:00:00.000Z"},
      {"2026-01-01T00:00:00+00:00", "2026-01-01T00:00:00.000Z"},
      {"2026-01-01T00:00:00-00:00", "2026-01-01T00:00:00.000Z"},
      {"2026-01-01T00:30:00+01:00", "2025-12-31T23:30:00.000Z"},
      {"2025-12-31T16:30:00-08:30", "2026-01-01T01:00:00.000Z"},
      {"2026-01-01T00:00:00.5Z", "2026-01-01T00:00:00.500Z"},
      {"2026-01-01T00:00:00.12Z", "2026-01-01T00:00:00.120Z"},
      {"2026-01-01T00:00:00.1239999999999999999999Z", "2026-01-01T00:00:00.123Z"},  // cut off, not rounded
      {"1969-12-31T23:59:59.9999Z", "1969-12-31T23:59:59.999Z"},
      {"2024-02-29T12:00:00Z", "2024-02-29T12:00:00.000Z"},
      {"2000-02-29T12:00:00Z", "2000-02-29T12:00:00.000Z"},
      {"0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z"},
      {"9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"},
      // A leap second is the next second's .000; elsewhere 60 is no second.
      {"2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"},
      {"2016-12-31T23:59:60.999Z", "2017-01-01T00:00:00.000Z"},
      {"1990-12-31T15:59:60-08:00", "1991-01-01T00:00:00.000Z"},
      {"2016-12-31T12:00:60Z", ""},
      {"2016-12-31T23:59:60+01:00", ""},
      {"2016-12-31T23:59:61Z", ""},
      {"9999-12-31T23:59:60Z", ""},
      {"0000-01-01T00:00:00+00:01", ""},
      {"2026-02-29T00:00:00Z", ""},
      {"1900-02-29T00:00:00Z", ""},
      {"2026-04-31T00:00:00Z", ""},
      {"2026-00-01T00:00:00Z", ""},
      {"2026-13-01T00:00:00Z", ""},
      {"2026-01-00T00:00:00Z", ""},
      {"2026-01-32T00:00:00Z", ""},
      {"2026-01-01T24:00:00Z", ""},
      {"2026-01-01T00:60:00Z", ""},
      {"2026-01-01T00:00:00", ""},
      {"2026-01-01T00:00Z", ""},
      {"2026-01-01", ""},
      {"2026-01-01 00:00:00Z", ""},
      {"2026-01-01T00:00:00.Z", ""},
      {"2026-01-01T00:00:00,5Z", ""},
      {"2026-01-01T00:00:00+0100", ""},
      {"2026-01-01T00:00:00+24:00", ""},
      {"2026-01-01T00:00:00+01:60", ""},
      {"2026-01-01T00:00:00+1:00", ""},
      {"2026-01-01T00:00:00Z ", ""},
      {" 2026-01-01T00:00:00Z", ""},
      {"+2026-01-01T00:00:00Z", ""},
      {"-026-01-01T00:00:00Z", ""},
      {"02026-01-01T00:00:00Z", ""},
      {"2026-1-01T00:00:00Z", ""},
      {"20260101T000000Z", ""},
      {"1767225600000", ""},
      {"", ""},
  };
  for (const time_row& row : k_rows) {
    const auto time = parse_rfc3339(row.text);
    EXPECT_EQ(time ? to_rfc3339(*time) : "", row.want) << row.text;
  }
}

TEST(milliseconds_text, are_whole_numbers_that_rfc_3339_can_print) {
  constexpr time_row k_rows[] = {
      {"0", "1970-01-01T00:00:00.000Z"},
      {"1767225600123", "2026-01-01T00:00:00.123Z"},
      {"-1", "1969-12-31T23:59:59.999Z"},
      {"253402300799999", "9999-12-31T23:59:59.999Z"},
      {"253402300800000", ""},
      {"-62167219200000", "0000-01-01T00:00:00.000Z"},
      {"-62167219200001", ""},
      {"9223372036854775808", ""},
      {"1.5", ""},
      {"1e3", ""},
      {"01", ""},
      {"+1", ""},
      {"-", ""},
      {"", ""},
      {"12 ", ""},
  };
  for (const time_row& row : k_rows) {
    const auto time = parse_milliseconds(row.text);
    EXPECT_EQ(time ? to_rfc3339(*time) : "", row.want) << row.text;
  }
}

TEST(time_number, counts_what_its_unit_says) {
  struct row {
    time_unit unit;
    const char* text;
    const char* want;  ///< empty: refused
  };
  constexpr row k_rows[] = {
      {time_unit::milliseconds, "1767225600123", "2026-01-01T00:00:00.123Z"},
      {time_unit::milliseconds, "1767225600123.5", ""},
      {time_unit::seconds, "1767225600", "2026-01-01T00:00:00.000Z"},
      {time_unit::seconds, "1767225600.1", "2026-01-01T00:00:00.100Z"},
      {time_unit::seconds, "1767225600.123999", "2026-01-01T00:00:00.123Z"},
      {time_unit::seconds, "-1.5", "1969-12-31T23:59:58.500Z"},
      {time_unit::seconds, "-0.5", "1969-12-31T23:59:59.500Z"},
      {time_unit::seconds, "253402300799.999", "9999-12-31T23:59:59.999Z"},
      {time_unit::seconds, "253402300800", ""},
      {time_unit::seconds, "9223372036854775807", ""},
      {time_unit::seconds, "1.", ""},
      {time_unit::seconds, ".5", ""},
      {time_unit::seconds, "1.5e3", ""},
      {time_unit::seconds, "1.-5", ""},
      {time_unit::microseconds, "1767225600123999", "2026-01-01T00:00:00.123Z"},
      {time_unit::microseconds, "-1", "1969-12-31T23:59:59.999Z"},
      {time_unit::microseconds, "1.5", ""},
      {time_unit::nanoseconds, "1767225600123999999", "2026-01-01T00:00:00.123Z"},
      {time_unit::nanoseconds, "9223372036854775808", ""},
  };
  for (const row& r : k_rows) {
    const auto time = parse_time_number(r.text, r.unit);
    EXPECT_EQ(time ? to_rfc3339(*time) : "", r.want) << r.text << " in unit " << static_cast<int>(r.unit);
  }
}

TEST(rfc3339_text, is_printed_for_every_timestamp) {
  const auto print = [](std::int64_t ms) { return to_rfc3339(timestamp{std::chrono::milliseconds{ms}}); };
  EXPECT_EQ(print(253402300800000), "+10000-01-01T00:00:00.000Z");
  EXPECT_EQ(print((std::int64_t{1} << 48) - 1), "+10889-08-02T05:31:50.655Z");  // the last of UUIDv7
  EXPECT_EQ(print(-62167219200001), "-0001-12-31T23:59:59.999Z");
  EXPECT_EQ(print(std::numeric_limits<std::int64_t>::max()), "+292278994-08-17T07:12:55.807Z");
  EXPECT_EQ(print(std::numeric_limits<std::int64_t>::min()), "-292275055-05-16T16:47:04.192Z");
}

TEST(sequence_text, is_decimal_digits_up_to_u64) {
  EXPECT_EQ(parse_u64("0"), 0U);
  EXPECT_EQ(parse_u64("007"), 7U);
  EXPECT_EQ(parse_u64(std::string(100, '0') + "18446744073709551615"), ~std::uint64_t{0});
  for (const char* text : {"", "18446744073709551616", "99999999999999999999", "-0", "-1", "+1", "17.0",
                           "1e2", " 1", "1 ", "0x1", "\xD9\xA1"}) {
    EXPECT_FALSE(parse_u64(text)) << text;
  }
}

TEST(sequence_text, is_split_into_high_and_low_up_to_u128) {
  EXPECT_EQ(parse_u128("0"), seq(0));
  EXPECT_EQ(parse_u128("00018446744073709551615"), seq(0, ~std::uint64_t{0}));
  EXPECT_EQ(parse_u128("18446744073709551616"), seq(1, 0));
  EXPECT_EQ(parse_u128("340282366920938463463374607431768211455"), seq(~std::uint64_t{0}, ~std::uint64_t{0}));
  for (const char* text : {"", "340282366920938463463374607431768211456",
                           "9999999999999999999999999999999999999999", "-1", "1.0", "1e2"}) {
    EXPECT_FALSE(parse_u128(text)) << text;
  }
}

TEST(field_source, is_a_pointer_the_key_or_a_header) {
  const auto pointer = parse_field_source("/a~1b/~0/0/");
  ASSERT_TRUE(pointer);
  EXPECT_EQ(pointer.value().from, field_source::place::pointer);
  EXPECT_EQ(pointer.value().text, "/a~1b/~0/0/");
  EXPECT_EQ(pointer.value().tokens, (std::vector<std::string>{"a/b", "~", "0", ""}));
  const auto key = parse_field_source("key");
  ASSERT_TRUE(key);
  EXPECT_EQ(key.value().from, field_source::place::key);
  const auto header = parse_field_source("header:event-id:x");
  ASSERT_TRUE(header);
  EXPECT_EQ(header.value().from, field_source::place::header);
  EXPECT_EQ(header.value().header, "event-id:x");
}

TEST(field_source, is_nothing_else) {
  for (const char* text :
       {"", "id", "keys", "Key", "key ", "header:", "header", "#/id", "$.id", "/a~", "/a~2", "/~/b"}) {
    const auto source = parse_field_source(text);
    ASSERT_FALSE(source) << text;
    EXPECT_EQ(source.error(), errc::config_invalid) << text;
  }
}

TEST(json_pointer, may_name_the_whole_document) {
  EXPECT_TRUE(parse_json_pointer("").value().empty());
  EXPECT_EQ(parse_json_pointer("/").value(), std::vector<std::string>{""});
  EXPECT_EQ(parse_json_pointer("/~01").value(),
            std::vector<std::string>{"~1"});  // the order of RFC 6901, section 4
  EXPECT_FALSE(parse_json_pointer("a"));
}

TEST(media_type, means_json_in_three_spellings) {
  for (const char* type : {"application/json", "Application/JSON; charset=utf-8", "text/json",
                           "application/cloudevents+json", " application/json ;x=y"}) {
    EXPECT_TRUE(is_json_media_type(type)) << type;
  }
  for (const char* type :
       {"", "application/avro", "application/octet-stream", "application/jsonx", "+json", "json"}) {
    EXPECT_FALSE(is_json_media_type(type)) << type;
  }
}

TEST(hexadecimal_sequence, is_digits_alone_up_to_128_bits) {
  EXPECT_EQ(parse_hex_u128("0"), seq(0));
  EXPECT_EQ(parse_hex_u128("10"), seq(16));
  EXPECT_EQ(parse_hex_u128("fFfFffffffffffff"), seq(0, ~std::uint64_t{0}));
  EXPECT_EQ(parse_hex_u128("10000000000000000"), seq(1, 0));
  EXPECT_EQ(parse_hex_u128("000ffffffffffffffffFFFFFFFFFFFFFFFF"), seq(~std::uint64_t{0}, ~std::uint64_t{0}));
  EXPECT_EQ(parse_hex_u128("0123456789abcdeffedcba9876543210"), seq(0x0123456789ABCDEF, 0xFEDCBA9876543210));
  for (const char* text : {"", "g", "0x10", "-1", "+1", " 1", "1 ", "1.0",
                           "100000000000000000000000000000000", "1-0", "\xC3\xA4"}) {
    EXPECT_FALSE(parse_hex_u128(text)) << text;
  }
}

TEST(ulid, is_read_in_either_case_and_printed_in_upper_case) {
  const auto id = parse_ulid("01ARZ3NDEKTSV4RRFFQ69G5FAV");
  ASSERT_TRUE(id.has_value());
  EXPECT_EQ(id->time(), timestamp{std::chrono::milliseconds{1'469'922'850'259}});
  EXPECT_EQ(*id, (event_id{0x01563E3AB5D3D676, 0x4C61EFB99302BD5B}));
  EXPECT_EQ(parse_ulid("01arz3ndektsv4rrffq69g5fav"), id);
  EXPECT_EQ(to_text(id_kind::ulid, *id), "01ARZ3NDEKTSV4RRFFQ69G5FAV");
  EXPECT_EQ(parse_ulid("7ZZZZZZZZZZZZZZZZZZZZZZZZZ"), (event_id{~0ULL, ~0ULL}));
  EXPECT_EQ(to_text(id_kind::ulid, {~0ULL, ~0ULL}), "7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
  EXPECT_EQ(to_text(id_kind::ulid, {0, 1}), "00000000000000000000000001");
}

TEST(ulid, is_26_digits_of_crockfords_base_32_that_fit_into_128_bits) {
  for (const char* text :
       {"", "01ARZ3NDEKTSV4RRFFQ69G5FA", "01ARZ3NDEKTSV4RRFFQ69G5FAV0", "81ARZ3NDEKTSV4RRFFQ69G5FAV",
        "Z1ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAI", "01ARZ3NDEKTSV4RRFFQ69G5FAl",
        "01ARZ3NDEKTSV4RRFFQ69G5FAO", "01ARZ3NDEKTSV4RRFFQ69G5FAu", "01ARZ3NDEK-SV4RRFFQ69G5FAV",
        "01ARZ3NDEKTSV4RRFFQ69G5F\xC3\xA4", "018f2b7c-1234-7abc-89ab-0123456789ab"}) {
    EXPECT_FALSE(parse_ulid(text)) << text;
  }
}

TEST(ulid, orders_by_time) {
  EXPECT_LT(*parse_ulid("01ARZ3NDEKZZZZZZZZZZZZZZZZ"), *parse_ulid("01ARZ3NDEM0000000000000000"));
  EXPECT_LT(parse_ulid("01ARZ3NDEKZZZZZZZZZZZZZZZZ")->time(),
            parse_ulid("01ARZ3NDEM0000000000000000")->time());
}

TEST(event_id_text, reads_and_prints_each_kind_as_its_own) {
  EXPECT_EQ(parse_event_id(id_kind::ulid, "01ARZ3NDEKTSV4RRFFQ69G5FAV"),
            parse_ulid("01ARZ3NDEKTSV4RRFFQ69G5FAV"));
  EXPECT_FALSE(parse_event_id(id_kind::uuidv7, "01ARZ3NDEKTSV4RRFFQ69G5FAV"));
  const std::string uuid = "018f2b7c-1234-7abc-89ab-0123456789ab";
  EXPECT_EQ(parse_event_id(id_kind::uuidv7, uuid), parse_uuidv7(uuid));
  EXPECT_FALSE(parse_event_id(id_kind::ulid, uuid));
  EXPECT_FALSE(parse_event_id(id_kind::none, uuid));
  EXPECT_EQ(to_text(id_kind::uuidv7, *parse_uuidv7(uuid)), uuid);
  EXPECT_STREQ(name_of(id_kind::none), "none");
  EXPECT_STREQ(name_of(id_kind::ulid), "ulid");
  EXPECT_STREQ(name_of(id_kind::opaque), "opaque");
}

TEST(opaque_id, is_any_text_of_1_to_1024_bytes_to_the_letter) {
  for (const char* text : {"evt_1", " ", "018F2B7C-1234-4ABC-89AB-0123456789AB", "\xC3\xA4"}) {
    EXPECT_TRUE(parse_event_id(id_kind::opaque, text)) << text;
  }
  EXPECT_NE(hash_opaque_id("evt_1"), hash_opaque_id("EVT_1"));
  EXPECT_NE(hash_opaque_id("evt_1"), hash_opaque_id("evt_1 "));
  EXPECT_FALSE(hash_opaque_id(""));
  EXPECT_TRUE(hash_opaque_id(std::string(1024, 'x')));
  EXPECT_FALSE(hash_opaque_id(std::string(1025, 'x')));
}

TEST(opaque_id, is_shown_as_a_hash_that_can_be_read_back) {
  const event_id id{0x0123456789ABCDEF, 0xFEDCBA9876543210};
  EXPECT_EQ(to_text(id_kind::opaque, id), "xxh3:0123456789abcdeffedcba9876543210");
  EXPECT_EQ(parse_hashed_id("xxh3:0123456789abcdefFEDCBA9876543210"), id);
  for (const char* text :
       {"", "xxh3:", "xxh3:0123456789abcdeffedcba987654321", "0123456789abcdeffedcba9876543210",
        "xxh3:0123456789abcdeffedcba98765432100", "xxh3:0123456789abcdeffedcba987654321g"}) {
    EXPECT_FALSE(parse_hashed_id(text)) << text;
  }
}

TEST(opaque_id, with_its_source_is_not_the_source_with_that_id) {
  const auto mixed = [](const char* source, const char* id) {
    return id_of_source(id_kind::opaque, hash_opaque_id(id).value(), source);
  };
  EXPECT_NE(mixed("a", "b"), mixed("b", "a"));
  EXPECT_NE(mixed("a", "a"), mixed("b", "b"));
  EXPECT_NE(mixed("a", "b"), hash_opaque_id("b"));
}

TEST(base64, takes_the_padded_standard_alphabet_alone) {
  const auto read = [](std::string_view text) -> std::optional<std::string> {
    std::string out(text.size(), '?');
    const auto size = decode_base64(text, out.data());
    return size ? std::optional{out.substr(0, *size)} : std::nullopt;
  };
  // RFC 4648, section 10
  EXPECT_EQ(read(""), "");
  EXPECT_EQ(read("Zg=="), "f");
  EXPECT_EQ(read("Zm8="), "fo");
  EXPECT_EQ(read("Zm9v"), "foo");
  EXPECT_EQ(read("Zm9vYg=="), "foob");
  EXPECT_EQ(read("Zm9vYmE="), "fooba");
  EXPECT_EQ(read("Zm9vYmFy"), "foobar");
  EXPECT_EQ(read("+/+/"), "\xFB\xFF\xBF");
  for (const char* text :
       {"Zg", "Zg=", "Z===", "====", "Zh==", "Zm9=", "Zm9v\n", "Zm 9", "_-_-", "Zg==Zg==", "=m9v"}) {
    EXPECT_FALSE(read(text)) << text;
  }
}

TEST(time_spellings, are_those_that_people_use) {
  const auto read = [](const char* text) {
    const auto time = parse_time_spelling(text);
    return time ? to_rfc3339(*time) : std::string{"none"};
  };
  constexpr const char* k_ten = "2024-05-01T10:00:00.000Z";
  for (const char* text :
       {"2024-05-01T10:00:00Z", "2024-05-01T10:00:00", "2024-05-01 10:00:00", "2024-05-01 10:00",
        "2024-05-01T10:00Z", "2024-05-01T12:00:00+0200", "2024-05-01T12:00:00+02",
        "2024-05-01 12:00:00+02:00", "2024-05-01 10:00:00 UTC", "2024-05-01 10:00:00.000 +0000 UTC",
        "2024-05-01T12:00+02:00[Europe/Berlin]", "2024-05-01T10:00:00Z[UTC]", "20240501T100000Z",
        "20240501T100000", "Wed, 01 May 2024 10:00:00 GMT", "Wed, 1 May 2024 12:00:00 +0200"}) {
    EXPECT_EQ(read(text), k_ten) << text;
  }
  EXPECT_EQ(read("2024-05-01T10:00:00,123456"), "2024-05-01T10:00:00.123Z");
  EXPECT_EQ(read("2024-05-01 10:00:00.5"), "2024-05-01T10:00:00.500Z");
  EXPECT_EQ(read("2024-05-01"), "2024-05-01T00:00:00.000Z");
  for (const char* text :
       {"", "yesterday", "01/05/2024", "2024-13-01", "2024-05-01T25:00:00", "2024-05-01X10:00:00",
        "2024-05-01T10:00:00 CEST", "2024-05-01T10:00:00+2", "2024-05-01T10", "Wed, 01 Mai 2024 10:00:00 GMT",
        "Wed, 01 May", "2024-05-01T10:00:00.", "20240501", "2024-05-01T10:00:00+02:00[", "]]]]]]]]]]"}) {
    EXPECT_EQ(read(text), "none") << text;
  }
}

TEST(number_text, is_compared_by_its_value_whatever_its_length) {
  using json::is_same_number;
  EXPECT_TRUE(is_same_number("1200", "1.2e3"));
  EXPECT_TRUE(is_same_number("-0.5", "-5E-1"));
  EXPECT_TRUE(is_same_number("0", "-0.0e9"));
  EXPECT_FALSE(is_same_number("1", "-1"));
  EXPECT_FALSE(is_same_number("12345678901234567890123", "12345678901234567890124"))
      << "no double tells them";
  EXPECT_FALSE(is_same_number("0.1", "0.10000000000000000555"));
  EXPECT_FALSE(is_same_number("1e999", "1e998"));
  EXPECT_FALSE(is_same_number("1e99999999999999999999999", "1"));
  EXPECT_FALSE(is_same_number("1e-99999999999999999999999", "0"));
  for (const char* none : {"", "-", "01", "1.", ".5", "1e", "+1", "0x1", "1 ", "true", "null", "NaN"})
    EXPECT_FALSE(is_same_number(none, none)) << none;
  EXPECT_TRUE(json::is_zero("0.000"));
  EXPECT_FALSE(json::is_zero("1e-9"));
  EXPECT_FALSE(json::is_zero(""));
}

}  // namespace
}  // namespace ratchet
