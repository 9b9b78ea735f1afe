// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/slot_source.hpp"

#include <algorithm>
#include <utility>

#include "core/success.hpp"
#include "ports/error_class.hpp"

namespace ratchet {

namespace {

constexpr std::chrono::milliseconds k_inputs_timeout{10'000};
/// The session waits for the answer meanwhile, which takes a millisecond or two.
constexpr std::chrono::milliseconds k_added_timeout{500};
constexpr std::chrono::seconds k_added_interval{5};
/// Where brokers do not answer.
constexpr std::chrono::seconds k_added_pause{30};

}  // namespace

result<void> slot_source::join(std::span<const std::string> topics) {
  inputs_.clear();
  for (const std::string& topic : topics) {
    auto found = of_.partitions(std::span{&topic, 1}, k_inputs_timeout);
    // One that is gone is looked for like partitions that are added.
    if (!found && classify(found.error()) == error_class::missing) continue;
    if (!found) return found.error();
    inputs_.insert(inputs_.end(), found.value().begin(), found.value().end());
  }
  std::sort(inputs_.begin(), inputs_.end());
  topics_.assign(topics.begin(), topics.end());
  look_at_ = clock_.steady() + k_added_interval;
  return success();
}

result<void> slot_source::unassign() {
  if (std::exchange(is_giving_anew_, false)) return of_.assign({});
  given_back_ = given_back_ || is_revoked_;
  return of_.unassign();
}

result<polled> slot_source::poll(std::size_t max_records, std::chrono::milliseconds timeout) {
  if (has_moved_ || !turn_()) return errc::source_fatal;
  if (!inputs_.empty() && !std::exchange(is_told_, true)) return polled{nullptr, {notice::assigned{inputs_}}};
  if (auto anew = look_for_added()) return std::move(*anew);
  RATCHET_TRY(auto got, of_.poll(max_records, timeout));
  for (source_notice& n : got.notices) {
    if (auto* const taken = std::get_if<notice::revoked>(&n)) {
      is_revoked_ = true;
      is_lost_ = is_lost_ || taken->lost;
      taken->partitions = inputs_;
    }
    if (auto* const given = std::get_if<notice::assigned>(&n)) {
      RATCHET_TRY(take_back(*given));
    }
  }
  if (has_moved_ || is_lost_) return errc::source_fatal;  // a lost member that answered would join again
  return got;
}

/// Like a rebalance that gives the session what it has and more, which is what an instance without a log
/// gets.
std::optional<polled> slot_source::look_for_added() {
  if (!is_told_ || is_revoked_ || clock_.steady() < look_at_) return std::nullopt;
  look_at_ = clock_.steady() + k_added_interval;
  std::vector<topic_partition> all = inputs_;
  for (const std::string& topic : topics_) {
    const auto found = of_.partitions(std::span{&topic, 1}, k_added_timeout);
    if (!found && classify(found.error()) == error_class::missing) continue;
    if (!found) {
      look_at_ = clock_.steady() + k_added_pause;
      break;  // nor would it answer for the others
    }
    all.insert(all.end(), found.value().begin(), found.value().end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (all.size() == inputs_.size()) return std::nullopt;  // one that is gone is for the session to notice
  polled anew{nullptr, {}};
  anew.notices.emplace_back(notice::revoked{std::exchange(inputs_, std::move(all)), false});
  anew.notices.emplace_back(notice::assigned{inputs_});
  is_giving_anew_ = true;
  return anew;
}

/// The rebalance is over.
result<void> slot_source::take_back(notice::assigned& given) {
  if (std::find(given.partitions.begin(), given.partitions.end(), slot_) == given.partitions.end()) {
    has_moved_ = true;
    return of_.assign({});
  }
  is_revoked_ = given_back_ = false;
  given.partitions = inputs_;
  return success();
}

}  // namespace ratchet
