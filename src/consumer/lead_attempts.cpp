// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/lead_attempts.hpp"

#include <array>
#include <utility>

#include "consumer/access.hpp"
#include "core/backoff.hpp"
#include "core/typed_command.hpp"
#include "ports/error_class.hpp"
#include "ports/source_condition.hpp"
#include "replicate/log_record.hpp"

namespace ratchet {

namespace {

using kind = lead_failure::kind;
using std::chrono::milliseconds;

/// What a person has to change is looked at once a minute.
constexpr retry_config k_refused{0, milliseconds{200}, std::chrono::minutes{1}};
/// What passes by itself should not be waited for much longer than it takes.
constexpr retry_config k_passing{0, milliseconds{200}, milliseconds{2'000}};
/// A failure so long behind the pause of the one before has nothing to do with it.
constexpr std::chrono::minutes k_calm{1};
/// Some seconds, by then.
constexpr std::uint32_t k_attempts_in_group{5};

std::string what_failed(const lead_failure& f) {
  if (f.what == kind::step) return "step " + std::to_string(f.step);
  if (f.what == kind::claim) return "the question whether this instance is late";
  return f.what == kind::note ? "a record" : "its fence";
}

}  // namespace

void lead_attempts::failed(const lead_failure& f, time_point now) {
  if (due_at_ && now >= *due_at_ + k_calm) failures_ = 0;
  ++failures_;
  failure_ = f;
  ++count_;
  const retry_config& policy = passes(classify(f.code)) ? k_passing : k_refused;
  pause_ = backoff(policy, instance_, {0, count_}, failures_);
  due_at_ = now + pause_;
}

void lead_attempts::led() {
  if (failure_ && failure_->step == 0) failure_.reset();
}

/// A right that this user lacks is lacking still: the next attempt will say.
void lead_attempts::fenced() {
  if (failure_ && classify(failure_->code) != error_class::denied) led();
}

void lead_attempts::confirmed(std::uint64_t step) {
  if (!failure_ || failure_->step == 0 || step < failure_->step) return;
  failure_.reset();
  failures_ = 0;
}

std::optional<lead_failure> lead_attempts::take_news() {
  return std::exchange(told_, count_) == count_ ? std::nullopt : failure_;
}

bool lead_attempts::gives_way(time_point now) const {
  // No other instance finds a topic that is not there.
  const bool is_missing = failure_ && classify(failure_->code) == error_class::missing;
  return failure_ && !is_missing && failures_ >= k_attempts_in_group && !is_due(now);
}

problem describe(const lead_failure& f, const kafka_config& kafka, const std::string& log_topic) {
  const std::string said = f.code.message();
  if (f.what == kind::too_large) {
    return {f.code,
            "step " + std::to_string(f.step) + " has " + std::to_string(f.bytes) +
                " bytes of rows, and the replicated log `" + log_topic + "` takes " +
                std::to_string(replicate::k_step_bytes) + " at most",
            "make the states, messages or table rows of an event smaller, or lower `state.snapshot_bytes`",
            {}};
  }
  if (f.what == kind::silence) {
    return {f.code,
            "the brokers do not answer to the fence of this instance in the topic `" + log_topic + "`",
            "see the log lines `client`, and the logs of the brokers",
            {}};
  }
  if (const auto access = access_kind_of(f.code)) {
    const std::array topics{log_topic};
    return *access == access_kind::topic && f.what != kind::claim
               ? describe_refused_topics(topic_use::written, said, kafka, topics)
               : describe_refusal(*access, said, kafka, topics);
  }
  const bool passes_by = passes(classify(f.code));
  problem made{f.code,
               (passes_by ? "the brokers do not take " : "the brokers refuse ") + what_failed(f) +
                   " in the topic `" + log_topic + "`: " + said,
               "",
               {}};
  switch (classify(f.code)) {
    case error_class::message_refused:
    case error_class::unreadable:
      made.hint = "compare the topic's settings, `max.message.bytes` before all: " + typed_command("topics");
      break;
    case error_class::missing:
      made.hint = "make the topic: " + typed_command("topics");
      break;
    case error_class::away:
    case error_class::client_lost:
    case error_class::moved_on:
      break;  // that passes
    default:
      made.hint = "ask the administrator of the brokers";
  }
  return made;
}

}  // namespace ratchet
