// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "pipeline/rejected_rows.hpp"

#include "decode/record_hash.hpp"

namespace ratchet {

namespace {

/// Rejected records of plain files have no position; the same content is the same row.
[[nodiscard]] std::int64_t row_key(const record& r) {
  if (!r.where->topic.empty()) return r.offset;
  return static_cast<std::int64_t>(record_hash(r.key, r.value).high >> 1U);
}

}  // namespace

rejected_row make_rejected_row(const stream_rules& rules, const decoded_event& e, decision d, timestamp now) {
  const record& r = *e.from;
  rejected_row row;
  row.where = *r.where;
  row.offset = row_key(r);
  if (!row.where.topic.empty()) row.index = r.index;
  row.at = now;
  row.reason = d.reason;
  row.record_time = e.record_time;
  if (r.key) row.key = std::string{*r.key};
  if (r.value) row.value = std::string{*r.value};
  if (e.kind == decoded_kind::malformed) {
    row.detail = name_of(e.malformed.reason);
    row.pointer = std::string{e.malformed.pointer};
    row.byte_offset = e.malformed.byte_offset;
    return row;
  }
  if (d.reason == reject_reason::malformed) {
    row.detail = name_of(malformed_reason::too_many_sources);
    return row;
  }
  row.detail = std::string{e.aggregate};
  if (rules.gate.order != order::arrival) row.sequence = e.sequence;
  if (e.has_id && rules.dedup) row.id = e.id;
  row.time = e.time;
  return row;
}

rejected_limits limits_at(const rejected_config& config, timestamp now) {
  rejected_limits limits{.records = config.records, .before = {}};
  if (config.age) limits.before = now - *config.age;
  return limits;
}

}  // namespace ratchet
