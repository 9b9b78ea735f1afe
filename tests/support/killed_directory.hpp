// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <filesystem>

#include "store/rocks_open.hpp"

namespace ratchet::store_support {

/// Copies the directory of an open store as a SIGKILL at this moment would leave it. RocksDB's own threads
/// stand still meanwhile: file by file, a table that grows and a manifest that names it would not be of one
/// moment.
inline void copy_as_killed(store& open, const std::filesystem::path& from, const std::filesystem::path& to) {
  rocksdb::DB& db = database_of(open).db();
  EXPECT_TRUE(db.PauseBackgroundWork().ok());
  std::filesystem::copy(from, to, std::filesystem::copy_options::recursive);
  EXPECT_TRUE(db.ContinueBackgroundWork().ok());
}

}  // namespace ratchet::store_support
