// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/engine/database_statistics.hpp"

#include <cstdint>
#include <string>

namespace ratchet {

store_statistics statistics_of(const database& of) {
  const auto sum = [&of](const std::string& property) {
    std::uint64_t bytes = 0;
    return of.db().GetAggregatedIntProperty(property, &bytes) ? bytes : 0;
  };
  store_statistics all;
  all.memtable_bytes = sum(rocksdb::DB::Properties::kCurSizeAllMemTables);
  // One cache serves all column families.
  of.db().GetIntProperty(rocksdb::DB::Properties::kBlockCacheUsage, &all.block_cache_bytes);
  all.table_reader_bytes = sum(rocksdb::DB::Properties::kEstimateTableReadersMem);
  all.table_file_bytes = sum(rocksdb::DB::Properties::kTotalSstFilesSize);
  return all;
}

}  // namespace ratchet
