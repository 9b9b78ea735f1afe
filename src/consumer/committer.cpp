// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/committer.hpp"

#include <utility>

#include "core/assert.hpp"

namespace ratchet {

committer::committer(std::string store_uuid, incarnation i)
    : store_uuid_{std::move(store_uuid)}, incarnation_{i} {}

void committer::assigned(std::span<const position> positions) {
  unassigned();
  also_assigned(positions);
}

void committer::also_assigned(std::span<const position> positions) {
  for (const position& p : positions) {
    durable_[p.where] = committed_[p.where] = p.offset;
    for (moved_at& before : waiting_)
      std::erase_if(before.positions, [&](const position& old) { return old.where == p.where; });
  }
}

void committer::unassigned() {
  waiting_.clear();
  durable_.clear();
  committed_.clear();
}

void committer::moved(std::uint64_t step, std::span<const position> positions) {
  moved_at entry{step, {}};
  for (const position& p : positions) {
    if (durable_.contains(p.where)) entry.positions.push_back(p);
  }
  RATCHET_ASSERT(waiting_.empty() || waiting_.back().step <= step);
  if (!entry.positions.empty()) waiting_.push_back(std::move(entry));
}

std::vector<commit_request> committer::due(std::uint64_t durable_step) {
  return under_way_ ? std::vector<commit_request>{} : all_due(durable_step);
}

std::vector<commit_request> committer::all_due(std::uint64_t durable_step) {
  while (!waiting_.empty() && waiting_.front().step <= durable_step) {
    for (const position& p : waiting_.front().positions) {
      std::int64_t& durable = durable_.at(p.where);
      RATCHET_ASSERT(p.offset >= durable);
      durable = p.offset;
    }
    waiting_.pop_front();
  }
  std::vector<commit_request> requests;
  for (const auto& [where, offset] : durable_) {
    if (committed_.at(where) != offset) requests.push_back(request(where, offset, durable_step));
  }
  return requests;
}

std::vector<commit_request> committer::claim(std::span<const position> positions,
                                             std::uint64_t durable_step) const {
  std::vector<commit_request> requests;
  requests.reserve(positions.size());
  for (const position& p : positions) requests.push_back(request(p.where, p.offset, durable_step));
  return requests;
}

std::vector<commit_request> committer::again(std::uint64_t durable_step) {
  std::vector<commit_request> requests;
  if (under_way_) return requests;
  (void)all_due(durable_step);
  for (const auto& [where, offset] : durable_) requests.push_back(request(where, offset, durable_step));
  return requests;
}

void committer::finished(std::span<const committed_offset> offsets, bool ok) {
  under_way_ = false;
  if (!ok) return;  // what is durable stays due
  for (const committed_offset& o : offsets) {
    const auto known = committed_.find(o.where);
    if (known != committed_.end() && o.offset) known->second = *o.offset;
  }
}

commit_request committer::request(const topic_partition& where, std::int64_t offset,
                                  std::uint64_t step) const {
  RATCHET_ASSERT(offset >= 0);
  return {where, offset, to_metadata({store_uuid_, incarnation_, step})};
}

}  // namespace ratchet
