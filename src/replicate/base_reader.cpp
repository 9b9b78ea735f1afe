// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "replicate/base_reader.hpp"

#include "replicate/chain.hpp"
#include "replicate/row_buffer.hpp"

namespace ratchet::replicate {

const char* name_of(base_fate f) noexcept {
  switch (f) {
    case base_fate::begun:
      return "begun";
    case base_fate::rows:
      return "rows";
    case base_fate::complete:
      return "complete";
    case base_fate::passed:
      return "passed";
    case base_fate::broken:
      return "broken";
    case base_fate::false_end:
      return "false_end";
    case base_fate::refused:
      return "refused";
  }
  return "?";
}

bool log_leads_on(const base_reader_options& options, const log_position& from) {
  return from.is_before_log() ? options.log_first == 0 : from.offset >= options.log_first;
}

void base_reader::give_up() {
  is_reading_ = false;
  held_.clear();
  whole_ = 0;
  rows_ = {};
}

base_fate base_reader::refuse(refusal why) {
  give_up();
  if (!refused_) refused_ = why;
  return base_fate::refused;
}

base_fate base_reader::take(std::int64_t offset, std::string_view bytes) {
  rows_ = {};
  if (refused_) return base_fate::refused;
  base_record record;
  if (is_done_ || !decode_base_record(bytes, record)) return base_fate::passed;
  if (!is_reading_) {
    return record.head.kind == base_kind::begin ? begin(offset, record) : base_fate::passed;
  }
  if (record.head.base != base_ || record.head.lineage != content_.at.lineage) return base_fate::passed;
  switch (record.head.kind) {
    case base_kind::begin:
      return base_fate::passed;  // sent twice
    case base_kind::part:
      return take_part(record.part);
    case base_kind::end:
      return take_end(record.end);
  }
  return base_fate::passed;
}

base_fate base_reader::begin(std::int64_t offset, const base_record& record) {
  const base_content& of = record.begin;
  if (options_.lineage && record.head.lineage != *options_.lineage) return base_fate::passed;
  if (!log_leads_on(options_, of.at)) return base_fate::passed;
  if (of.layout > options_.newest_layout) return refuse(refusal::newer_layout);
  if (options_.meaning && of.meaning != *options_.meaning) return refuse(refusal::other_meaning);
  is_reading_ = true;
  begun_at_ = offset;
  base_ = record.head.base;
  content_ = of;
  parts_ = bytes_ = 0;
  hash_ = {};
  return base_fate::begun;
}

base_fate base_reader::take_part(const base_part& part) {
  if (part.number < parts_) return base_fate::passed;  // sent twice
  if (part.number > parts_) return base_fate::passed;  // it comes again, or the end tells
  held_.erase(0, whole_);
  held_ += part.rows;
  const auto whole = whole_rows(held_);
  if (!whole || held_.size() - *whole > k_step_bytes) return base_fate::broken;
  whole_ = *whole;
  rows_ = std::string_view{held_}.substr(0, whole_);
  ++parts_;
  bytes_ += part.rows.size();
  hash_ = next_chain(hash_, part.rows);
  return base_fate::rows;
}

base_fate base_reader::take_end(const base_end& end) {
  const bool is_whole = end.of == content_ && end.parts == parts_ && end.bytes == bytes_ &&
                        end.hash == hash_ && held_.size() == whole_;
  if (!is_whole) return base_fate::false_end;
  give_up();
  is_done_ = true;
  return base_fate::complete;
}

}  // namespace ratchet::replicate
