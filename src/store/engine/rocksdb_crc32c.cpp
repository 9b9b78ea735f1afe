// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "store/engine/crc32c.hpp"

namespace rocksdb::crc32c {

/// In place of the function of the same name in the installed librocksdb, which calls it for each record of
/// the write-ahead log: the loader binds all to the first definition that it meets, and a program's comes
/// before a library's. Debian builds RocksDB without SSE 4.2: its own does 1.0 GB/s, which is 3.9 % of a
/// run's processor time from Kafka to durable state, and ISA-L's 18 GB/s. For our own programs alone: in a
/// program that embeds Ratchet the library that it shares with others stays as it is.
// NOLINTBEGIN(readability-identifier-naming): the name is RocksDB's
[[gnu::visibility("default")]] std::uint32_t Extend(std::uint32_t before, const char* bytes,
                                                    std::size_t size);

std::uint32_t Extend(std::uint32_t before, const char* bytes, std::size_t size) {
  return ratchet::extend_crc32c(before, bytes, size);
}
// NOLINTEND(readability-identifier-naming)

}  // namespace rocksdb::crc32c
