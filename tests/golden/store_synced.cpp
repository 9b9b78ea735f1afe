// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "layout_bytes.hpp"
#include "store/engine/crc32c.hpp"
#include "store/files/synced_file.hpp"
#include "support/temporary_directory.hpp"

/// Every byte of the file that says which step was synced last.
namespace ratchet::layout {
namespace {

TEST(the_file_synced, is_these_bytes) {
  EXPECT_EQ(extend_crc32c(0, "123456789", 9), 0xE3069283U);  // the check value of CRC-32C
  const support::temporary_directory files;
  const std::filesystem::path& directory = files.path();
  {
    auto file = synced_file::open(directory);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file.value().write(258));
  }
  std::ifstream in{directory / "SYNCED", std::ios::binary};
  const std::string bytes{std::istreambuf_iterator<char>{in}, {}};
  ASSERT_EQ(bytes.size(), 1024U);
  const std::string magic = "7261746368657401";
  EXPECT_EQ(hex(bytes.substr(0, 24)), magic +
                                          "0000000000000001"
                                          "0000000000000000");
  EXPECT_EQ(hex(bytes.substr(512, 24)), magic +
                                            "0000000000000002"
                                            "0000000000000102");
  EXPECT_EQ(hex(bytes.substr(536, 4)), "d7079585");
  EXPECT_EQ(bytes.substr(540), std::string(484, '\0'));
  EXPECT_EQ(synced_file::read(directory).value(), 258U);
  // A torn write of the newer slot leaves the older one.
  std::fstream torn{directory / "SYNCED", std::ios::in | std::ios::out | std::ios::binary};
  torn.seekp(530);
  torn.put('x');
  torn.close();
  EXPECT_EQ(synced_file::read(directory).value(), 0U);
}

}  // namespace
}  // namespace ratchet::layout
