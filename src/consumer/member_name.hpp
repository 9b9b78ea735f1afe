// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ratchet/types.hpp"
#include "replicate/log_epoch.hpp"

namespace ratchet {

/// What a member of a replicated log's group calls itself, its `client.id`. The group gives the slot to the
/// member whose name comes first. So a name begins with the highest epoch that its instance had read when it
/// made the client: whoever joins behind an owner has read the owner's fence, and comes behind it, whatever
/// the clocks say. `made_at` decides between those that have read the same.
[[nodiscard]] std::string member_name(replicate::log_epoch, timestamp made_at, std::string_view instance);
/// The instance of such a name; none: another program's.
[[nodiscard]] std::optional<std::string> instance_of_member(std::string_view client_id);

/// The names of an instance's clients, one after the other. An owner whose client is made anew, as behind an
/// outage of the group's coordinator, has its old name while nobody else has fenced: it keeps the slot.
class member_names {
 public:
  explicit member_names(std::string instance) : instance_{std::move(instance)} {}

  /// For the next client. `highest`: of the log, as far as it was read.
  [[nodiscard]] const std::string& next(replicate::log_epoch highest, timestamp now);
  /// The client of the last name has brought the lead, by the fence of this epoch.
  void led(replicate::log_epoch by) { led_by_ = by; }
  /// It is not to have the lead again.
  void gave() { led_by_.reset(); }

  [[nodiscard]] const std::string& instance() const noexcept { return instance_; }
  /// One of the newest clients had this name. An earlier one may be in the group until its session ends.
  [[nodiscard]] bool is_own(std::string_view client_id) const;

 private:
  std::string instance_;
  std::string name_;
  std::deque<std::string> given_;  ///< the newest ones
  std::optional<replicate::log_epoch> led_by_;
};

}  // namespace ratchet
