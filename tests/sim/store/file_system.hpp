// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rocksdb/file_system.h>

#include <memory>

#include "sim/store/disk.hpp"

namespace ratchet::store_sim {

/// RocksDB's file system, over the real one, on a faulty disk. Files outside the disk pass. The disk must
/// outlive it.
[[nodiscard]] std::shared_ptr<rocksdb::FileSystem> make_faulty_file_system(faulty_disk&);

}  // namespace ratchet::store_sim
