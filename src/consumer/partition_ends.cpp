// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/partition_ends.hpp"

namespace ratchet {

namespace {

/// A partition that had nothing to read for so long no longer holds the window's floor back.
constexpr std::chrono::seconds k_quiet_after{10};

}  // namespace

void partition_ends::reach(const topic_partition& where, std::int64_t next_offset, time_point now) {
  log_end& known = reached_.try_emplace(where, log_end{next_offset, now, false}).first->second;
  if (known.next_offset != next_offset) known = {next_offset, now, false};
  const auto before = left_out_at_.extract(where);
  if (!before.empty() && before.mapped() == next_offset) known.since_before = true;
}

void partition_ends::expect_anew(const topic_partition& where, std::optional<std::int64_t> left_out_at) {
  reached_.erase(where);
  if (left_out_at) left_out_at_.insert_or_assign(where, *left_out_at);
}

void partition_ends::keep(const std::function<bool(const topic_partition&, std::int64_t)>& is_there) {
  std::erase_if(reached_,
                [&](const auto& entry) { return !is_there(entry.first, entry.second.next_offset); });
}

std::optional<partition_ends::time_point> partition_ends::since(const topic_partition& where,
                                                                std::int64_t next_offset) const {
  const auto known = reached_.find(where);
  if (known == reached_.end() || known->second.next_offset != next_offset) return std::nullopt;
  return known->second.since;
}

std::vector<topic_partition> partition_ends::quiet(time_point now) const {
  std::vector<topic_partition> quiet;
  for (const auto& [where, known] : reached_) {
    if (known.since_before || now - known.since >= k_quiet_after) quiet.push_back(where);
  }
  return quiet;
}

std::optional<std::int64_t> partition_ends::asked(const topic_partition& where) const {
  const auto at = asked_.find(where);
  return at == asked_.end() ? std::nullopt : std::optional{at->second};
}

void partition_ends::forget() {
  reached_.clear();
  left_out_at_.clear();
  asked_.clear();
}

}  // namespace ratchet
