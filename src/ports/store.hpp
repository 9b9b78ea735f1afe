// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/histogram.hpp"
#include "core/stream_state.hpp"
#include "ports/checkpointable.hpp"
#include "ports/outbox_store.hpp"
#include "ports/readable_store.hpp"
#include "ports/step_store.hpp"
#include "ports/store_lineage.hpp"

namespace ratchet {

/// A table that the first step adds to a stream which had applied events before: these are not in it.
struct added_table {
  std::string stream;
  std::string table;
};

/// A stream whose meaning changed before it held anything that could be lost.
struct restarted_stream {
  std::string stream;
  counters forgotten;
};

/// What a store takes up, and how long its syncs took; zero where it does not know.
struct store_statistics {
  std::uint64_t memtable_bytes{0};
  std::uint64_t block_cache_bytes{0};
  std::uint64_t table_reader_bytes{0};
  std::uint64_t table_file_bytes{0};  ///< on disk
  histogram_counts sync_seconds;
};

/// The durable state: all of its sides. Take the one that you need. One owner thread calls everything, but
/// for view(), last_step(), durable_step(), durable() and request_sync(), which are thread-safe.
class store : public step_store,
              public outbox_store,
              public store_lineage,
              public readable_store,
              public checkpointable {
 public:
  /// What this opening changes is not written yet, and goes with the first step: a new directory's identity,
  /// another meaning of streams, the cluster, incarnations. Nothing of it is there if this store closes
  /// before.
  [[nodiscard]] virtual bool has_unwritten_start() const { return false; }
  /// Those that this opening adds; none once that is written and told.
  [[nodiscard]] virtual std::vector<added_table> added_tables() const { return {}; }
  /// Those that start over in this opening; none once that is written and told.
  [[nodiscard]] virtual std::vector<restarted_stream> restarted_streams() const { return {}; }

  /// Cheap enough for every few seconds.
  [[nodiscard]] virtual store_statistics statistics() const { return {}; }
};

}  // namespace ratchet
