// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/step/expired_rows.hpp"

#include <utility>

#include "core/retention.hpp"
#include "store/layout/layout.hpp"

namespace ratchet {

result<forgotten_aggregates> expired_rows::next(stream_slot in, const retention_state& of,
                                                const std::optional<std::string>& after, std::size_t rows) {
  constexpr std::size_t k_most_of_one_iterator = std::size_t{4} << 20U;
  const std::string prefix = layout::stream_prefix(in.stream, in.slot);
  unused_ = 0;
  if (!at_ || in != in_ || after != after_ || looked_at_ > k_most_of_one_iterator) {
    at_.reset();
    rocksdb::ReadOptions options;
    options.fill_cache = false;
    options.total_order_seek = true;
    at_.reset(db_->db().NewIterator(options, db_->handle(family::sequences)));
    std::string from = prefix;
    if (after) {
      from.clear();
      layout::append_aggregate_key(from, in.stream, in.slot, *after);
      from.push_back('\0');  // the first key behind it
    }
    at_->Seek(from);
    in_ = in;
    looked_at_ = 0;
  }
  forgotten_aggregates out;
  std::string last;
  for (std::size_t n = 0; n < rows && at_->Valid() && at_->key().starts_with(prefix); ++n, at_->Next()) {
    RATCHET_TRY(const auto key, layout::parse_aggregate_key(at_->key().ToStringView()));
    RATCHET_TRY(const auto row, layout::decode_aggregate(at_->value().ToStringView()));
    if (is_forgotten(of, row.seen)) out.names.emplace_back(key.aggregate);
    last.assign(key.aggregate);
  }
  looked_at_ += rows;
  const bool is_at_end = !at_->Valid() || !at_->key().starts_with(prefix);
  if (!at_->status().ok()) return read_error(at_->status());
  if (is_at_end) {
    at_.reset();
  } else {
    out.last = std::move(last);
  }
  after_ = out.last;
  return out;
}

void expired_rows::note_step() noexcept {
  constexpr std::size_t k_most_unused = 1000;
  if (at_ && ++unused_ > k_most_unused) at_.reset();
}

}  // namespace ratchet
