// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/step.hpp"
#include "store/engine/column_families.hpp"
#include "store/engine/pending_rows.hpp"

namespace ratchet {

/// The rows of a store as its owner sees them: what is pending first, then what the database has. Without
/// pending rows it is the database alone, and costs no more. Borrows both. The database must have all steps
/// that are not pending. Thread-safety: as pending_rows where there are some, else as database.
class row_reader {
 public:
  constexpr row_reader(const database& db, const pending_rows* pending = nullptr)
      : db_{&db}, pending_{pending} {}

  [[nodiscard]] const database& db() const noexcept { return *db_; }

  /// As database::get().
  [[nodiscard]] result<std::optional<std::string>> get(const rocksdb::ReadOptions&, family,
                                                       std::string_view key) const;
  /// As database::for_each(). What is visited must not change the pending rows.
  [[nodiscard]] result<void> for_each(
      const rocksdb::ReadOptions&, family, const std::string& prefix,
      const std::function<result<bool>(std::string_view key, std::string_view value)>& visit,
      std::string_view from = {}) const;
  /// As rocksdb::DB::NewIterator(). Must not be used once the pending rows have changed.
  [[nodiscard]] std::unique_ptr<rocksdb::Iterator> iterate(const rocksdb::ReadOptions&, family) const;
  /// Looks up keys that are in their order. Values and statuses are as rocksdb::DB::MultiGet() gives them:
  /// Aborted for those beyond `soft_limit` bytes. A value that is pending is borrowed until its step is
  /// released or dropped.
  void multi_get(family, std::size_t count, const rocksdb::Slice* keys, rocksdb::PinnableSlice* values,
                 rocksdb::Status* statuses, std::uint64_t soft_limit = k_no_limit) const;

 private:
  [[nodiscard]] bool is_pending(family f) const noexcept {
    return pending_ != nullptr && !pending_->is_untouched(f);
  }
  void get_stored(family, std::size_t count, const rocksdb::Slice* keys, rocksdb::PinnableSlice* values,
                  rocksdb::Status* statuses, std::uint64_t soft_limit) const;

  const database* db_;
  const pending_rows* pending_;
};

}  // namespace ratchet
