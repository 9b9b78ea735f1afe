// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "control/protocol.hpp"
#include "pipeline/posted_tasks.hpp"
#include "ratchet/error.hpp"
#include "text/byte_sink.hpp"

/// `ratchet sinks list | retry | skip`: the messages that a sink does not take, or a topic (`topics`), and
/// what is to become of them. Only a running instance knows which they are. A line for each; as JSON
///
///     {"sink": S, "topic": T | null, "message": POSITION, "stream": S, "aggregate": A, "id": ID, "type":
///     TEXT, "attempts": N,
///      "next_try_ms": N, "error": TEXT, "answer": null | "would" | "done" | "under_way"}
namespace ratchet {

enum class sink_verb : std::uint8_t {
  list,
  retry,  ///< it is sent at once
  skip,   ///< it is not sent any more, and what its aggregate published behind it goes on
};

struct sink_request {
  sink_verb verb{sink_verb::list};
  std::string sink;                        ///< empty: all of them
  std::optional<std::uint64_t> message{};  ///< its position; none: all
  std::string why{};                       ///< skip: what the operator says of it, for the audit row
  bool act{false};                         ///< skip; false: only tell which it would be
  bool json{false};
  friend bool operator==(const sink_request&, const sink_request&) = default;
};

/// The stable name of the verb: "list", "retry", "skip".
[[nodiscard]] const char* name_of(sink_verb) noexcept;

/// As words on the control socket.
[[nodiscard]] std::vector<std::string> to_words(const sink_request&);
/// None where the words ask for something else.
[[nodiscard]] std::optional<sink_request> parse_sink_words(std::span<const std::string> words);

/// Does what is asked, and tells; what was skipped is durable by then. Errors: usage (no such sink);
/// not_found (no message fits); check_failed (it is under way); source_unavailable (the owner is busy or
/// stopping, or has not claimed its group); held_back (too many tasks wait); of the store.
/// `by`: the user who asks.
using sink_actor =
    std::function<reported<void>(const sink_request&, const std::string& by, const byte_sink&)>;

/// Has the owner of the sinks do it; what changes the state once it may. Borrows it.
[[nodiscard]] sink_actor sink_actor_of(posted_tasks&, const decision_patience& = {});

}  // namespace ratchet
