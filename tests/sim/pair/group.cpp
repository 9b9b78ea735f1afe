// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sim/pair/group.hpp"

#include <algorithm>
#include <utility>

#include "kafka/kafka_error.hpp"

namespace ratchet::pair_sim {

namespace {

// Of Kafka's protocol.
constexpr int k_illegal_generation = 22;
constexpr int k_unknown_member = 25;

}  // namespace

void simulated_group::join(const std::shared_ptr<group_client>& client) {
  client->is_member = client->rejoins = true;
  beat(*client);
  members_.push_back(client);
  in_.trace(client->name, "joins the group");
  begin_rebalance();
}

void simulated_group::answer(const std::shared_ptr<group_client>& client) {
  if (!std::exchange(client->owes_answer, false)) return;
  if (!client->is_member) return join(client);
  client->rejoins = true;
  complete();
}

void simulated_group::leave(const std::shared_ptr<group_client>& client) {
  if (!client->is_member) return;
  std::erase(members_, client);
  client->is_member = client->rejoins = false;
  in_.trace(client->name, "leaves the group");
  begin_rebalance();
}

void simulated_group::beat(group_client& client) const {
  client.session_until = in_.now + session_;
}

/// It hears of it when it runs again.
void simulated_group::drop(group_client& client) {
  client.is_member = client.rejoins = false;
  client.notices.clear();
  client.owes_answer = true;
  client.notices.emplace_back(notice::revoked{{slot_}, true});
}

void simulated_group::expire() {
  const auto gone = std::stable_partition(members_.begin(), members_.end(),
                                          [&](const auto& each) { return each->session_until >= in_.now; });
  if (gone == members_.end()) return;
  for (auto each = gone; each != members_.end(); ++each) {
    in_.trace((*each)->name, "its session is over");
    drop(**each);
  }
  members_.erase(gone, members_.end());
  begin_rebalance();
}

void simulated_group::begin_rebalance() {
  is_preparing_ = true;
  for (const auto& each : members_) {
    if (each->rejoins || each->owes_answer) continue;
    // What was assigned and not heard of yet never was.
    const bool has_heard = each->notices.empty();
    each->notices.clear();
    if (has_heard) {
      each->owes_answer = true;
      each->notices.emplace_back(notice::revoked{{slot_}, false});
    } else {
      each->rejoins = true;
    }
  }
  complete();
}

void simulated_group::complete() {
  if (!is_preparing_ || members_.empty()) return;
  if (!std::all_of(members_.begin(), members_.end(), [](const auto& each) { return each->rejoins; })) return;
  is_preparing_ = false;
  ++generation_;
  std::sort(members_.begin(), members_.end(), [](const auto& a, const auto& b) { return a->name < b->name; });
  for (const auto& each : members_) {
    each->rejoins = false;
    each->generation = generation_;
    notice::assigned given;
    if (each == members_.front()) given.partitions.push_back(slot_);
    each->notices.emplace_back(std::move(given));
  }
  in_.trace(members_.front()->name, "is given the slot in generation " + std::to_string(generation_));
}

std::error_code simulated_group::commit(const group_client& client, std::span<const commit_request> all) {
  if (!client.is_member) return kafka_error(k_unknown_member);
  if (client.generation != generation_) return kafka_error(k_illegal_generation);
  for (const commit_request& each : all)
    committed_[each.where] = {each.where, each.next_offset, each.metadata};
  return {};
}

void simulated_group::rebalance() {
  if (!members_.empty()) begin_rebalance();
}

void simulated_group::go_back(std::uint32_t generations) {
  for (const auto& each : members_) drop(*each);
  members_.clear();
  is_preparing_ = false;
  generation_ -= std::min(generations, generation_);
  in_.trace("the coordinator", "is back in generation " + std::to_string(generation_));
}

bool simulated_group::erase() {
  if (!members_.empty()) return false;
  generation_ = 0;
  committed_.clear();
  in_.trace("the coordinator", "the group was deleted");
  return true;
}

}  // namespace ratchet::pair_sim
