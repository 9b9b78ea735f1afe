// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pipeline/handover_desk.hpp"
#include "ratchet/config.hpp"
#include "ratchet/error.hpp"

/// `ratchet handover`: the owner of a replicated state gives it to its standby. As JSON
///
///     {"to": INSTANCE, "took_ms": N}
namespace ratchet {

struct handover_request {
  bool json{false};
  friend bool operator==(const handover_request&, const handover_request&) = default;
};

/// As words on the control socket.
[[nodiscard]] std::vector<std::string> to_words(const handover_request&);
/// None where the words ask for something else.
[[nodiscard]] std::optional<handover_request> parse_handover_words(std::span<const std::string> words);

/// The answer, ending in a line feed.
[[nodiscard]] std::string handover_report(const handed_over&, bool json);

/// Has it done, and waits for that. Errors: as handover_desk::ask().
using handover_actor = std::function<reported<handed_over>(const still_wanted&)>;

/// Empty where the config has no `replicate`. Borrows the desk.
[[nodiscard]] handover_actor handover_actor_of(const config&, handover_desk&);

}  // namespace ratchet
