// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "workload/workload_digest.hpp"

namespace ratchet {
namespace {

// zlib.crc32(b"p1\tone") + zlib.crc32(b"p2\t"), as Python has it.
constexpr std::uint64_t k_by_zlib = 4'792'027'860;

TEST(workload_digest, is_the_sum_of_the_checksums_of_zlib) {
  workload_digest digest;
  digest.row("p1", "one");
  digest.row("p2", "");
  EXPECT_EQ(digest.sum(), k_by_zlib);
  EXPECT_EQ(digest.rows(), 2U);
}

TEST(workload_digest, does_not_depend_on_the_order_of_the_rows) {
  workload_digest digest;
  digest.row("p2", "");
  digest.row("p1", "one");
  EXPECT_EQ(digest.sum(), k_by_zlib);
}

TEST(workload_digest, tells_where_an_aggregate_ends) {
  workload_digest a;
  workload_digest b;
  a.row("p1", "1one");
  b.row("p11", "one");
  EXPECT_NE(a.sum(), b.sum());
}

}  // namespace
}  // namespace ratchet
