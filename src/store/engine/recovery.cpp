// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/engine/recovery.hpp"

#include <rocksdb/write_batch.h>

#include "store/layout/layout.hpp"

namespace ratchet {

namespace {

/// Reads the first entry of a batch, and no more of it.
class first_entry final : public rocksdb::WriteBatch::Handler {
 public:
  rocksdb::Status PutCF(std::uint32_t family, const rocksdb::Slice& key,
                        const rocksdb::Slice& value) override {
    seen_ = true;
    static const std::string step_key = layout::step_key(true);
    if (family == 0 && key == step_key) {
      const auto decoded = layout::decode_step(value.ToStringView());
      damaged_ = !decoded;
      if (decoded) step_ = decoded.assume_value();
    }
    return rocksdb::Status::OK();
  }
  rocksdb::Status DeleteCF(std::uint32_t, const rocksdb::Slice&) override { return other(); }
  rocksdb::Status SingleDeleteCF(std::uint32_t, const rocksdb::Slice&) override { return other(); }
  rocksdb::Status DeleteRangeCF(std::uint32_t, const rocksdb::Slice&, const rocksdb::Slice&) override {
    return other();
  }
  rocksdb::Status MarkNoop(bool) override { return rocksdb::Status::OK(); }
  bool Continue() override { return !seen_; }

  [[nodiscard]] bool damaged() const { return damaged_; }
  [[nodiscard]] std::optional<std::uint64_t> step() const { return step_; }

 private:
  rocksdb::Status other() {
    seen_ = true;
    return rocksdb::Status::OK();
  }
  bool seen_{false};
  bool damaged_{false};
  std::optional<std::uint64_t> step_;
};

}  // namespace

rocksdb::WalFilter::WalProcessingOption recovery_filter::LogRecordFound(unsigned long long,
                                                                        const std::string&,
                                                                        const rocksdb::WriteBatch& batch,
                                                                        rocksdb::WriteBatch*, bool*) {
  if (!replay_ || stopped_) return WalProcessingOption::kStopReplay;
  first_entry first;
  const rocksdb::Status read = batch.Iterate(&first);
  if (read.ok() && !first.damaged() && !first.step()) return WalProcessingOption::kContinueProcessing;
  const std::uint64_t step = first.step().value_or(0);
  const bool fits = read.ok() && first.step() && (last_ ? step == *last_ + 1 : step <= in_files_ + 1);
  if (!fits) {
    stopped_ = true;
    stopped_at_ = step;
    return WalProcessingOption::kStopReplay;
  }
  last_ = step;
  return WalProcessingOption::kContinueProcessing;
}

}  // namespace ratchet
