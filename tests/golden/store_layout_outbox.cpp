// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "layout_bytes.hpp"
#include "store/layout/outbox.hpp"

/// Every byte of the outbox, as store_layout.cpp has the rest.
namespace ratchet::layout {
namespace {

TEST(keys_on_disk, of_outputs_are_these_bytes) {
  EXPECT_EQ(hex(outbox_state_key()), "04");
  EXPECT_EQ(hex(output_prefix()), "01");
  EXPECT_EQ(hex(output_key(258)),
            "01"
            "0000000000000102");
  EXPECT_EQ(parse_output_key(output_key(258)).value().position, 258U);
  EXPECT_EQ(parse_output_key(output_key(258)).value().lane, "");
  EXPECT_FALSE(parse_output_key(output_key(258).substr(1)));
}

TEST(keys_on_disk, of_outputs_for_a_sink_are_these_bytes) {
  EXPECT_EQ(hex(outbox_state_key("pay")), "04706179");
  EXPECT_EQ(parse_outbox_state_key(outbox_state_key("pay")).value(), "pay");
  EXPECT_EQ(parse_outbox_state_key(outbox_state_key()).value(), "");
  EXPECT_FALSE(parse_outbox_state_key("\x05"));
  EXPECT_EQ(hex(output_prefix("pay")), "0270617900");
  EXPECT_EQ(hex(output_key(258, "pay")),
            "02"
            "706179"
            "00"
            "0000000000000102");
  const output_place at = parse_output_key(output_key(258, "pay")).value();
  EXPECT_EQ(at.position, 258U);
  EXPECT_EQ(at.lane, "pay");
  EXPECT_FALSE(output_key(1, "pay2").starts_with(output_prefix("pay"))) << "no lane lies within another";
  EXPECT_FALSE(parse_output_key(output_key(258, "pay") + "x"));
  EXPECT_FALSE(parse_output_key(std::string("\x02\0\0\0\0\0\0\0\0\0", 10))) << "a sink has a name";
  EXPECT_FALSE(parse_output_key("\x02pay"));
}

TEST(values_on_disk, hold_what_the_outbox_has) {
  const std::string bytes = encode_outbox_state({1, 258, 4096});
  EXPECT_EQ(hex(bytes),
            "01"
            "0000000000000001"
            "0000000000000102"
            "0000000000001000");
  EXPECT_EQ(decode_outbox_state(bytes).value(), (outbox_state{1, 258, 4096}));
  EXPECT_FALSE(decode_outbox_state(encode_outbox_state({2, 1, 0}))) << "it ends before it begins";
  const std::string holes = encode_outbox_state({1, 258, 4096, 3});
  EXPECT_EQ(hex(holes), hex(bytes) + "0000000000000003");
  EXPECT_EQ(decode_outbox_state(holes).value(), (outbox_state{1, 258, 4096, 3}));
  EXPECT_FALSE(decode_outbox_state(encode_outbox_state({1, 3, 0, 3}))) << "more are gone than there were";
}

TEST(values_on_disk, hold_a_whole_output) {
  output_row row;
  row.position = 7;
  row.kind = output_kind::rejection;
  row.stream = k_stream;
  row.id = k_id;
  row.aggregate = "p1";
  row.topic = "t";
  row.key = "k";
  row.value = "v";
  row.headers = {{"h", "x"}, {"n", std::nullopt}};
  row.time = k_time;
  const std::string bytes = encode_output(row);
  EXPECT_EQ(hex(bytes),
            "01"
            "01"
            "07"
            "01020304" +
                k_id_hex +
                "00000002"
                "7031"
                "00000001"
                "74"
                "00000001"
                "6b"
                "00000001"
                "76"
                "00000002"
                "01"
                "00000001"
                "68"
                "00000001"
                "78"
                "00"
                "00000001"
                "6e" +
                k_time_hex);
  EXPECT_EQ(decode_output(7, bytes).value(), row);
}

TEST(values_on_disk, hold_what_is_in_the_place_of_a_skipped_output) {
  output_row row;
  row.position = 7;
  row.kind = output_kind::skipped;
  row.stream = k_stream;
  row.id = k_id;
  row.aggregate = "p1";
  row.topic = "sink:r";
  const std::string bytes = encode_output(row);
  EXPECT_EQ(hex(bytes),
            "01"
            "03"
            "00"
            "01020304" +
                k_id_hex +
                "00000002"
                "7031"
                "00000006"
                "73696e6b3a72"
                "00000000");
  EXPECT_EQ(decode_output(7, bytes).value(), row);
}

TEST(values_on_disk, hold_what_a_published_output_is_sent_with) {
  output_row row;
  row.kind = output_kind::published;
  row.stream = k_stream;
  row.id = k_id;
  row.aggregate = "p1";
  row.topic = "t";
  row.type = "paid";
  row.source = "/s";
  row.content_type = "x/y";
  row.sequence = {2, 258};
  const std::string bytes = encode_output(row);
  EXPECT_EQ(hex(bytes),
            "01"
            "02"
            "00"
            "01020304" +
                k_id_hex +
                "00000002"
                "7031"
                "00000001"
                "74"
                "00000000"
                "00000004"
                "70616964"
                "00000002"
                "2f73"
                "00000003"
                "782f79"
                "0000000000000002"
                "0000000000000102");
  EXPECT_EQ(decode_output(0, bytes).value(), row);
  EXPECT_FALSE(decode_output(0, bytes.substr(0, bytes.size() - 1)));
}

TEST(values_on_disk, hold_a_bare_output) {
  output_row row;
  row.stream = k_stream;
  row.id = k_id;
  row.topic = "t";
  const std::string bytes = encode_output(row);
  EXPECT_EQ(hex(bytes),
            "01"
            "00"
            "00"
            "01020304" +
                k_id_hex +
                "00000000"
                "00000001"
                "74"
                "00000000");
  EXPECT_EQ(decode_output(0, bytes).value(), row);
  std::string unknown_flag = bytes;
  unknown_flag[2] = 8;
  EXPECT_FALSE(decode_output(0, unknown_flag));
  std::string unknown_kind = bytes;
  unknown_kind[1] = 4;
  EXPECT_FALSE(decode_output(0, unknown_kind));
  EXPECT_FALSE(decode_output(0, bytes + "x"));
}

}  // namespace
}  // namespace ratchet::layout
