// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>

#include "ports/store_view.hpp"
#include "store/engine/catalog.hpp"
#include "store/engine/column_families.hpp"

namespace ratchet {

/// store_view over a RocksDB snapshot, or over a read-only database, which stands still by itself.
/// Ids that fall below the durable floor while it is open may go from scan_ids().
class rocks_view final : public store_view {
 public:
  /// `start`: identity and streams that the first step is to write, where there was none yet.
  /// Errors: state_damaged; of RocksDB.
  [[nodiscard]] static result<std::unique_ptr<rocks_view>> open(const database&, bool with_snapshot,
                                                                std::shared_ptr<const catalog> start = {});
  ~rocks_view() override;
  rocks_view(const rocks_view&) = delete;
  rocks_view& operator=(const rocks_view&) = delete;

  [[nodiscard]] std::uint64_t step() const override { return step_; }
  [[nodiscard]] result<store_identity> identity() const override;
  [[nodiscard]] result<std::vector<named_stream>> streams() const override;
  [[nodiscard]] result<stream_state> load(stream_slot) const override;
  [[nodiscard]] result<aggregate_row> get(stream_slot, std::string_view aggregate) const override;
  [[nodiscard]] result<void> scan(stream_slot,
                                  const std::function<bool(const scanned_row&)>& visit) const override;
  [[nodiscard]] result<void> scan_ids(stream_slot, const id_visit& visit) const override;
  [[nodiscard]] result<std::vector<filed_id_of>> aggregates_with(stream_slot, event_id,
                                                                 std::size_t limit) const override;
  [[nodiscard]] result<void> newest_rejected(
      stream_id, std::size_t limit, const std::function<bool(const rejected_row*)>& visit) const override;
  [[nodiscard]] result<void> each_rejected(
      stream_id, const std::optional<kept_rejected::position>& after,
      const std::function<bool(const rejected_row&)>& visit) const override;
  [[nodiscard]] result<void> each_audit(std::uint64_t after,
                                        const std::function<bool(const audit_row&)>& visit) const override;
  [[nodiscard]] result<void> waiting(
      stream_slot, const std::optional<waiting_place>& after,
      const std::function<bool(std::string_view aggregate, const waiting_event&)>& visit) const override;
  [[nodiscard]] result<std::optional<backlog>> backlog_of(stream_slot,
                                                          std::string_view aggregate) const override;
  [[nodiscard]] result<void> backlogs(
      stream_slot,
      const std::function<bool(std::string_view aggregate, const backlog&)>& visit) const override;
  [[nodiscard]] result<std::optional<std::string>> oldest_gap(stream_slot) const override;
  [[nodiscard]] result<std::string> table_row(stream_slot, std::string_view table,
                                              std::string_view key) const override;
  [[nodiscard]] result<void> scan_table(
      stream_slot, std::string_view table, std::string_view prefix, std::string_view from,
      const std::function<bool(std::string_view key, std::string_view value)>& visit) const override;
  [[nodiscard]] result<outbox_lanes> outboxes() const override;

 private:
  explicit rocks_view(const database& db) : db_{&db} {}
  /// Nothing of the aggregate is to be seen any more.
  result<bool> is_gone(stream_slot, std::string_view aggregate, const aggregate_row&) const;
  /// The row of a value, with its snapshot from wherever it lies.
  result<aggregate_row> row_of(std::string_view key, std::string_view value) const;

  const database* db_;
  std::shared_ptr<const catalog> start_;
  const rocksdb::Snapshot* snapshot_{nullptr};
  rocksdb::ReadOptions options_;
  std::uint64_t step_{0};
  mutable std::map<stream_slot, retention_state> retention_;  ///< of those that were asked for
};

}  // namespace ratchet
