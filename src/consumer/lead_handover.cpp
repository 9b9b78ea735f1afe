// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/lead_handover.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "consumer/member_name.hpp"
#include "core/typed_command.hpp"

namespace ratchet {

namespace {

constexpr std::chrono::milliseconds k_members_timeout{2'000};
/// A standby that was killed just now is still a member: then nobody fences until its session has ended.
constexpr std::chrono::seconds k_successor_patience{10};
/// Whoever joins the group interrupts its owner. A successor first does what it took over for.
constexpr std::chrono::seconds k_undisturbed{2};
/// Who cannot go on for so long hands over; the members of the group are looked at no more often.
constexpr std::chrono::seconds k_stuck_patience{5};

/// Those of the group that follow the log, or own it, in the order in which the group gives the slot away.
[[nodiscard]] result<std::vector<group_member>> instances_in(source& group) {
  RATCHET_TRY(auto all, group.members(k_members_timeout));
  std::erase_if(all, [](const group_member& m) { return !instance_of_member(m.client_id); });
  std::sort(all.begin(), all.end(), [](const group_member& a, const group_member& b) { return a.id < b.id; });
  return result<std::vector<group_member>>{std::move(all)};
}

[[nodiscard]] problem not_asked(const std::string& group, std::error_code code) {
  return {errc::source_unavailable,
          "the members of the group `" + group + "` cannot be listed: " + code.message(),
          "nothing was done; try again",
          {}};
}

}  // namespace

void lead_handover::look(source& group, const std::string& cannot_go_on) {
  const auto now = clock_.steady();
  if (cannot_go_on.empty()) stuck_since_.reset();
  if (!cannot_go_on.empty() && !stuck_since_) stuck_since_ = now;
  const bool is_stuck = stuck_since_ && now - *stuck_since_ >= k_stuck_patience;
  if (is_leaving_ || (!desk_.is_asked() && !is_stuck)) return;
  stuck_since_.reset();
  const auto all = instances_in(group);
  if (!all) return desk_.answer(not_asked(group_, all.error()));
  const auto next =
      std::find_if(all.value().begin(), all.value().end(), [](const group_member& m) { return !m.is_this; });
  if (next == all.value().end()) {
    return desk_.answer(problem{errc::no_standby,
                                "the group `" + group_ + "` has no standby that could own the state",
                                "start the other instance; it joins once it has read the log, and its "
                                "/readyz says so",
                                {}});
  }
  begin(*next, desk_.is_asked() ? "as was asked for" : "because this instance cannot go on: " + cannot_go_on);
}

void lead_handover::begin(const group_member& next, const std::string& why) {
  desk_.begin();
  to_ = *instance_of_member(next.client_id);
  tell(log_, log_kind::handover_begun, "handing the state over to `{}`, {}", to_, why);
  is_leaving_ = true;
}

void lead_handover::gave_up(const std::string& why) {
  if (!is_leaving_.exchange(false)) return;
  to_.clear();
  desk_.answer(problem{errc::source_unavailable,
                       "this instance could not end its work, and keeps the state: " + why,
                       "try again when " + typed_command("status") + " shows no trouble",
                       {}});
}

void lead_handover::gave(replicate::log_epoch epoch) {
  is_leaving_ = false;
  own_at_ = epoch;
  gave_at_ = clock_.steady();
}

void lead_handover::refuse(source& group) {
  if (!desk_.is_asked()) return;
  const auto all = instances_in(group);
  const bool is_known = all && !all.value().empty() && !all.value().front().is_this;
  const std::string owner = is_known ? "`" + *instance_of_member(all.value().front().client_id) + "` does"
                                     : "the group `" + group_ + "` knows of no owner at the moment";
  desk_.answer(problem{errc::not_owner,
                       "this instance does not own the state: " + owner,
                       is_known ? "ask there" : "try again",
                       {}});
}

bool lead_handover::awaits_successor(replicate::log_epoch epoch) {
  if (!own_at_) return false;
  const auto now = clock_.steady();
  if (led_at_) {
    if (now - *led_at_ < k_undisturbed) return true;
  } else if (epoch > *own_at_) {
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(now - gave_at_);
    tell(log_, log_kind::handover_done, "`{}` owns the state: handed over within {} ms", to_, took.count());
    desk_.answer(handed_over{std::exchange(to_, {}), took});
    led_at_ = now;
    return true;
  } else if (now - gave_at_ < k_successor_patience) {
    return true;
  } else {
    tell(log_, log_kind::handover_failed, "`{}` did not take the state within {} s; joining the group again",
         to_, k_successor_patience.count());
    desk_.answer(problem{errc::timed_out,
                         "this instance has not read of `" + to_ + "` owning the state within " +
                             std::to_string(k_successor_patience.count()) + " s",
                         "look at `ratchet status` there; this instance joins the group again as soon as it "
                         "can, and the group "
                         "gives the state to one of its members",
                         {}});
    to_.clear();
  }
  own_at_.reset();
  led_at_.reset();
  return false;
}

}  // namespace ratchet
