// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "replicate/base_record.hpp"

/// Every byte of a base's records.
namespace ratchet::replicate {
namespace {

std::string base_hex(const std::string& bytes) {
  constexpr char k_digits[] = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    out += k_digits[static_cast<unsigned char>(c) >> 4U];
    out += k_digits[static_cast<unsigned char>(c) & 15U];
  }
  return out;
}

constexpr hash128 k_base_lineage{0x0102030405060708, 0x090a0b0c0d0e0f10};

base_content content() {
  base_content of;
  of.at.lineage = k_base_lineage;
  of.at.epoch = {0x11121314, 0x15161718};
  of.at.writer = 0x2122232425262728;
  of.at.fenced_step = 0x31;
  of.at.step = 0x32;
  of.at.chain = {0x4142434445464748, 0x494a4b4c4d4e4f50};
  of.at.offset = 0x61;
  of.at.bytes = 0x62;
  of.layout = 6;
  of.meaning = {0x7172737475767778, 0x797a7b7c7d7e7f80};
  of.made = 0x63;
  return of;
}

const std::string k_head =
    "0102030405060708090a0b0c0d0e0f10"
    "0000000000000005";
const std::string k_content =
    "00000006"
    "7172737475767778797a7b7c7d7e7f80"
    "0000000000000063"
    "11121314"
    "15161718"
    "2122232425262728"
    "0000000000000031"
    "0000000000000032"
    "4142434445464748494a4b4c4d4e4f50"
    "0000000000000061"
    "0000000000000062";

TEST(bases, have_these_bytes) {
  std::string bytes;
  append_base_begin(bytes, {base_kind::begin, k_base_lineage, 5}, content());
  EXPECT_EQ(base_hex(bytes), "420101" + k_head + k_content);
  bytes.clear();
  append_base_part(bytes, {base_kind::part, k_base_lineage, 5}, {7, "rows"});
  EXPECT_EQ(base_hex(bytes), "420102" + k_head +
                                 "0000000000000007"
                                 "726f7773");
  bytes.clear();
  append_base_end(bytes, {base_kind::end, k_base_lineage, 5}, {content(), 8, 9, {10, 11}});
  EXPECT_EQ(base_hex(bytes), "420103" + k_head + k_content +
                                 "0000000000000008"
                                 "0000000000000009"
                                 "000000000000000a000000000000000b");
}

}  // namespace
}  // namespace ratchet::replicate
