// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/partition_set.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/assert.hpp"

namespace ratchet {

void partition_set::know(std::vector<topic_partition> all) {
  std::sort(all.begin(), all.end());
  all_ = std::move(all);
}

void partition_set::know_more(std::span<const topic_partition> more) {
  for (const topic_partition& where : more) {
    const auto at = std::lower_bound(all_.begin(), all_.end(), where);
    if (at == all_.end() || *at != where) all_.insert(at, where);
  }
}

std::vector<topic_partition> partition_set::names_of_assigned() const {
  std::vector<topic_partition> names;
  names.reserve(assigned_.size());
  for (const auto& [where, unused] : assigned_) names.push_back(where);
  return names;
}

void partition_set::assign(const position& p) {
  assigned_[p.where] = p.offset;
  held_.erase(p.where);
}

void partition_set::note(const position& p) {
  const auto at = assigned_.find(p.where);
  RATCHET_ASSERT(at != assigned_.end());
  at->second = p.offset;
}

std::size_t partition_set::missing() const noexcept {
  return all_.size() - std::min(all_.size(), assigned_.size());
}

partition_set::was partition_set::hold(const topic_partition& where, std::string_view why, time_point now) {
  const auto [at, is_new] = held_.try_emplace(where, held_partition{std::string{why}, now, false});
  if (!is_new) {
    at->second.answered = false;
    return was::held;
  }
  return assigned_.erase(where) != 0 ? was::assigned : was::neither;
}

bool partition_set::set_why(const topic_partition& where, std::string_view why) {
  const auto at = held_.find(where);
  if (at == held_.end() || at->second.why == why) return false;
  at->second.why = why;
  return true;
}

void partition_set::note_answer(const topic_partition& where) {
  const auto at = held_.find(where);
  if (at != held_.end()) at->second.answered = true;
}

std::vector<topic_partition> partition_set::take_answered() {
  std::vector<topic_partition> answered;
  for (auto& [where, held] : held_) {
    if (std::exchange(held.answered, false)) answered.push_back(where);
  }
  return answered;
}

bool partition_set::all_held_answered() const {
  return std::all_of(held_.begin(), held_.end(), [](const auto& entry) { return entry.second.answered; });
}

std::vector<topic_partition> partition_set::held_since(time_point then) const {
  std::vector<topic_partition> since;
  for (const auto& [where, held] : held_) {
    if (held.since <= then) since.push_back(where);
  }
  return since;
}

std::string partition_set::release(const topic_partition& where) {
  auto held = held_.extract(where);
  return held.empty() ? std::string{} : std::move(held.mapped().why);
}

void partition_set::stop(const topic_partition& where) {
  stopped_.insert(where);
}

void partition_set::forget() {
  assigned_.clear();
  stopped_.clear();
}

void partition_set::give_back() {
  assigned_.clear();
  held_.clear();
}

std::set<topic_partition> partition_set::given() const {
  std::set<topic_partition> given = stopped_;
  for (const auto& [where, unused] : assigned_) given.insert(where);
  for (const auto& [where, unused] : held_) given.insert(where);
  return given;
}

std::vector<topic_partition> partition_set::not_given() const {
  const std::set<topic_partition> mine = given();
  std::vector<topic_partition> others;
  std::set_difference(all_.begin(), all_.end(), mine.begin(), mine.end(), std::back_inserter(others));
  return others;
}

}  // namespace ratchet
