// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The part of consumer_session that sends what the outbox holds.
#include <algorithm>
#include <utility>

#include "consumer/consumer_session.hpp"
#include "core/typed_command.hpp"
#include "pipeline/audit_rows.hpp"
#include "text/counted.hpp"
#include "text/units.hpp"

namespace ratchet {

namespace {

using std::chrono::milliseconds;

/// At the end of a run, what is durable is sent, until nothing got through for so long. Who is told to stop
/// ends soon, as somebody waits for that. What is refused, which somebody has to mend, is not waited for. The
/// next start sends the rest.
constexpr std::chrono::milliseconds k_last_sending{10'000};
constexpr std::chrono::milliseconds k_longest_last_sending{3'000};
constexpr std::chrono::milliseconds k_slice{50};

}  // namespace

std::optional<session_result> consumer_session::check_output_topics() {
  const std::vector<std::string> wanted = output_topics(around_.streams);
  if (wanted.empty()) return std::nullopt;
  const auto found = look_up(wanted);
  if (found) return std::nullopt;
  return topics_failed(found.error(), wanted, topic_use::written);
}

std::optional<session_result> consumer_session::publish(time_point now) {
  // Before the claim it may be another's to send.
  if (!assigned_once_ || (!sender_ && sinks_.empty())) return std::nullopt;
  const outbox_lanes lanes = around_.to.outboxes();
  if (auto failed = publish_to_sinks(lanes, now)) return failed;
  if (auto failed = publish_to_topics(lanes.of({}), now)) return failed;
  if (now - last_trim_ < around_.settings.state.commit_interval) return std::nullopt;
  last_trim_ = now;
  return trim_outbox();
}

std::optional<session_result> consumer_session::publish_to_topics(const outbox_state& lane, time_point now) {
  if (!sender_) return std::nullopt;
  sender_->wrote(around_.to.last_step(), lane.next);
  const std::uint64_t sent = sender_->sent();
  if (const auto done = sender_->turn(now); !done) return store_failed(done.error());
  around_.meter.outputs_sent(sender_->sent() - sent, sender_->trouble().has_value());
  if (sender_->trouble() != told_trouble_) {
    told_trouble_ = sender_->trouble();
    around_.board.set_outbox_trouble(told_trouble_.value_or(""));
  }
  if (sender_->waits_for_sync()) around_.to.request_sync();
  if (sender_->reads_on()) around_.from.wake();
  return std::nullopt;
}

/// Brokers that take messages more slowly than steps make them get some time: a row that is sent from memory
/// is neither read again nor, if it is trimmed soon, ever written to a file of its own. While nothing gets
/// through, consumption goes on, up to `outbox.bytes`.
std::optional<session_result> consumer_session::let_sender_catch_up() {
  constexpr milliseconds k_wait{2};
  constexpr int k_most_waits = 25;
  for (int waits = 0; waits < k_most_waits; ++waits) {
    if (!sender_ || !sender_->is_behind() || sender_->is_away() || stop_requested()) break;
    around_.publish_to->wait(k_wait);
    if (auto failed = publish(around_.clock.steady())) return failed;
  }
  return std::nullopt;
}

std::optional<session_result> consumer_session::trim_outbox() {
  if (auto failed = trim_sinks(); failed || !sender_) return failed;
  outbox_change trim = sender_->trim();
  std::vector<audit_row> audits;
  for (const auto& [row, why] : sender_->take_given_up()) {
    if (given_up_.due(around_.clock.steady()))
      tell(around_.log, log_kind::message_given_up,
           "the topic `{}` does not take the {} of {}: {}; the record is kept: see {} and {}{}", row.topic,
           name_of(row.kind), row.aggregate.empty() ? "a record" : row.aggregate, why,
           typed_command("waiting list"), typed_command("status", "--rejected"), given_up_.held_back());
    around_.meter.output_given_up();
    audits.push_back(audit_of_output_given_up(row, stream_name_of(row.stream), why, around_.clock.now()));
  }
  if (trim.empty() && audits.empty()) return std::nullopt;
  if (const auto done = pipeline_.trim_outbox(std::move(trim), std::move(audits)); !done)
    return store_failed(done.error());
  sender_->trimmed();
  return std::nullopt;
}

std::string consumer_session::stream_name_of(stream_id id) const {
  const auto at = std::find_if(around_.streams.begin(), around_.streams.end(),
                               [id](const auto& s) { return s->id == id; });
  return at == around_.streams.end() ? std::string{} : (*at)->config.name;
}

std::optional<session_result> consumer_session::send_the_rest() {
  if (!assigned_once_ || (!sender_ && sinks_.empty())) return std::nullopt;
  const auto sent_by_all = [this] { return (sender_ ? sender_->sent() : 0) + sent_to_sinks(); };
  const time_point begin = around_.clock.steady();
  time_point moved = begin;
  std::uint64_t sent = sent_by_all();
  for (;;) {
    const time_point now = around_.clock.steady();
    if (auto failed = publish(now)) return failed;
    if (sent_by_all() != sent) moved = now;
    sent = sent_by_all();
    const bool told_to_stop = stop_requested() && now - begin >= k_longest_last_sending;
    const bool topics_are_settled = !sender_ || sender_->settled();
    if ((topics_are_settled && sinks_are_settled()) || told_to_stop || now - moved >= k_last_sending) break;
    if (!topics_are_settled) {
      around_.publish_to->wait(k_slice);
    } else {
      std::find_if(sinks_.begin(), sinks_.end(), [](const auto& s) { return !s.settled(); })
          ->to()
          .wait(k_slice);
    }
  }
  tell_of_unsent_for_sinks();
  if (sender_ && !sender_->idle()) {
    tell(around_.log, log_kind::messages_unsent,
         "{} of the outbox not sent yet; the next start sends them{}{}",
         counted(around_.to.outbox().rows(), "message"), sender_->trouble() ? ": " : "",
         sender_->trouble().value_or(""));
  }
  if (auto failed = trim_outbox()) return failed;
  if (const auto synced = around_.to.sync(); !synced) return store_failed(synced.error());
  return std::nullopt;
}

void consumer_session::look_at_outbox() {
  const std::uint64_t bytes = around_.to.outbox().bytes;
  const std::uint64_t limit = around_.settings.outbox.bytes;
  const bool full = bytes > (outbox_full_ ? limit / 4 * 3 : limit);
  if (full == outbox_full_) return;
  outbox_full_ = full;
  if (!full) return around_.board.clear_obstacle(k_full_obstacle);
  const std::string why = "more than outbox.bytes (" + format_size(limit) +
                          ") waits to be sent, so that nothing more is read" +
                          (sender_ && sender_->trouble() ? ": " + *sender_->trouble() : "");
  tell(around_.log, log_kind::outbox_full, "{}", why);
  around_.board.set_obstacle(k_full_obstacle, why);
}

}  // namespace ratchet
