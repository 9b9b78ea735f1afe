// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/sequence_kinds.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/ordered_text.hpp"

namespace ratchet {
namespace {

std::string fault_of(sequence_kind kind, const std::string& text) {
  const read_version read = read_version_of(kind, text);
  return read.fault == malformed_reason::none ? "read" : name_of(read.fault);
}

std::string shown(sequence_kind kind, const std::string& text) {
  const read_version read = read_version_of(kind, text);
  return read.fault == malformed_reason::none ? sequence_spelling{kind}.text(read.sequence)
                                              : name_of(read.fault);
}

/// Each is read, greater than the one before, and written as it came.
void expect_order(sequence_kind kind, const std::vector<std::string>& texts) {
  std::optional<sequence> last;
  for (const std::string& text : texts) {
    const read_version read = read_version_of(kind, text);
    ASSERT_EQ(read.fault, malformed_reason::none) << text;
    EXPECT_TRUE(!last || *last < read.sequence) << text;
    EXPECT_EQ(sequence_spelling{kind}.text(read.sequence), text);
    last = read.sequence;
  }
}

TEST(sequence_kinds, order_decimals_by_their_value) {
  expect_order(sequence_kind::decimal, {"0", "0.0000000000000000001", "0.5", "0.51", "3", "3.0000000001", "9",
                                        "10", "1620000000000000000.0000000001", "18446744073709551615",
                                        "18446744073709551615.9999999999999999999"});
  EXPECT_EQ(shown(sequence_kind::decimal, "3.0"), "3");
  EXPECT_EQ(shown(sequence_kind::decimal, "007.50"), "7.5");
  EXPECT_EQ(shown(sequence_kind::decimal, "1.5e3"), "1500");
  EXPECT_EQ(shown(sequence_kind::decimal, "1e19"), "10000000000000000000");
  EXPECT_EQ(shown(sequence_kind::decimal, "1500E-3"), "1.5");
  EXPECT_EQ(shown(sequence_kind::decimal, "0e999999999999999999999"), "0");
  EXPECT_EQ(shown(sequence_kind::decimal, "1.00000000000000000000000000000000000000000000000"), "1");
}

TEST(sequence_kinds, refuse_decimals_that_do_not_fit) {
  for (const char* text : {"18446744073709551616", "1e20", "1e999", "1e-999", "0.00000000000000000001",
                           "1e-20", "49590338271490256608559692538361571095921575989136588898"}) {
    EXPECT_EQ(fault_of(sequence_kind::decimal, text), "sequence_too_large") << text;
  }
  for (const char* text : {"-1", "-0.5"})
    EXPECT_EQ(fault_of(sequence_kind::decimal, text), "sequence_negative");
  for (const char* text : {"", ".", ".5", "5.", "+5", "1e", "1e+", "1.5.0", "0x10", "1 ", "NaN", "1,5"})
    EXPECT_EQ(fault_of(sequence_kind::decimal, text), "sequence_invalid") << text;
}

TEST(sequence_kinds, order_times_with_all_digits_of_their_fractions) {
  expect_order(sequence_kind::time,
               {"0000-01-01T00:00:00Z", "1969-12-31T23:59:59.999Z", "1970-01-01T00:00:00Z",
                "2024-05-01T10:00:00Z", "2024-05-01T10:00:00.000000001Z", "2024-05-01T10:00:00.00000001Z",
                "2024-05-01T10:00:00.123456789Z", "2024-05-01T10:00:00.1234567891234567891Z",
                "2024-05-01T10:00:01Z", "9999-12-31T23:59:59.9999999999999999999Z"});
}

TEST(sequence_kinds, keep_a_leap_second_between_its_neighbours) {
  expect_order(sequence_kind::time,
               {"2016-12-31T23:59:59.9Z", "2016-12-31T23:59:60Z", "2016-12-31T23:59:60.5Z",
                "2017-01-01T00:00:00Z", "2017-01-01T00:00:00.1Z"});
}

TEST(sequence_kinds, compare_times_of_all_zones) {
  for (const char* text :
       {"2024-05-01T12:00:00.5+02:00", "2024-05-01 12:00:00.5+02", "2024-05-01t12:00:00.50+0200",
        "2024-05-01T10:00:00.5z", "2024-05-01T04:30:00.5-05:30"}) {
    EXPECT_EQ(shown(sequence_kind::time, text), "2024-05-01T10:00:00.5Z") << text;
  }
}

TEST(sequence_kinds, refuse_times_that_are_none_or_finer_than_what_is_kept) {
  for (const char* text :
       {"", "2024-05-01", "2024-05-01T10:00:00", "2024-05-01T10:00:00.Z", "2024-13-01T10:00:00Z",
        "2024-05-01T10:00:61Z", "2024-05-01T10:00:60Z", "2024-05-01T10:00:00+1", "1714557600",
        "2024-05-01T10:00:00.5+02:00:00", "2024-05-01T10:00:00.5.12Z", "2024-05-01T10:00:00.5.1+02"}) {
    EXPECT_EQ(fault_of(sequence_kind::time, text), "sequence_invalid") << text;
  }
  EXPECT_EQ(fault_of(sequence_kind::time, "2024-05-01T10:00:00.12345678901234567891Z"), "sequence_too_large");
  EXPECT_EQ(fault_of(sequence_kind::time, "2024-05-01T10:00:00.12345678901234567890Z"), "read");
}

TEST(sequence_kinds, order_log_positions) {
  expect_order(sequence_kind::lsn,
               {"0/0", "0/FFFFFFFF", "9/1", "16/B374D848", "A0/0", "FFFFFFFF/FFFFFFFF",
                "00000000:00000000:0001", "00000027:00000758:0005", "00000027:00000758:0010",
                "00000027:00000760:0001", "00000030:00000000:0000", "ffffffff:ffffffff:ffff"});
  EXPECT_EQ(shown(sequence_kind::lsn, "16/0374d848"), "16/374D848");
  EXPECT_EQ(shown(sequence_kind::lsn, "0x00000027000007580005"), "00000027:00000758:0005");
  for (const char* text :
       {"", "/", "16", "16/", "/1", "16/B374D848/0", "1234567890/0", "16/123456789", "00000027:00000758",
        "00000027:00000758:00005", "27:758:g", "0x27", "16-B374D848"}) {
    EXPECT_EQ(fault_of(sequence_kind::lsn, text), "sequence_invalid") << text;
  }
}

TEST(sequence_kinds, order_hybrid_times) {
  expect_order(sequence_kind::hlc, {"0.0000000000", "1620000000000000000.0000000000",
                                    "1620000000000000000.0000000001", "1620000000000000000.0000000010",
                                    "1620000000000000000.2147483647", "1620000000000000001.0000000000"});
  EXPECT_EQ(shown(sequence_kind::hlc, "1620000000000000000"), "1620000000000000000.0000000000");
  EXPECT_EQ(shown(sequence_kind::hlc, "1620000000000000000.000000001"), "1620000000000000000.0000000010")
      << "a decimal number, whose last zero a serializer left out";
  EXPECT_EQ(fault_of(sequence_kind::hlc, "1620000000000000000.00000000001"), "sequence_too_large");
  EXPECT_EQ(fault_of(sequence_kind::hlc, "18446744073709551616.0000000000"), "sequence_too_large");
  EXPECT_EQ(fault_of(sequence_kind::hlc, "-1.0000000000"), "sequence_negative");
  for (const char* text : {"", ".1", "1.", "1.1.1", "1?", "1.0000000000?"})
    EXPECT_EQ(fault_of(sequence_kind::hlc, text), "sequence_invalid") << text;
}

TEST(sequence_kinds, order_ids_that_have_a_time) {
  expect_order(sequence_kind::ulid, {"00000000000000000000000000", "01HX0ZK6Q0AAAAAAAAAAAAAAAA",
                                     "01HX0ZK6Q1AAAAAAAAAAAAAAAA", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"});
  EXPECT_EQ(fault_of(sequence_kind::ulid, "8ZZZZZZZZZZZZZZZZZZZZZZZZZ"), "sequence_invalid");
  expect_order(sequence_kind::uuidv7,
               {"018f2b7c-1234-7abc-89ab-0123456789ab", "018f2b7c-1234-7abc-89ab-0123456789ac",
                "018f2b7c-1234-7abd-80ab-0123456789ab", "018f2b7c-1235-7000-8000-000000000000"});
  EXPECT_EQ(fault_of(sequence_kind::uuidv7, "018f2b7c-1234-4abc-89ab-0123456789ab"), "sequence_invalid");
}

TEST(sequence_kinds, order_text_of_all_shapes_byte_by_byte) {
  expect_order(sequence_kind::text, {" ",
                                     "0",
                                     "0000000000000000000000000000000000042",
                                     "000000000000000000000000000ff",
                                     "00000012",
                                     "00000027:00000758:0005",
                                     "00000907",
                                     "01",
                                     "0190163d-8694-739b-aea5-966c26f8ad91",
                                     "01HX0ZK6Q0AAAAAAAAAAAAAAAA",
                                     "01HX0ZK6Q1AAAAAAAAAAAAAAAA",
                                     "1",
                                     "10",
                                     "16/B374D848",
                                     "1620000000000000000.0000000001",
                                     "2024-05-01T10:00:00.123456789Z",
                                     "2024-05-01T10:00:00Z",
                                     "507f1f77bcf86cd799439011",
                                     "9",
                                     "A",
                                     "V0000000000000000000001X",
                                     "a",
                                     "abcdefghijklmnop",
                                     "order-000000000000000042",
                                     "v1",
                                     "\xC3\xA9t\xC3\xA9"});
}

TEST(sequence_kinds, refuse_text_that_has_no_place) {
  EXPECT_EQ(fault_of(sequence_kind::text, ""), "sequence_invalid");
  EXPECT_EQ(fault_of(sequence_kind::text, std::string("a\0b", 3)), "sequence_invalid");
  for (const char* text :
       {"abcdefghijklmnop!", "12345678901234567890123456789012345678", "Mixed-Case-Of-Seventeen",
        "11HX0ZK6Q0AAAAAAAAAAAAAAAA", "2024-05-01T10:00:00.1234567890Z",
        "0190163D-8694-739B-AEA5-966C26F8AD91", "0190163d-8694-439b-aea5-966c26f8ad91"}) {
    EXPECT_EQ(fault_of(sequence_kind::text, text), "sequence_too_large") << text;
  }
}

TEST(sequence_kinds, keep_text_where_it_is_stored) {
  // Pinned: states have these numbers in them.
  EXPECT_EQ(sequence_of_text("a"), seq(0x7a69bd2bf803e28c, 0xcb1ffefbb3cd527c));
  EXPECT_EQ(sequence_of_text("00000907"), seq(0x1834ffeaacf16e5f, 0xe073027fd85f6efe));
  EXPECT_EQ(sequence_of_text("01HX0ZK6Q0AAAAAAAAAAAAAAAA"), seq(0x1a0e886c53e8b6a8, 0xcc3fbd9c6b78f296));
  EXPECT_EQ(read_version_of(sequence_kind::time, "2024-05-01T10:00:00.5Z").sequence,
            seq(2 * (1'714'557'600ULL + 62'167'219'200ULL), 5'000'000'000'000'000'000));
  EXPECT_EQ(read_version_of(sequence_kind::lsn, "16/B374D848").sequence, seq(0x16B374D848));
  EXPECT_EQ(read_version_of(sequence_kind::lsn, "00000027:00000758:0005").sequence,
            seq(0x8000000000000027, 0x07580005));
  EXPECT_EQ(read_version_of(sequence_kind::decimal, "3.5").sequence, seq(3, 5'000'000'000'000'000'000));
}

TEST(sequence_kinds, write_whole_numbers_as_digits) {
  EXPECT_EQ((sequence_spelling{sequence_kind::integer}.text(seq(7))), "7");
  EXPECT_EQ((sequence_spelling{sequence_kind::integer}.text(seq(1, 7))), "[1, 7]");
  EXPECT_EQ((sequence_spelling{sequence_kind::integer, true}.text(seq(239'691'516, 1))),
            "4421528052291458170519289857");
  EXPECT_EQ((sequence_spelling{sequence_kind::integer, true, true}.text(seq(1, 0xFF))), "100000000000000ff");
  EXPECT_EQ((sequence_spelling{sequence_kind::integer, false, true}.text(seq(0xFF))), "ff");
  EXPECT_EQ((sequence_spelling{sequence_kind::text}.text(seq(907))), "907") << "CloudEvents may have both";
}

TEST(text_as_sequences, tells_how_many_digits_it_was) {
  for (std::size_t size = 1; size <= 37; ++size) {
    for (const char digit : {'0', '5', '9'}) {
      const std::string text(size, digit);
      EXPECT_EQ(digits_in_text(sequence_of_text(text).value()), size) << text;
    }
  }
  EXPECT_EQ(digits_in_text(sequence_of_text("20240501101112131415").value()), 20U);
  for (const char* other :
       {"a", "9a", "1:2", "01HZY3E8T0ABCDEFGHJKMNPQRS", "018f2b7c-1234-7abc-89ab-000000000000",
        "2024-05-01T10:00:00Z", "00000000016b3748", "/", ":", "0 ", "9\x7f"})
    EXPECT_EQ(digits_in_text(sequence_of_text(other).value()), 0U) << other;
}

}  // namespace
}  // namespace ratchet
