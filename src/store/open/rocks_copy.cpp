// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/open/rocks_copy.hpp"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "store/engine/rocksdb_error.hpp"
#include "store/layout/layout.hpp"
#include "store/layout/slot_row.hpp"

namespace ratchet {

namespace {

constexpr std::size_t k_read_ahead = std::size_t{2} << 20U;

class rocks_copy final : public replica_copy {
 public:
  rocks_copy(const database& db, std::shared_ptr<durable_floors> floors)
      : db_{db}, hold_{std::move(floors)}, snapshot_{db.db().GetSnapshot()} {
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

  [[nodiscard]] result<void> begin(const row_place& from) {
    RATCHET_TRY(const auto row, db_.get(options_, family::standard, layout::slot_key(k_instance_slot)));
    if (!row) return make_error_code(errc::not_found);
    RATCHET_TRY(position_, layout::decode_slot(*row));
    RATCHET_TRY(read_floors());
    part_ = from.part;
    return seek(from.key);
  }

  [[nodiscard]] const replicate::log_position& position() const override { return position_; }

  [[nodiscard]] std::optional<row_place> place() const override {
    if (at_ == nullptr) return std::nullopt;
    return row_place{static_cast<std::uint8_t>(part_), at_->key().ToString()};
  }

  [[nodiscard]] result<void> next(std::size_t bytes, replicate::row_buffer& to) override {
    const std::size_t wanted = to.bytes().size() + bytes;
    while (at_ != nullptr && to.bytes().size() < wanted) {
      to.put(static_cast<std::uint8_t>(k_order[part_]), at_->key().ToStringView(),
             at_->value().ToStringView());
      at_->Next();
      RATCHET_TRY(settle());
    }
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

 private:
  /// Whoever reads half of it has no state of a stream, whose counters would speak of rows that are not
  /// there. The numbers of the parts are in the log.
  static constexpr std::array k_order{family::sequences, family::snapshots, family::dedup,   family::waiting,
                                      family::outbox,    family::tables,    family::standard};

  [[nodiscard]] result<void> read_floors() {
    const std::string prefix(1, static_cast<char>(layout::kind::stream_state));
    return db_.for_each(options_, family::standard, prefix,
                        [this](std::string_view key, std::string_view value) -> result<bool> {
                          RATCHET_TRY(const stream_id stream, layout::parse_stream_state_key(key));
                          RATCHET_TRY(const stream_state state, layout::decode_stream_state(value));
                          if (state.floor) floors_[static_cast<std::uint32_t>(stream)] = *state.floor;
                          return true;
                        });
  }

  /// Goes to the first row of a part that is not below the key, or on to the next part.
  [[nodiscard]] result<void> seek(const std::string& key) {
    if (part_ >= k_order.size()) return BOOST_OUTCOME_V2_NAMESPACE::success();
    at_.reset(db_.db().NewIterator(options_, db_.handle(k_order[part_])));
    at_->Seek(key);
    return settle();
  }

  [[nodiscard]] bool is_left_out() const {
    const family f = k_order[part_];
    const std::string_view key = at_->key().ToStringView();
    if (layout::is_local_key(f == family::standard, key)) return true;
    return f == family::dedup && is_below_floor(floors_, key, at_->value().ToStringView());
  }

  /// Moves on to a row that is in it.
  [[nodiscard]] result<void> settle() {
    for (;;) {
      while (at_->Valid() && is_left_out()) at_->Next();
      if (at_->Valid()) return BOOST_OUTCOME_V2_NAMESPACE::success();
      if (!at_->status().ok()) return read_error(at_->status());
      at_.reset();
      if (++part_ == k_order.size()) return BOOST_OUTCOME_V2_NAMESPACE::success();
      at_.reset(db_.db().NewIterator(options_, db_.handle(k_order[part_])));
      at_->SeekToFirst();
    }
  }

  const database& db_;
  floors_hold hold_;  // before the snapshot is taken
  const rocksdb::Snapshot* snapshot_;
  rocksdb::ReadOptions options_;
  replicate::log_position position_;
  floor_map floors_;
  std::size_t part_{0};
  std::unique_ptr<rocksdb::Iterator> at_;  ///< at the next row; null behind the last one
};

}  // namespace

result<std::unique_ptr<replica_copy>> copy_of(const database& db, std::shared_ptr<durable_floors> floors,
                                              const row_place& from) {
  auto made = std::make_unique<rocks_copy>(db, std::move(floors));
  RATCHET_TRY(made->begin(from));
  return std::unique_ptr<replica_copy>{std::move(made)};
}

}  // namespace ratchet
