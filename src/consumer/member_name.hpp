// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

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

}  // namespace ratchet
