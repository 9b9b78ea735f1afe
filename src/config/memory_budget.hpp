// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace ratchet {

/// How `memory_limit` is shared out: the one place that does it. Each part keeps to its share by itself.
///
/// - queue, 1/4, at most 64 MiB: fetched records, half for their bytes, half for what librdkafka keeps beside
///   each. More of them wait so long that the processor's caches have lost them: with 256 MiB an event took 4
///   % more processor time
/// - working, 1/4, at most 256 MiB and 1/16: the batches being fetched, decoded and written, one fetch under
///   way, what the allocator holds back
/// - database, half of the rest, but above 512 MiB only 3/8: one cache for table blocks, indexes and filters;
///   memtables are charged to it, and flushed from three quarters of it on; open tables
/// - remembered, what is left: fingerprints of recent ids and heads of recent rows, so that most events
///   need no look-up. A row takes 36 bytes here, and a block of 4 KiB in the database's cache: at 2 M
///   aggregates in 1 GiB, a quarter here and a quarter there handle a quarter more events a second than 1/8
///   and 3/8; and what is larger than memory by far finds hardly any of its rows' blocks in a cache
///
/// The program itself (code, threads, librdkafka's and RocksDB's own) comes on top: k_program_bytes.
struct memory_budget {
  std::uint64_t database{0};
  std::uint64_t remembered{0};
  std::uint64_t queue{0};
  std::uint64_t working{0};

  [[nodiscard]] static constexpr memory_budget of(std::uint64_t limit) noexcept {
    constexpr std::uint64_t k_most_queue = std::uint64_t{64} << 20U;
    constexpr std::uint64_t k_enough_to_work = std::uint64_t{256} << 20U;
    constexpr std::uint64_t k_enough_for_tables = std::uint64_t{512} << 20U;
    const std::uint64_t quarter = limit / 4;
    const std::uint64_t queue = std::min(quarter, k_most_queue);
    const std::uint64_t working = std::min(quarter, k_enough_to_work + limit / 16);
    const std::uint64_t rest = limit - queue - working;
    const std::uint64_t database = std::min(rest / 2, std::max(k_enough_for_tables, rest * 3 / 8));
    return {database, rest - database, queue, working};
  }
};

/// Resident memory is at most the limit and this, measured; see tests/broker/workload_resources.cpp.
inline constexpr std::uint64_t k_program_bytes = std::uint64_t{128} << 20U;

/// Below, a step of the default size and one fetch of the largest ordinary message no longer fit their
/// shares.
inline constexpr std::uint64_t k_least_memory_limit = std::uint64_t{64} << 20U;
inline constexpr std::uint64_t k_most_memory_limit = std::uint64_t{16} << 40U;

}  // namespace ratchet
