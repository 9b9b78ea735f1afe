// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/rejected_index.hpp"

namespace ratchet {

namespace {

// Statuses of batch edits: they fail only past a size limit, and none is set.
void put(rocksdb::WriteBatch& batch, rocksdb::ColumnFamilyHandle* family, const std::string& key,
         const std::string& value) {
  batch.Put(family, key, value).PermitUncheckedError();
}

void erase(rocksdb::WriteBatch& batch, rocksdb::ColumnFamilyHandle* family, const std::string& key) {
  batch.Delete(family, key).PermitUncheckedError();
}

}  // namespace

result<void> rejected_index::load(const database& db, std::span<const stream_id> streams) {
  for (const stream_id stream : streams) {
    rows_of_stream& rows = streams_[stream];
    RATCHET_TRY(db.for_each({}, family::standard, layout::prefix_of(layout::kind::rejected, stream),
                            [&](std::string_view key, std::string_view value) -> result<bool> {
                              RATCHET_TRY(const auto parsed, layout::parse_rejected_key(key));
                              RATCHET_TRY(const auto decoded, layout::decode_rejected(parsed, value));
                              rows.by_age.emplace(decoded.first, key);
                              rows.by_key.emplace(key, decoded.first);
                              return true;
                            }));
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

void rejected_index::add(rocksdb::WriteBatch& batch, rocksdb::ColumnFamilyHandle* family, stream_id stream,
                         std::uint64_t step, std::span<const rejected_row> added) {
  if (added.empty()) return;
  rows_of_stream& rows = streams_[stream];
  // Of a step that has more of them than are kept at all, only the last are worth writing.
  const std::size_t first =
      added.size() > layout::k_rejected_rows ? added.size() - layout::k_rejected_rows : 0;
  for (std::size_t i = first; i < added.size(); ++i) {
    const layout::rejected_place place{step, static_cast<std::uint32_t>(i)};
    std::string key = layout::rejected_key(stream, added[i].where, added[i].offset);
    put(batch, family, key, layout::encode_rejected(added[i], place));
    const auto [at, is_new] = rows.by_key.try_emplace(key, place);
    if (!is_new) {
      rows.by_age.erase(at->second);
      at->second = place;
    }
    rows.by_age.emplace(place, std::move(key));
  }
  while (rows.by_age.size() > layout::k_rejected_rows) {
    const auto oldest = rows.by_age.begin();
    erase(batch, family, oldest->second);
    rows.by_key.erase(oldest->second);
    rows.by_age.erase(oldest);
  }
}

void rejected_index::clear(rocksdb::WriteBatch& batch, rocksdb::ColumnFamilyHandle* family,
                           stream_id stream) {
  for (const auto& [place, key] : streams_[stream].by_age) erase(batch, family, key);
  streams_.erase(stream);
}

}  // namespace ratchet
