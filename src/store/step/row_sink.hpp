// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rocksdb/write_batch.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "replicate/row_buffer.hpp"
#include "store/engine/column_families.hpp"

namespace ratchet {

/// Takes the rows of a step: into a batch for the database, or into the bytes that a replicated log has. Keys
/// and values are the same in both. Borrows all of it. Thread-safety: one thread.
class row_sink {
 public:
  row_sink(const database& db, rocksdb::WriteBatch& batch) : db_{&db}, batch_{&batch} {}
  explicit row_sink(replicate::row_buffer& rows) : rows_{&rows} {}

  // Statuses of batch edits: they fail only past a size limit, and none is set.
  void put(family f, std::string_view key, std::string_view value) {
    if (rows_ != nullptr) return rows_->put(number_of(f), key, value);
    batch_->Put(db_->handle(f), key, value).PermitUncheckedError();
  }
  /// A value in two pieces, copied once.
  void put(family f, std::string_view key, std::string_view head, std::string_view tail) {
    if (rows_ != nullptr) return rows_->put(number_of(f), key, head, tail);
    const rocksdb::Slice key_slice{key};
    const std::array<rocksdb::Slice, 2> value{rocksdb::Slice{head}, rocksdb::Slice{tail}};
    batch_->Put(db_->handle(f), rocksdb::SliceParts{&key_slice, 1}, rocksdb::SliceParts{value.data(), 2})
        .PermitUncheckedError();
  }
  void erase(family f, std::string_view key) {
    if (rows_ != nullptr) return rows_->erase(number_of(f), key);
    batch_->Delete(db_->handle(f), key).PermitUncheckedError();
  }
  /// Erases [begin, behind).
  void erase_range(family f, std::string_view begin, std::string_view behind) {
    if (rows_ != nullptr) return rows_->erase_range(number_of(f), begin, behind);
    batch_->DeleteRange(db_->handle(f), begin, behind).PermitUncheckedError();
  }

 private:
  static std::uint8_t number_of(family f) noexcept { return static_cast<std::uint8_t>(f); }

  const database* db_{nullptr};
  rocksdb::WriteBatch* batch_{nullptr};
  replicate::row_buffer* rows_{nullptr};
};

}  // namespace ratchet
