// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/open/rocks_copy.hpp"

#include <string_view>

#include "store/engine/rocksdb_error.hpp"
#include "store/layout/slot_row.hpp"

namespace ratchet {

namespace {

constexpr std::size_t k_read_ahead = std::size_t{2} << 20U;

class rocks_copy final : public replica_copy {
 public:
  explicit rocks_copy(const database& db) : db_{db}, snapshot_{db.db().GetSnapshot()} {
    options_.snapshot = snapshot_;
    options_.fill_cache = false;
    options_.readahead_size = k_read_ahead;
    options_.total_order_seek = true;  // the whole of a family, whatever its filters know of prefixes
  }
  ~rocks_copy() override {
    at_.reset();
    db_.db().ReleaseSnapshot(snapshot_);
  }
  rocks_copy(const rocks_copy&) = delete;
  rocks_copy& operator=(const rocks_copy&) = delete;

  [[nodiscard]] result<void> read_position() {
    RATCHET_TRY(const auto row, db_.get(options_, family::standard, layout::slot_key(k_instance_slot)));
    if (!row) return make_error_code(errc::not_found);
    RATCHET_TRY(position_, layout::decode_slot(*row));
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

  [[nodiscard]] const replicate::log_position& position() const override { return position_; }

  [[nodiscard]] result<void> next(std::size_t bytes, replicate::row_buffer& to) override {
    const std::size_t wanted = to.bytes().size() + bytes;
    while (to.bytes().size() < wanted) {
      if (at_ == nullptr) {
        if (family_ == k_order.size()) break;
        at_.reset(db_.db().NewIterator(options_, db_.handle(k_order[family_])));
        at_->SeekToFirst();
      }
      if (!at_->Valid()) {
        if (!at_->status().ok()) return read_error(at_->status());
        at_.reset();
        ++family_;
        continue;
      }
      const family f = k_order[family_];
      const std::string_view key = at_->key().ToStringView();
      if (!layout::is_local_key(f == family::standard, key))
        to.put(static_cast<std::uint8_t>(f), key, at_->value().ToStringView());
      at_->Next();
    }
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

 private:
  /// Whoever reads half of it has no state of a stream, whose counters would speak of rows that are not
  /// there.
  static constexpr std::array k_order{family::sequences, family::snapshots, family::dedup,   family::waiting,
                                      family::outbox,    family::tables,    family::standard};

  const database& db_;
  const rocksdb::Snapshot* snapshot_;
  rocksdb::ReadOptions options_;
  replicate::log_position position_;
  std::size_t family_{0};
  std::unique_ptr<rocksdb::Iterator> at_;
};

}  // namespace

result<std::unique_ptr<replica_copy>> copy_of(const database& db) {
  auto made = std::make_unique<rocks_copy>(db);
  RATCHET_TRY(made->read_position());
  return std::unique_ptr<replica_copy>{std::move(made)};
}

}  // namespace ratchet
