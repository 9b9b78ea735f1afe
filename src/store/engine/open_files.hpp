// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// How many files the store may hold open, within what the process may.
namespace ratchet {

/// Kept for everything that is no table file: logs, manifest and lock of the store, its output files, the
/// connections to brokers, those of `get` and `status`, and what the embedding program has open.
inline constexpr std::uint64_t k_other_descriptors = 192;
/// With fewer table files open than this, reads would open files all the time.
inline constexpr std::uint64_t k_least_table_files = 64;
inline constexpr std::uint64_t k_least_descriptors = k_other_descriptors + k_least_table_files;

/// The soft limit of this process (RLIMIT_NOFILE).
[[nodiscard]] std::uint64_t descriptor_limit() noexcept;

/// How many table files RocksDB may keep open: what the limit leaves, but no more than its share of memory
/// can bear, since an open table takes some KiB.
[[nodiscard]] int most_table_files(std::uint64_t descriptors, std::uint64_t memory_bytes) noexcept;

}  // namespace ratchet
