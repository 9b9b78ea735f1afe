// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/namesakes.hpp"

#include <algorithm>
#include <utility>

#include "consumer/session_timeout.hpp"

namespace ratchet {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds k_namesakes_timeout{1'000};
constexpr milliseconds k_namesakes_interval{1'000};
/// While one is there.
constexpr milliseconds k_namesake_interval{500};
/// Where nothing was found the group's next assignment tells of a change.
constexpr std::chrono::minutes k_lonely_interval{1};
constexpr const char* k_namesake_condition = "instance_name";

}  // namespace

namesakes::namesakes(dependencies deps) : deps_{std::move(deps)} {
  deps_.status.clear_condition(k_namesake_condition);
}

bool namesakes::is_due(time_point now) const {
  return !next_look_ || now >= *next_look_;
}

void namesakes::look(source& group, bool is_member) {
  const auto all = group.members(k_namesakes_timeout);
  const auto now = deps_.clock.steady();
  if (!all) {
    // Sessions begin anew where a coordinator is lost: what was seen before says nothing.
    since_.reset();
    next_look_ = now + k_namesakes_interval;
    return;
  }
  const bool is_listed =
      std::any_of(all.value().begin(), all.value().end(), [](const group_member& m) { return m.is_this; });
  const auto other = find(all.value());
  next_look_ = now + (other                     ? k_namesake_interval
                      : is_member && !is_listed ? k_namesakes_interval
                                                : k_lonely_interval);
  if (!other) {
    forget();
    has_name_ = has_name_ || is_listed;
    return;
  }
  if (!is_member && !has_name_) came_second_ = true;
  found(*other, now);
}

std::optional<group_member> namesakes::find(const std::vector<group_member>& all) const {
  const auto self = std::find_if(all.begin(), all.end(), [](const group_member& m) { return m.is_this; });
  for (const group_member& m : all) {
    if (m.is_this || deps_.own.is_own(m.client_id)) continue;
    if (instance_of_member(m.client_id) != deps_.own.instance()) continue;
    // Two that joined at once: one of them has to go.
    const bool is_for_other = !has_name_ && !came_second_ && self != all.end() && self->id < m.id;
    if (!is_for_other) return m;
  }
  return std::nullopt;
}

milliseconds namesakes::patience() const {
  return longest_absence_in_pair(deps_.settings.kafka);
}

void namesakes::found(const group_member& other, time_point now) {
  const std::string& name = deps_.own.instance();
  if (!since_) {
    since_ = now;
    tell(deps_.log, log_kind::group_busy,
         "the group `{}` has a member with the name of this instance, `{}`, at {}; waiting up to {} s for it "
         "to leave; a killed member counts until its session ends",
         deps_.settings.kafka.group, name, other.host,
         std::chrono::ceil<std::chrono::seconds>(patience()).count());
  }
  other_ = other.host;
  if (now - *since_ < patience()) return;
  const std::string what = "another instance with the name `" + name + "` is in the group `" +
                           deps_.settings.kafka.group + "`, at " + other_;
  const std::string hint = "give each instance a `replicate.instance` of its own";
  if (has_name_) return deps_.status.raise_condition(k_namesake_condition, what + " -> " + hint);
  refused_ = problem{errc::group_taken, what, hint, {}};
}

void namesakes::forget() {
  since_.reset();
  other_.clear();
  came_second_ = false;
  deps_.status.clear_condition(k_namesake_condition);
}

/// One that was there before would have it.
void namesakes::took_lead() {
  forget();
  has_name_ = true;
  look_again();
}

std::string namesakes::why_not_ready() const {
  if (other_.empty() || has_name_) return "";
  return "another member of the group has the name of this instance, at " + other_ +
         "; waiting for it to leave: a killed member counts until its session ends";
}

}  // namespace ratchet
