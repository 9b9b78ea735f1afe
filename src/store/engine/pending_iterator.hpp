// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rocksdb/iterator.h>

#include <memory>
#include <optional>
#include <string>

#include "store/engine/pending_rows.hpp"

namespace ratchet {

/// Goes over a column family as it is with the pending rows in it: in the order of the keys, each once.
/// Stands on the keys and values of whom it got them from. Must not be used once the pending rows have
/// changed. Thread-safety: as pending_rows.
class pending_iterator final : public rocksdb::Iterator {
 public:
  /// `bound`: of rocksdb::ReadOptions::iterate_upper_bound; may be null. All are borrowed.
  pending_iterator(std::unique_ptr<rocksdb::Iterator> stored, const pending_rows&, family,
                   const rocksdb::Slice* bound);

  [[nodiscard]] bool Valid() const override { return at_ != side::none; }
  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const rocksdb::Slice& target) override;
  void SeekForPrev(const rocksdb::Slice& target) override;
  void Next() override;
  void Prev() override;
  [[nodiscard]] rocksdb::Slice key() const override;
  [[nodiscard]] rocksdb::Slice value() const override;
  [[nodiscard]] rocksdb::Status status() const override { return stored_->status(); }

 private:
  enum class side : unsigned char { none, stored, pending };

  void check() const;
  [[nodiscard]] bool is_in_bound(std::string_view key) const;
  void settle_forward();
  void settle_backward();

  std::unique_ptr<rocksdb::Iterator> stored_;
  const pending_rows* pending_;
  const pending_rows::order* order_;
  family family_;
  std::optional<std::string> bound_;
  std::uint64_t version_;

  pending_rows::order::const_iterator next_;  ///< forward: the first not passed; backward: one behind that
  bool is_forward_{true};
  side at_{side::none};
  pending_value value_;  ///< where it stands on a pending row
};

}  // namespace ratchet
