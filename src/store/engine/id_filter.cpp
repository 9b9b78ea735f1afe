// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/engine/id_filter.hpp"

#include <rocksdb/convenience.h>

#include <algorithm>

#include "store/layout/answer.hpp"
#include "store/layout/layout.hpp"

namespace ratchet {

namespace {

/// 0 for what lies before 1970.
std::uint64_t milliseconds_of(timestamp t) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(t.time_since_epoch().count(), 0));
}

[[nodiscard]] bool drops_id(const floor_map& floors, std::string_view key, std::string_view value) {
  const auto parsed = layout::parse_opaque_id_key(key);
  const auto filed = layout::filed_time_of(value);
  if (!parsed || !filed) return false;
  const auto floor = floors.find(static_cast<std::uint32_t>(parsed.assume_value().stream));
  return floor != floors.end() && filed.assume_value() < floor->second;
}

[[nodiscard]] bool drops_run(const floor_map& floors, std::string_view key) {
  const auto parsed = layout::parse_id_run_key(key);
  if (!parsed) return false;  // or the step row
  const auto floor = floors.find(static_cast<std::uint32_t>(parsed.assume_value().stream));
  return floor != floors.end() && parsed.assume_value().span.end() <= milliseconds_of(floor->second);
}

class id_filter final : public rocksdb::CompactionFilter {
 public:
  explicit id_filter(std::shared_ptr<const floor_map> floors) : floors_{std::move(floors)} {}

  bool Filter(int, const rocksdb::Slice& key, const rocksdb::Slice& value, std::string*,
              bool*) const override {
    return is_below_floor(*floors_, key.ToStringView(), value.ToStringView());
  }
  const char* Name() const override { return "ratchet.id_filter"; }

 private:
  std::shared_ptr<const floor_map> floors_;
};

}  // namespace

bool is_below_floor(const floor_map& floors, std::string_view key, std::string_view value) {
  return layout::is_opaque_id_key(key) ? drops_id(floors, key, value) : drops_run(floors, key);
}

void durable_floors::hold() {
  const std::scoped_lock lock{mutex_};
  if (holders_++ == 0) held_ = floors_;
}

void durable_floors::release() {
  const std::scoped_lock lock{mutex_};
  if (--holders_ == 0) held_.reset();
}

void durable_floors::raise(stream_id stream, timestamp floor) {
  const std::scoped_lock lock{mutex_};
  const auto key = static_cast<std::uint32_t>(stream);
  const auto at = floors_->find(key);
  if (at != floors_->end() && at->second >= floor) return;
  auto next = std::make_shared<floor_map>(*floors_);
  (*next)[key] = floor;
  floors_ = std::move(next);
}

std::shared_ptr<const floor_map> durable_floors::read() const {
  const std::scoped_lock lock{mutex_};
  return holders_ == 0 ? floors_ : held_;
}

std::unique_ptr<rocksdb::CompactionFilter> id_filter_factory::CreateCompactionFilter(
    const rocksdb::CompactionFilter::Context&) {
  return std::make_unique<id_filter>(floors_->read());
}

bool id_filter_factory::ShouldFilterTableFileCreation(rocksdb::TableFileCreationReason reason) const {
  return reason == rocksdb::TableFileCreationReason::kCompaction ||
         reason == rocksdb::TableFileCreationReason::kFlush;
}

void drop_id_files(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* dedup, const floor_map& floors) {
  for (const auto& [stream, floor] : floors) {
    constexpr std::uint64_t k_widest = std::uint64_t{1} << layout::k_span_bits.back();
    const std::uint64_t milliseconds = milliseconds_of(floor);
    if (milliseconds < k_widest) continue;
    const std::string begin = layout::stream_prefix(stream_id{stream});
    // Every span that begins before it has ended at the floor.
    const std::string end =
        layout::span_prefix(stream_id{stream}, k_instance_slot, {milliseconds - k_widest + 1, 0});
    const rocksdb::Slice from{begin};
    const rocksdb::Slice to{end};
    constexpr bool k_with_end = false;  // a span that begins there ends behind the floor
    // A saving only: what an error leaves is tried again.
    rocksdb::DeleteFilesInRange(&db, dedup, &from, &to, k_with_end).PermitUncheckedError();
  }
}

}  // namespace ratchet
