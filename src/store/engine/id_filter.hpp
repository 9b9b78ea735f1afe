// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rocksdb/compaction_filter.h>
#include <rocksdb/db.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "core/stream_state.hpp"

namespace ratchet {

using floor_map = std::map<std::uint32_t, timestamp>;

/// The floor of each stream below which ids may be dropped from disk: a floor that survives a power cut. With
/// a later one a crash could bring back a step whose floor still covers ids that are gone. Thread-safety: all
/// calls from any thread.
class durable_floors {
 public:
  /// Floors only grow: a lower one is ignored.
  void raise(stream_id, timestamp);
  /// The floors, or, while somebody holds them, what they were when the first of them began to.
  [[nodiscard]] std::shared_ptr<const floor_map> read() const;
  void hold();
  void release();

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const floor_map> floors_{std::make_shared<const floor_map>()};
  std::shared_ptr<const floor_map> held_;
  unsigned holders_{0};
};

/// While it lives, no ids are dropped that are in the database now: RocksDB's filters do not know snapshots.
class floors_hold {
 public:
  explicit floors_hold(std::shared_ptr<durable_floors> of) : of_{std::move(of)} { of_->hold(); }
  ~floors_hold() { of_->release(); }
  floors_hold(const floors_hold&) = delete;
  floors_hold& operator=(const floors_hold&) = delete;

 private:
  std::shared_ptr<durable_floors> of_;
};

/// Whether a row of `dedup` may be dropped with these floors. What cannot be decoded stays: damage is not for
/// a filter to hide.
[[nodiscard]] bool is_below_floor(const floor_map&, std::string_view key, std::string_view value);

/// Drops the runs of `dedup` whose span has ended at its stream's durable floor, and the opaque ids that are
/// filed below it, whenever RocksDB writes a table file. Such ids are before the window by their time alone:
/// whether they are stored changes no answer.
class id_filter_factory final : public rocksdb::CompactionFilterFactory {
 public:
  explicit id_filter_factory(std::shared_ptr<const durable_floors> floors) : floors_{std::move(floors)} {}
  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context&) override;
  bool ShouldFilterTableFileCreation(rocksdb::TableFileCreationReason) const override;
  const char* Name() const override { return "ratchet.id_filter"; }

 private:
  std::shared_ptr<const durable_floors> floors_;
};

/// Deletes the table files of `dedup` that hold nothing but runs that are older by the widest span than their
/// stream's floor, which must be durable. Files in level 0 stay; what stays is dropped by a later call, or by
/// compaction.
void drop_id_files(rocksdb::DB&, rocksdb::ColumnFamilyHandle* dedup, const floor_map&);

}  // namespace ratchet
