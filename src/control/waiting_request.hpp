// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "control/protocol.hpp"
#include "pipeline/pipeline.hpp"
#include "pipeline/posted_tasks.hpp"
#include "process/decider.hpp"
#include "ratchet/error.hpp"
#include "reports/waiting_list.hpp"
#include "text/byte_sink.hpp"

/// `ratchet waiting replay | skip | discard`: what is asked, who does it, and what is answered: a line for
/// each event, and one for all. As JSON a line is
///
///     {"stream": S, "aggregate": A, "sequence": N, "verb": V, "answer": "would" | "done" | WHY_NOT}
///
/// Of a replay that was carried out the answer is what came of the event, in place of "done" (see
/// replay_outcome.hpp), and "error": TEXT | null stands behind it.
namespace ratchet {

struct waiting_request {
  waiting_verb verb{waiting_verb::replay};
  std::string stream;
  waiting_filter filter;
  std::optional<std::string> payload;  ///< replay: in place of what came; for one event that is named
  std::string why{};                   ///< what the operator says of it, for the audit rows
  bool act{false};                     ///< false: only tell which events it would be
  bool json{false};
  friend bool operator==(const waiting_request&, const waiting_request&) = default;
};

/// As words on the control socket.
[[nodiscard]] std::vector<std::string> to_words(const waiting_request&);
/// None where the words ask for something else.
[[nodiscard]] std::optional<waiting_request> parse_waiting_words(std::span<const std::string> words);

/// Carries decisions out, some hundreds at a time, and returns when they are durable. Errors: usage (no such
/// stream); source_unavailable (the owner is busy or stopping, or has not claimed its group); held_back (too
/// many tasks wait); of the store.
using waiting_actor = std::function<reported<std::vector<waiting_answer>>(
    const std::string& stream, std::span<const pipeline::decided>, const decider&, const still_wanted&)>;

/// Whom a request is put to.
struct waiting_desk {
  waiting_actor act;
  std::string by{};          ///< who asks: a user of this machine
  still_wanted is_wanted{};  ///< whether they are still there
  /// A view of what is durable now: what was done is in it. Errors: of the store; source_unavailable.
  std::function<reported<std::unique_ptr<store_view>>()> look;
  /// Lets the owner go on for a while. False: nobody does, or the instance is being stopped.
  std::function<bool(std::chrono::milliseconds)> pause;
  std::chrono::milliseconds patience{10'000};  ///< with what is to be tried again
  /// Who would refuse to act: what is only told does not advise it then.
  bool would_refuse{false};
};

/// Finds the events of the view that fit, has done what is wanted with them, and tells; of those that are to
/// be tried again what came of it, as far as it is known before the patience ends. An event that moved
/// meanwhile is answered as it is found then. Errors: usage; check_failed, where not one could be done, or
/// where one was not applied that is tried again; the desk's; of the store.
[[nodiscard]] reported<void> answer_waiting(const store_view&, std::span<const std::string> streams,
                                            const waiting_request&, const waiting_desk&, const byte_sink&);

/// Has the owner of a pipeline carry them out, once it may. Borrows both.
[[nodiscard]] waiting_actor actor_of(posted_tasks&, durable_steps&, const decision_patience& = {});
/// For whoever owns the pipeline: at once. Borrows both.
[[nodiscard]] waiting_actor actor_of(pipeline&, durable_steps&);

}  // namespace ratchet
