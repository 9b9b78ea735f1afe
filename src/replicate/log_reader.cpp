// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "replicate/log_reader.hpp"

#include "core/byte_io.hpp"
#include "replicate/chain.hpp"
#include "replicate/row_buffer.hpp"

namespace ratchet::replicate {
namespace {

/// What a long step may leave behind in memory.
constexpr std::size_t k_kept_bytes = 8 * k_chunk_bytes;

}  // namespace

log_position position_before_log(const hash128& lineage, std::uint32_t slot, std::uint64_t step,
                                 const hash128& drawn) noexcept {
  log_position at;
  at.lineage = lineage;
  at.step = at.fenced_step = step;
  char salt[16];
  layout::put_number<8>(layout::put_number<8>(salt, drawn.high), drawn.low);
  at.chain = next_chain(founding_chain(lineage, slot), {salt, sizeof salt});
  return at;
}

log_reader::log_reader(const reader_options& options, const log_position& from)
    : options_{options}, at_{from} {
  go_back();
}

void log_reader::go_back() {
  resuming_ = at_.offset >= 0;
  next_offset_ = resuming_ ? at_.offset : 0;
  held_ = 0;
}

fate log_reader::refuse(refusal why) {
  if (!refused_) refused_ = why;
  return fate::refused;
}

fate log_reader::count(std::int64_t offset, fate f) {
  if (offset <= counted_to_) return f;
  counted_to_ = offset;
  ++counts_[static_cast<std::size_t>(f)];
  return f;
}

std::uint64_t log_reader::count_of(fate f) const {
  return counts_[static_cast<std::size_t>(f)];
}

void log_reader::check_bounds(std::int64_t known, std::int64_t first_offset, std::int64_t end_offset) {
  if (end_offset <= known) {
    refuse(refusal::ends_earlier);
  } else if (first_offset > next_offset_) {
    refuse(refusal::begins_later);
  }
}

void log_reader::skip_to(std::int64_t offset) {
  if (offset <= next_offset_) return;
  if (resuming_) {
    refuse(refusal::other_record);
    return;
  }
  next_offset_ = offset;
}

fate log_reader::take(std::int64_t offset, std::string_view bytes) {
  log_record record;
  const record_fault fault = decode_record(bytes, record);
  return count(offset, judge(offset, record, fault, false));
}

fate log_reader::take_own(std::int64_t offset, const log_record& record) {
  return count(offset, judge(offset, record, record_fault::none, true));
}

fate log_reader::judge(std::int64_t offset, const log_record& record, record_fault fault, bool own) {
  rows_ = {};
  if (refused_) return fate::refused;
  const fate f = judge_next(offset, record, fault, own);
  if (f == fate::refused) refused_at_ = offset;
  return f;
}

fate log_reader::judge_next(std::int64_t offset, const log_record& record, record_fault fault, bool own) {
  if (offset < next_offset_) return refuse(refusal::offset_back);
  if (resuming_) return take_resumed(offset, record, fault);
  next_offset_ = offset + 1;
  if (!has_head(fault)) return fate::unreadable;
  const record_head& head = record.head;
  if (at_.lineage && head.lineage != *at_.lineage) {
    const bool has_begun = fault == record_fault::none && head.kind == record_kind::fence;
    return at_.is_before_log() && has_begun ? refuse(refusal::other_lineage) : fate::foreign;
  }
  const bool counts = leads(head.epoch, head.writer);
  const bool fences = head.kind == record_kind::fence && head.epoch > at_.epoch;
  if (fault == record_fault::newer_version && (counts || fences)) return refuse(refusal::newer_version);
  // A fence that cannot be read begins nothing: its writer reads it, too, and fences again.
  if (fault != record_fault::none) return counts ? refuse(refusal::damaged) : fate::unreadable;
  switch (head.kind) {
    case record_kind::fence:
      return take_fence(offset, record);
    case record_kind::step:
      return take_chunk(offset, record, own);
    case record_kind::point:
    case record_kind::digest:
      return take_note(record);
  }
  return fate::unreadable;
}

fate log_reader::take_resumed(std::int64_t offset, const log_record& record, record_fault fault) {
  const record_head& head = record.head;
  const bool is_fence = head.kind == record_kind::fence;
  const bool same = offset == at_.offset && fault == record_fault::none && head.lineage == at_.lineage &&
                    leads(head.epoch, head.writer) && is_fence == at_.at_fence &&
                    (is_fence || (head.kind == record_kind::step && head.last &&
                                  record.chunk.step == at_.step && record.chunk.chain == at_.chain));
  if (!same) return refuse(refusal::other_record);
  resuming_ = false;
  next_offset_ = offset + 1;
  return fate::resumed;
}

fate log_reader::take_fence(std::int64_t offset, const log_record& record) {
  const record_head& head = record.head;
  if (head.epoch < at_.epoch) return fate::zombie;
  if (head.epoch == at_.epoch) return head.writer == at_.writer ? fate::again : fate::rival;
  if (head.epoch.generation == k_generations_end) return refuse(refusal::epochs_used_up);
  if (options_.lineage && head.lineage != *options_.lineage) return refuse(refusal::other_lineage);
  if (head.layout > options_.newest_layout) return refuse(refusal::newer_layout);
  if (options_.meaning && record.fence.meaning != *options_.meaning) return refuse(refusal::other_meaning);
  if (at_.is_before_log() && record.fence.known_step != at_.step) return refuse(refusal::other_begin);
  if (record.fence.known_step > at_.step) return refuse(refusal::steps_missing);
  if (!at_.lineage) {
    at_.lineage = head.lineage;
    at_.chain = founding_chain(head.lineage, options_.slot);
  }
  at_.epoch = head.epoch;
  at_.writer = head.writer;
  at_.fenced_step = at_.step;
  at_.offset = offset;
  at_.at_fence = true;
  held_ = 0;
  return fate::fence;
}

/// None: of the writer that counts.
std::optional<fate> log_reader::judge_writer(const record_head& head) {
  if (head.epoch < at_.epoch) return fate::zombie;
  // Each writer waits for its fence, and reads it, before it appends anything else.
  if (head.epoch > at_.epoch && head.epoch.generation == k_generations_end)
    return refuse(refusal::epochs_used_up);
  if (head.epoch > at_.epoch) return refuse(refusal::fence_missing);
  if (head.writer != at_.writer) return fate::rival;
  return std::nullopt;
}

fate log_reader::take_chunk(std::int64_t offset, const log_record& record, bool own) {
  const record_head& head = record.head;
  const chunk_body& chunk = record.chunk;
  if (const auto others = judge_writer(head)) return *others;
  if (head.layout > options_.newest_layout) return refuse(refusal::newer_layout);
  // Its writer had read all that lies before its fence, and began behind that.
  if (chunk.step <= at_.fenced_step) return refuse(refusal::steps_lost);
  if (chunk.confirmed > at_.step) return refuse(refusal::steps_missing);
  if (chunk.step <= at_.step) return fate::again;
  if (chunk.step > at_.step + 1 || chunk.number > held_) return fate::gap;
  if (chunk.number < held_) return fate::again;
  if (held_ == 0) {
    if (parts_.capacity() > k_kept_bytes) parts_ = {};
    parts_.clear();
    all_own_ = true;
  }
  if (parts_.size() + chunk.rows.size() > k_step_bytes) return refuse(refusal::damaged);
  all_own_ = all_own_ && own;
  layout_ = head.layout;
  if (head.last) return take_step(offset, chunk, all_own_);
  parts_ += chunk.rows;
  ++held_;
  return fate::chunk;
}

/// It changes nothing.
fate log_reader::take_note(const log_record& record) {
  if (const auto others = judge_writer(record.head)) return *others;
  return record.head.kind == record_kind::point ? fate::point : fate::digest;
}

fate log_reader::take_step(std::int64_t offset, const chunk_body& chunk, bool own) {
  std::string_view rows = chunk.rows;
  if (held_ > 0) {
    parts_ += chunk.rows;
    rows = parts_;
  }
  if (!own && next_chain(at_.chain, rows) != chunk.chain) return refuse(refusal::other_chain);
  if (!own && check_rows(rows) != row_fault::none) return refuse(refusal::damaged);
  rows_ = rows;
  at_.step = chunk.step;
  at_.chain = chunk.chain;
  at_.bytes += rows.size();
  at_.offset = offset;
  at_.at_fence = false;
  held_ = 0;
  return fate::step;
}

}  // namespace ratchet::replicate
