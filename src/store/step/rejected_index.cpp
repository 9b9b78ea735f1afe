// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/step/rejected_index.hpp"

namespace ratchet {

result<void> rejected_index::load(const database& db, std::span<const stream_id> streams) {
  for (const stream_id stream : streams) {
    kept_rejected& kept = streams_[stream];
    RATCHET_TRY(db.for_each({}, family::standard, layout::prefix_of(layout::kind::rejected, stream),
                            [&](std::string_view key, std::string_view value) -> result<bool> {
                              RATCHET_TRY(const auto parsed, layout::parse_rejected_key(key));
                              RATCHET_TRY(const auto decoded, layout::decode_rejected(parsed, value));
                              const rejected_row& row = decoded.second;
                              kept.add(kept_rejected::position::of(row), decoded.first, row.at);
                              return true;
                            }));
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

void rejected_index::add(row_sink& to, stream_id stream, std::uint64_t step,
                         std::span<const rejected_row> added, const rejected_limits& limits) {
  if (added.empty() && !limits.before) return;
  kept_rejected& kept = streams_[stream];
  // Of a step that has more of them than are kept at all, only the last are worth writing.
  const std::size_t first = added.size() > limits.records ? added.size() - limits.records : 0;
  for (std::size_t i = first; i < added.size(); ++i) {
    const rejected_place place{step, static_cast<std::uint32_t>(i)};
    const auto where = kept_rejected::position::of(added[i]);
    to.put(family::standard, layout::rejected_key(stream, where), layout::encode_rejected(added[i], place));
    kept.add(where, place, added[i].at);
  }
  for (const kept_rejected::position& where : kept.trim(limits)) {
    to.erase(family::standard, layout::rejected_key(stream, where));
  }
}

std::optional<timestamp> rejected_index::oldest(stream_id stream) const {
  const auto at = streams_.find(stream);
  return at == streams_.end() ? std::nullopt : at->second.oldest();
}

void rejected_index::clear(row_sink& to, stream_id stream) {
  const auto known = streams_.find(stream);
  if (known == streams_.end()) return;
  for (const kept_rejected::position& where : known->second.newest(known->second.size())) {
    to.erase(family::standard, layout::rejected_key(stream, where));
  }
  streams_.erase(known);
}

}  // namespace ratchet
