// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The part of consumer_session that finds its topics before it reads.
#include <algorithm>
#include <utility>
#include <vector>

#include "consumer/consumer_session.hpp"
#include "ports/error_class.hpp"

namespace ratchet {

namespace {

constexpr std::chrono::milliseconds k_inputs_timeout{5'000};
constexpr std::chrono::milliseconds k_inputs_pause{500};

}  // namespace

turn_result<std::vector<topic_partition>> consumer_session::find_partitions() {
  auto all = questions_.look_up(topics_);
  if (!all) return questions_.topics_failed(all.error(), topics_, topic_use::read);
  RATCHET_TRY(questions_.require_outputs(output_topics(deps_.streams)));
  return std::move(all.value());
}

/// The topics were there when this instance started. To end for one that was deleted since would give the
/// lead away, and no other instance finds it either. Messages for a topic that is gone wait, as they do
/// later.
turn_result<std::vector<topic_partition>> consumer_session::await_partitions() {
  for (;;) {
    auto all = deps_.source.partitions(topics_, k_inputs_timeout);
    if (all) return std::move(all.value());
    if (stop_requested()) return finish(session_end::drained);
    session_result missing = questions_.topics_failed(all.error(), topics_, topic_use::read);
    if (classify(missing.why->code) != error_class::missing) return missing;
    const std::string why = missing.why->message + "; nothing is read until then -> " + missing.why->hint;
    deps_.status.set_ready(false, why);
    if (topic_troubles_.due(deps_.clock.steady()))
      tell(deps_.log, log_kind::topic_unreadable, "{}{}", why, topic_troubles_.suppressed());
    RATCHET_TRY(questions_.do_meanwhile());
    deps_.meter.beat();
    const auto got = deps_.source.poll(1, k_inputs_pause);
    const bool is_asked_back =
        got && std::any_of(got.value().notices.begin(), got.value().notices.end(),
                           [](const source_notice& n) { return std::holds_alternative<notice::revoked>(n); });
    // The group waits for the answer, which whoever gives the lead back makes.
    if (is_asked_back) missing.why->code = make_error_code(errc::source_unavailable);
    if (!got || is_asked_back) return session_result{session_end::client_lost, std::move(missing.why)};
  }
}

}  // namespace ratchet
