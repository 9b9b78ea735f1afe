// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "store/engine/catalog.hpp"
#include "store/engine/column_families.hpp"

namespace ratchet {

/// What a read-only look at a directory found, before any file is changed.
struct inspected {
  /// Nothing is there yet, or a creation that was cut short.
  bool is_new{false};
  /// Open read-only, and a consistent state of exactly `step`. Null where is_new.
  std::unique_ptr<database> db;
  ratchet::catalog catalog;
  std::uint64_t step{0};
  std::uint64_t synced{0};    ///< from the file SYNCED
  std::uint64_t in_files{0};  ///< what recovery_filter needs
};

/// Opens the directory read-only and proves that the steps it would recover are an exact prefix in every
/// column family, and not below SYNCED. The caller holds the directory's lock. Changes no file. Errors:
/// state_foreign (not a store of ours); state_newer_schema; state_damaged; of RocksDB and the system.
[[nodiscard]] reported<inspected> inspect_directory(const database_settings&);

/// "<what>; no file was changed" with the code and what can be done.
[[nodiscard]] problem damaged_directory(const std::filesystem::path&, const std::string& what);
[[nodiscard]] problem failed_open(const std::filesystem::path&, const rocksdb::Status&);
[[nodiscard]] problem failed_read(const std::filesystem::path&, const std::error_code&);

}  // namespace ratchet
