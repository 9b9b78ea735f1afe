// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/lead_check.hpp"

#include <utility>

namespace ratchet {

namespace {

constexpr const char* k_condition = "lead";
constexpr std::chrono::seconds k_check_interval{1};
/// Messages of a lane come and go all the time.
constexpr std::chrono::seconds k_must_be_right_for{5};

}  // namespace

lead_check::lead_check(dependencies deps) : deps_{std::move(deps)}, space_{deps_.settings, deps_.space} {
  deps_.status.clear_condition(space_guard::k_condition);
  deps_.status.clear_condition(k_condition);
}

bool lead_check::has_no_room(time_point now) {
  const bool has_changed = space_.look(now);
  if (space_.low()) {
    if (space_lines_.due(now))
      tell(deps_.log, log_kind::disk_low, "{}; the replicated log is read no further until then",
           space_.text());
    deps_.status.raise_condition(space_guard::k_condition, space_.text());
  } else if (has_changed) {
    tell(deps_.log, log_kind::disk_has_room, "there is room again; the replicated log is read on");
    space_lines_ = log_pace{};
    deps_.status.clear_condition(space_guard::k_condition);
  }
  return space_.low();
}

std::string lead_check::short_of_room(time_point now) {
  (void)space_.look(now);
  return space_.low() ? space_.text() : "";
}

std::string lead_check::why_not(time_point now, bool is_at_end) {
  if (space_.low()) return space_.text();
  if (is_at_end && (!looked_at_ || now - *looked_at_ >= k_check_interval)) take(deps_.refusal(), now);
  return refused_;
}

bool lead_check::may_lead(time_point now) {
  take(deps_.refusal(), now);
  if (right_since_) allow();  // it disturbs nobody any more
  return refused_.empty();
}

void lead_check::take(std::optional<problem> refused, time_point now) {
  looked_at_ = now;
  if (refused) {
    right_since_.reset();
    const bool is_new = refused_.empty();
    refused_ = "this instance must not own the state: " + refused->message;
    if (!refused->hint.empty()) refused_ += "; " + refused->hint;
    if (is_new && refusal_lines_.due(now)) tell(deps_.log, log_kind::config_warning, "{}", refused_);
    return deps_.status.raise_condition(k_condition, refused_);
  }
  if (refused_.empty()) return;
  if (!right_since_) right_since_ = now;
  if (now - *right_since_ >= k_must_be_right_for) allow();
}

void lead_check::allow() {
  refused_.clear();
  right_since_.reset();
  deps_.status.clear_condition(k_condition);
}

}  // namespace ratchet
