// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rocksdb/db.h>

#include <memory>

namespace ratchet {

/// rocksdb::DB::Open(), which gives a pointer in RocksDB 7 and a std::unique_ptr in 11; `arguments` are those
/// before it.
template <class... Arguments>
rocksdb::Status open_database(std::unique_ptr<rocksdb::DB>& out, const Arguments&... arguments) {
  if constexpr (requires { rocksdb::DB::Open(arguments..., &out); }) {
    return rocksdb::DB::Open(arguments..., &out);
  } else {
    rocksdb::DB* opened = nullptr;
    const rocksdb::Status s = rocksdb::DB::Open(arguments..., &opened);
    out.reset(opened);
    return s;
  }
}

/// The same of rocksdb::DB::OpenForReadOnly().
template <class... Arguments>
rocksdb::Status open_database_read_only(std::unique_ptr<rocksdb::DB>& out, const Arguments&... arguments) {
  if constexpr (requires { rocksdb::DB::OpenForReadOnly(arguments..., &out); }) {
    return rocksdb::DB::OpenForReadOnly(arguments..., &out);
  } else {
    rocksdb::DB* opened = nullptr;
    const rocksdb::Status s = rocksdb::DB::OpenForReadOnly(arguments..., &opened);
    out.reset(opened);
    return s;
  }
}

}  // namespace ratchet
