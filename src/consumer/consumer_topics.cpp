// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The part of consumer_session that finds its topics before it reads.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "consumer/consumer_session.hpp"
#include "ports/error_class.hpp"
#include "text/quoted.hpp"

namespace ratchet {

namespace {

constexpr std::chrono::milliseconds k_inputs_timeout{5'000};
constexpr std::chrono::milliseconds k_inputs_pause{500};
constexpr const char* k_gone_condition = "topics";

[[nodiscard]] bool has_partition_of(const std::vector<topic_partition>& all, const std::string& topic) {
  return std::any_of(all.begin(), all.end(), [&](const topic_partition& p) { return p.topic == topic; });
}

}  // namespace

turn_result<std::vector<topic_partition>> consumer_session::find_partitions() {
  auto all = questions_.look_up(topics_);
  if (!all) return questions_.topics_failed(all.error(), topics_, topic_use::read);
  RATCHET_TRY(questions_.require_outputs(output_topics(deps_.streams)));
  return std::move(all.value());
}

/// The topics were there when the pair began. To end for one that was deleted since would give the lead away,
/// and no other instance finds it either. So the others are read, and the source looks for it. Where there is
/// none at all, or the brokers do not say, this waits. The state is this instance's meanwhile, by the log:
/// what it has published is sent.
turn_result<std::vector<topic_partition>> consumer_session::await_partitions() {
  for (;;) {
    std::vector<topic_partition> all;
    gone_topics_.clear();
    std::error_code failed;
    for (const std::string& topic : topics_) {
      const auto found = deps_.source.partitions(std::span{&topic, 1}, k_inputs_timeout);
      if (found) {
        all.insert(all.end(), found.value().begin(), found.value().end());
      } else if (classify(found.error()) == error_class::missing) {
        gone_topics_.push_back(topic);
      } else {
        failed = found.error();
        break;
      }
    }
    if (failed && classify(failed) != error_class::away)
      return questions_.topics_failed(failed, topics_, topic_use::read);
    if (!failed) tell_of_gone_topics();
    if (!failed && !all.empty()) return all;
    if (stop_requested()) return finish(session_end::drained);
    if (failed) deps_.status.set_ready(false, "the topics cannot be looked up: " + failed.message());
    const auto look_again = deps_.clock.steady() + k_inputs_pause;
    do {
      RATCHET_TRY(questions_.do_meanwhile());
      deps_.meter.beat();
      RATCHET_TRY(hear_while_waiting());
      RATCHET_TRY(send_while_waiting());
    } while (!stop_requested() && deps_.clock.steady() < look_again);
  }
}

turn_result<> consumer_session::send_while_waiting() {
  if (!sends_unclaimed_) {
    RATCHET_TRY(accept_start());
    sends_unclaimed_ = true;
  }
  const time_point now = deps_.clock.steady();
  RATCHET_TRY(stored(delivery_.turn(now)));
  return stored(durability_.turn(now));
}

/// Nothing is assigned, so there are no records.
turn_result<> consumer_session::hear_while_waiting() {
  const auto got = deps_.source.poll(1, k_inputs_pause);
  const auto lost = [](std::error_code code, const char* what) {
    return session_result{session_end::client_lost, problem{code, what, "", {}}};
  };
  if (!got) return lost(got.error(), "the Kafka client failed");
  for (const source_notice& n : got.value().notices) {
    if (const auto* f = std::get_if<notice::fatal>(&n)) return lost(f->code, "the Kafka client gave up");
    // The group waits for the answer, which whoever gives the lead back makes.
    if (std::holds_alternative<notice::revoked>(n))
      return lost(make_error_code(errc::source_unavailable), "the group assigns again");
  }
  return go_on();
}

void consumer_session::tell_of_gone_topics() {
  if (gone_topics_.empty()) return deps_.status.clear_condition(k_gone_condition);
  const bool one = gone_topics_.size() == 1;
  const std::string why =
      (one ? "the topic " : "the topics ") + quoted(gone_topics_) +
      (one ? " does not exist: nothing of it is read" : " do not exist: nothing of them is read");
  deps_.status.raise_condition(k_gone_condition, why);
  if (topic_troubles_.due(deps_.clock.steady()))
    tell(deps_.log, log_kind::topic_unreadable, "{}{}", why, topic_troubles_.suppressed());
}

void consumer_session::note_found_topics() {
  if (gone_topics_.empty()) return;
  std::erase_if(gone_topics_,
                [this](const std::string& topic) { return has_partition_of(partitions_.all(), topic); });
  tell_of_gone_topics();
}

}  // namespace ratchet
