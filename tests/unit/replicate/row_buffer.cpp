// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "replicate/row_buffer.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ratchet::replicate {
namespace {

std::vector<row> rows_in(std::string_view bytes) {
  std::vector<row> rows;
  row_cursor cursor{bytes};
  for (row each; cursor.next(each);) rows.push_back(each);
  EXPECT_STREQ(name_of(cursor.fault()), "none");
  return rows;
}

TEST(rows, come_back_in_their_order) {
  row_buffer buffer;
  EXPECT_TRUE(buffer.empty());
  const std::string zero{"a\0b", 3};
  buffer.put(1, zero, "value");
  buffer.erase(255, "");
  buffer.erase_range(0, "a", "b");
  buffer.put(2, "", "");
  EXPECT_EQ(buffer.count(), 4U);
  const std::vector<row> want{{1, row_op::put, zero, "value"},
                              {255, row_op::erase, "", ""},
                              {0, row_op::erase_range, "a", "b"},
                              {2, row_op::put, "", ""}};
  EXPECT_EQ(rows_in(buffer.bytes()), want);
  const std::string bytes = buffer.release();
  EXPECT_EQ(rows_in(bytes), want);
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(buffer.bytes(), "");
  buffer.put(1, "k", "v");
  buffer.clear();
  EXPECT_EQ(rows_in(buffer.bytes()), std::vector<row>{});
}

TEST(rows, are_cut_off_at_no_byte_unnoticed) {
  row_buffer buffer;
  buffer.put(1, "key", "value");
  const std::string first{buffer.bytes()};
  buffer.erase_range(1, "a", "b");
  const std::string whole{buffer.bytes()};
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const auto want = size == first.size() ? row_fault::none : row_fault::cut_off;
    EXPECT_EQ(check_rows(std::string_view{whole}.substr(0, size)), want) << size;
  }
  EXPECT_EQ(check_rows(""), row_fault::none);
}

TEST(rows, with_a_fault_are_refused_by_name) {
  row_buffer buffer;
  buffer.put(1, "key", "value");
  std::string bytes{buffer.bytes()};
  for (const char op : {'\0', '\4', '\xFF'}) {
    bytes[1] = op;
    EXPECT_EQ(check_rows(bytes), row_fault::unknown_op);
  }
  bytes[1] = 3;  // a range from "key" to "value" has an order; the other way round it has none
  EXPECT_EQ(check_rows(bytes), row_fault::none);
  buffer.clear();
  buffer.put(1, "value", "key");
  bytes = buffer.bytes();
  bytes[1] = 3;
  EXPECT_EQ(check_rows(bytes), row_fault::wrong_order);
  const std::string huge{"\1\1\xFF\xFF\xFF\xFFkey", 9};
  EXPECT_EQ(check_rows(huge), row_fault::cut_off);
}

TEST(rows, behind_a_fault_are_not_given) {
  row_buffer buffer;
  buffer.put(1, "a", "b");
  const std::string good{buffer.bytes()};
  const std::string bytes = good + '\1' + '\7' + good;
  row_cursor cursor{bytes};
  row each;
  EXPECT_TRUE(cursor.next(each));
  EXPECT_FALSE(cursor.next(each));
  EXPECT_FALSE(cursor.next(each));
  EXPECT_EQ(cursor.fault(), row_fault::unknown_op);
}

}  // namespace
}  // namespace ratchet::replicate
