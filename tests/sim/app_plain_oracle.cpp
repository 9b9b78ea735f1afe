// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "app_plain_oracle.hpp"

#include <algorithm>

namespace ratchet::sim {

plain_oracle::plain_oracle(const stream_setup& setup) : setup_{&setup}, partitions_(setup.partitions) {}

fate plain_oracle::take(const message& m, std::int64_t offset, std::int64_t now) {
  partition& p = partitions_[m.partition];
  ++taken_;
  fate f = fate::repeated;
  if (!p.known || offset >= p.next) {
    f = judge(m);
    if (f == fate::applied) apply(m);
    if (f != fate::applied && f != fate::repeated && f != fate::stale) rejected_[{m.partition, offset}] = f;
    p.known = true;
    p.next = offset + 1;
    if (m.time) {
      const std::int64_t capped = std::min(*m.time, now + setup_->skew);
      p.highest = std::max(p.highest.value_or(capped), capped);
    }
    if (p.highest) p.idle = false;
    raise_floor();
  }
  ++counts_[static_cast<std::size_t>(f)];
  return f;
}

void plain_oracle::go_on_at(std::uint32_t which, std::int64_t offset) {
  partitions_[which].known = true;
  partitions_[which].next = offset;
}

void plain_oracle::leave_out(std::span<const std::uint32_t> those) {
  for (const std::uint32_t which : those) partitions_[which].idle = true;
  raise_floor();
}

fate plain_oracle::judge(const message& m) const {
  if (m.kind == message_kind::malformed) return fate::malformed;
  const std::int64_t id_time = m.id ? static_cast<std::int64_t>(m.id->high / 65'536) : 0;
  const bool before_window = m.id && floor_ && id_time < *floor_;
  const bool seen = m.id && !before_window && ids_.contains({*m.id, m.aggregate});
  if (setup_->arrival) {
    if (seen) return fate::repeated;
    return before_window ? fate::too_old : fate::applied;
  }
  const auto known = aggregates_.find(m.aggregate);
  if (known == aggregates_.end()) return fate::applied;
  const aggregate& a = known->second;
  const std::pair mine{m.epoch, m.number};
  if (mine > a.last) return seen ? fate::id_reused : fate::applied;
  if (mine < a.last) return seen ? fate::repeated : fate::stale;
  return !m.id || a.id == m.id || a.payload == m.payload ? fate::repeated : fate::conflict;
}

void plain_oracle::apply(const message& m) {
  aggregate& a = aggregates_[m.aggregate];
  a.last = setup_->arrival ? std::pair{std::uint64_t{0}, a.last.second + 1} : std::pair{m.epoch, m.number};
  a.id = m.id;
  if (m.id) ids_.emplace(*m.id, m.aggregate);
  a.payload = m.payload;
  a.deleted = m.kind == message_kind::tombstone;
  if (a.deleted) {
    a.snapshot.clear();
  } else {
    a.snapshot = setup_->folds ? fold(a.snapshot, m.payload) : m.payload;
  }
}

void plain_oracle::raise_floor() {
  std::optional<std::int64_t> lowest;
  for (const partition& p : partitions_) {
    if (!p.known || p.idle) continue;
    if (!p.highest) return;
    lowest = std::min(lowest.value_or(*p.highest), *p.highest);
  }
  if (lowest) floor_ = std::max(floor_.value_or(*lowest - setup_->window), *lowest - setup_->window);
}

std::string fold(const std::string& before, const std::string& payload) {
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325U;  // FNV-1a
  for (const std::string* part : {&before, &payload}) {
    for (const char c : *part) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01B3U;
  }
  return std::to_string(hash);
}

}  // namespace ratchet::sim
