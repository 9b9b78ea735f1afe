// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rocksdb/wal_filter.h>

#include <cstdint>
#include <optional>

namespace ratchet {

/// Lets the write-ahead log be replayed as far as its step numbers are consecutive, and stops there. A power
/// cut writes pages out of order, and RocksDB passes over some kinds of holes in silence. Batches without a
/// step (identity, incarnations: each synced when written) pass.
class recovery_filter final : public rocksdb::WalFilter {
 public:
  /// Replays nothing: what is left is what the table files hold.
  recovery_filter() : replay_{false} {}
  /// `in_files`: the lowest step that a column family has in its table files; the log must not start later
  /// than one past it.
  explicit recovery_filter(std::uint64_t in_files) : in_files_{in_files} {}

  /// The last step that passed; none where the log has no step.
  [[nodiscard]] std::optional<std::uint64_t> last_passed() const noexcept { return last_; }
  [[nodiscard]] bool stopped() const noexcept { return stopped_; }
  /// The step that did not fit, where it stopped.
  [[nodiscard]] std::uint64_t stopped_at() const noexcept { return stopped_at_; }

  WalProcessingOption LogRecordFound(unsigned long long log_number, const std::string& log_file_name,
                                     const rocksdb::WriteBatch& batch, rocksdb::WriteBatch* new_batch,
                                     bool* batch_changed) override;
  const char* Name() const override { return "ratchet.recovery_filter"; }

 private:
  bool replay_{true};
  std::uint64_t in_files_{0};
  std::optional<std::uint64_t> last_;
  bool stopped_{false};
  std::uint64_t stopped_at_{0};
};

}  // namespace ratchet
