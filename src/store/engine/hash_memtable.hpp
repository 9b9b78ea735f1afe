// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rocksdb/memtablerep.h>

#include <cstddef>
#include <memory>

namespace ratchet {

/// A memtable for column families that are written and looked up by whole keys, and seldom iterated: rows in
/// hash chains, the newest first, and put in order only once something iterates over them: the flush, behind
/// the owner's back; or an iterator over a memtable that is still written to. RocksDB's skip list compares
/// some twenty keys, each somewhere else in memory, for every row that goes in; here it is one hash. Needs
/// one writer at a time (allow_concurrent_memtable_write off), and memtable_batch_lookup_optimization off
/// where RocksDB has it, which would order the rows for each look-up; readers may be many. Iterators stand
/// still where they were made: Iterator::Refresh() and ReadOptions::tailing would show them no more, in
/// silence. `buckets` is a power of two, about the rows that a memtable holds before it is flushed; 16 bytes
/// each. `block_bytes`: the column family's arena_block_size, for whose blocks the kernel is then asked for
/// huge pages; 0: not.
[[nodiscard]] std::shared_ptr<rocksdb::MemTableRepFactory> make_hash_memtables(std::size_t buckets,
                                                                               std::size_t block_bytes = 0);

}  // namespace ratchet
