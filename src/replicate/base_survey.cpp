// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "replicate/base_survey.hpp"

#include <algorithm>

namespace ratchet::replicate {
namespace {

/// Of bases that were begun and have no end yet. Whoever appends more of them is no owner.
constexpr std::size_t k_most_open = 16;
/// A writer may send its records again behind the end of its base.
constexpr std::size_t k_most_whole = 16;
constexpr std::size_t k_most_false = 64;

}  // namespace

std::list<base_survey::candidate>::iterator base_survey::find(std::uint64_t base) {
  return std::find_if(open_.begin(), open_.end(),
                      [base](const candidate& each) { return each.base == base; });
}

bool base_survey::was_whole(std::uint64_t base) const {
  return std::find(names_.begin(), names_.end(), base) != names_.end();
}

bool base_survey::is_repeat(const base_record& record) const {
  const auto of = std::find(names_.begin(), names_.end(), record.head.base);
  return of != names_.end() && whole_[static_cast<std::size_t>(of - names_.begin())].end == record.end;
}

void base_survey::take(std::int64_t offset, std::string_view bytes) {
  base_record record;
  if (!decode_base_record(bytes, record)) return;
  const std::uint64_t base = record.head.base;
  switch (record.head.kind) {
    case base_kind::begin:
      return begin(offset, bytes, base);
    case base_kind::part: {
      const auto of = find(base);
      if (of == open_.end()) return;
      const base_fate fate = of->reader.take(offset, bytes);
      if (fate == base_fate::rows) open_.splice(open_.end(), open_, of);
      if (fate == base_fate::broken) open_.erase(of);
      return;
    }
    case base_kind::end:
      return end(offset, bytes, record);
  }
}

void base_survey::begin(std::int64_t offset, std::string_view bytes, std::uint64_t base) {
  if (find(base) != open_.end() || was_whole(base)) return;
  candidate made{base, base_reader{options_}};
  if (made.reader.take(offset, bytes) != base_fate::begun) return;
  if (open_.size() == k_most_open) open_.pop_front();
  open_.push_back(std::move(made));
}

void base_survey::end(std::int64_t offset, std::string_view bytes, const base_record& record) {
  const std::uint64_t base = record.head.base;
  const auto of = find(base);
  if (of != open_.end() && of->reader.take(offset, bytes) == base_fate::complete) {
    if (whole_.size() == k_most_whole) {
      whole_.pop_front();
      names_.pop_front();
    }
    whole_.push_back({record.end, of->reader.begun_at(), offset});
    names_.push_back(base);
    open_.erase(of);
    return;
  }
  const bool is_ours = !options_.lineage || record.head.lineage == *options_.lineage;
  if (is_repeat(record) || !is_ours || !log_leads_on(options_, record.end.of.at)) return;
  if (false_ends_.size() == k_most_false) false_ends_.pop_front();
  false_ends_.push_back(offset);
}

}  // namespace ratchet::replicate
