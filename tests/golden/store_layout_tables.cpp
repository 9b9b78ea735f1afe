// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "core/tables.hpp"
#include "layout_bytes.hpp"
#include "store/layout/tables.hpp"

/// Every byte of the read models, as store_layout.cpp has the rest.
namespace ratchet::layout {
namespace {

TEST(keys_on_disk, of_tables_are_these_bytes) {
  EXPECT_EQ(hex(tables_prefix(k_stream)), "0101020304");
  EXPECT_EQ(hex(table_prefix(k_stream, slot{7}, "t1")),
            "01"
            "01020304"
            "00000007"
            "7431"
            "0001");
  std::string key{"shared"};
  append_table_key(key, k_stream, slot{7}, "t1", "k\xFF");
  key.erase(0, 6);
  EXPECT_EQ(hex(key), hex(table_prefix(k_stream, slot{7}, "t1")) + "6bff");
  const auto parsed = parse_table_key(key).value();
  EXPECT_EQ(parsed.stream, k_stream);
  EXPECT_EQ(parsed.slot, slot{7});
  EXPECT_EQ(parsed.table, "t1");
  EXPECT_EQ(parsed.key, "k\xFF");
  EXPECT_FALSE(parse_table_key(table_prefix(k_stream, slot{7}, "t1"))) << "a row has a key";
  EXPECT_FALSE(parse_table_key("\x02" + key.substr(1)));
  EXPECT_FALSE(parse_table_key(step_key(false)));
}

TEST(keys_on_disk, of_rows_are_what_their_encoding_makes_of_them) {
  EXPECT_EQ(hex(encode_table_key(key_encoding::u64, "258").value()), "0000000000000102");
  EXPECT_EQ(hex(encode_table_key(key_encoding::text, "p1").value()), "7031");
  EXPECT_EQ(hex(encode_table_key(key_encoding::bytes, "\xFF").value()), "ff");
}

TEST(values_on_disk, of_tables_are_the_bytes_that_were_put) {
  EXPECT_EQ(decode_table_value("\x01{}").value(), "{}");
  EXPECT_EQ(decode_table_value("\x01").value(), "");
  EXPECT_FALSE(decode_table_value(""));
  EXPECT_FALSE(decode_table_value("\x02{}"));
}

}  // namespace
}  // namespace ratchet::layout
