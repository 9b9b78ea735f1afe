// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/engine/crc32c.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "support/store_crc32c_reference.hpp"

namespace ratchet {
namespace {

using crc32c_reference::plain_crc32c;

std::string bytes_of(std::size_t size) {
  std::string out;
  for (std::size_t i = 0; i < size; ++i) out += static_cast<char>(i * 131U + (i >> 8U));
  return out;
}

TEST(crc32c, is_that_of_the_rfc) {
  // RFC 3720, appendix B.4.
  EXPECT_EQ(extend_crc32c(0, "123456789", 9), 0xE3069283U);
  EXPECT_EQ(extend_crc32c(0, std::string(32, '\0').data(), 32), 0x8A9136AAU);
  EXPECT_EQ(extend_crc32c(0, std::string(32, '\xFF').data(), 32), 0x62A8AB43U);
  EXPECT_EQ(extend_crc32c(0, "", 0), 0U);
}

TEST(crc32c, is_the_same_for_all_sizes_and_places) {
  const std::string bytes = bytes_of(600);
  for (std::size_t from = 0; from < 17; ++from) {
    for (std::size_t size = 0; from + size <= bytes.size(); size += size < 64 ? 1 : 53) {
      const std::string_view some = std::string_view{bytes}.substr(from, size);
      ASSERT_EQ(extend_crc32c(0, some.data(), some.size()), plain_crc32c(some)) << from << ' ' << size;
    }
  }
}

TEST(crc32c, goes_on_where_it_was) {
  const std::string bytes = bytes_of(200);
  const std::uint32_t whole = plain_crc32c(bytes);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    const std::uint32_t first = extend_crc32c(0, bytes.data(), cut);
    ASSERT_EQ(extend_crc32c(first, bytes.data() + cut, bytes.size() - cut), whole) << cut;
  }
}

/// In a program that embeds the library nothing is replaced: see tests/install.
#ifdef RATCHET_REPLACES_CRC32C
TEST(crc32c, is_what_the_installed_rocksdb_calls) {
  constexpr const char* k_name = "_ZN7rocksdb6crc32c6ExtendEjPKcm";
  // What the loader binds librocksdb's calls to, and what they would be bound to without us.
  void* const bound = ::dlsym(RTLD_DEFAULT, k_name);
  void* const theirs = ::dlsym(RTLD_NEXT, k_name);
  ASSERT_NE(bound, nullptr);
  ASSERT_NE(theirs, nullptr) << "this RocksDB has no such function any more";
  EXPECT_NE(bound, theirs);
  using extend = std::uint32_t (*)(std::uint32_t, const char*, std::size_t);
  const std::string bytes = bytes_of(333);
  const auto by = [&](void* f) { return reinterpret_cast<extend>(f)(7, bytes.data(), bytes.size()); };
  EXPECT_EQ(by(bound), extend_crc32c(7, bytes.data(), bytes.size()));
  EXPECT_EQ(by(theirs), by(bound)) << "the library means something else by it";
}
#endif

}  // namespace
}  // namespace ratchet
