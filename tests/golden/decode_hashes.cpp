// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "decode/record_hash.hpp"

/// Both hashes are on disk: a change here is a change of the format.
namespace ratchet {
namespace {

std::string hex(hash128 h) {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(h.high),
                static_cast<unsigned long long>(h.low));
  return text;
}

TEST(payload_hash_golden, is_xxh3_128_as_xxhsum_prints_it) {
  EXPECT_EQ(hex(payload_hash("")), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(hex(payload_hash("{}")), "dc7048f8f8747f561349cde127705c16");
  EXPECT_EQ(hex(payload_hash(R"({"id":"p1","status":"paid"})")), "9e3c10f26fc7d27574e837658e34596d");
  EXPECT_EQ(hex(payload_hash(std::string(1000, 'x'))), "50a1af5a5f2dcf01c0a4877b962cba82");
}

TEST(record_hash_golden, is_xxh3_128_of_presence_length_and_bytes) {
  EXPECT_EQ(hex(record_hash(std::nullopt, std::nullopt)), "c7f568b6986be940ff7821ddf836d020");
  EXPECT_EQ(hex(record_hash("k", "v")), "d7a2464f8b7ee3c506f27ede2d42ab52");
  EXPECT_EQ(hex(record_hash(std::nullopt, "v")), "c590f53ce27f244d2c05c615bd1f6c3a");
  EXPECT_EQ(hex(record_hash("k", std::nullopt)), "06b23bd1ec40a3c212d2fc08ccdabe99");
  EXPECT_EQ(hex(record_hash("", "")), "ed3ae19c8e40dae6c6028b3cf65b62d0");
}

/// The layout spelt out: what is hashed is this very string of bytes.
TEST(record_hash_golden, hashes_the_bytes_that_its_comment_names) {
  const std::string bytes{std::string("\x01\0\0\0\0\0\0\0\x02", 9) + "k1" +
                          std::string("\x01\0\0\0\0\0\0\x01\x2C", 9) + std::string(300, 'v')};
  EXPECT_EQ(record_hash("k1", std::string(300, 'v')), payload_hash(bytes));
  EXPECT_EQ(record_hash(std::nullopt, ""),
            payload_hash(std::string(9, '\0') + std::string("\x01\0\0\0\0\0\0\0\0", 9)));
}

TEST(record_hash_golden, tells_null_from_empty_and_key_from_value) {
  EXPECT_NE(record_hash(std::nullopt, "v"), record_hash("", "v"));
  EXPECT_NE(record_hash("k", std::nullopt), record_hash("k", ""));
  EXPECT_NE(record_hash("ab", "c"), record_hash("a", "bc"));
}

}  // namespace
}  // namespace ratchet
