// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The part of consumer_session that sends what the outbox holds.
#include <algorithm>
#include <utility>

#include "app/audit_rows.hpp"
#include "app/config_values.hpp"
#include "app/consumer_session.hpp"
#include "app/counted.hpp"

namespace ratchet {

namespace {

constexpr const char* k_full_obstacle = "outbox";
/// At the end of a run, what is durable is sent, until nothing got through for so long; who is told to stop
/// ends in bounded time. The next start sends the rest.
constexpr std::chrono::milliseconds k_last_sending{10'000};
constexpr std::chrono::milliseconds k_longest_last_sending{30'000};
constexpr std::chrono::milliseconds k_slice{50};
constexpr std::chrono::milliseconds k_topics_timeout{30'000};

}  // namespace

std::optional<session_result> consumer_session::check_output_topics() {
  const std::vector<std::string> wanted = output_topics(around_.streams);
  if (wanted.empty()) return std::nullopt;
  const auto found = around_.from.partitions(wanted, k_topics_timeout);
  if (found) return std::nullopt;
  return topics_failed(found.error(), wanted, topic_use::written);
}

std::optional<session_result> consumer_session::publish(time_point now) {
  // Before the claim it may be another's to send.
  if (!sender_ || !assigned_once_) return std::nullopt;
  sender_->wrote(around_.to.last_step(), around_.to.outbox().next);
  const std::uint64_t sent = sender_->sent();
  if (const auto done = sender_->turn(now); !done) return store_failed(done.error());
  around_.meter.outputs_sent(sender_->sent() - sent, sender_->trouble().has_value());
  if (sender_->trouble() != told_trouble_) {
    told_trouble_ = sender_->trouble();
    around_.board.set_outbox_trouble(told_trouble_.value_or(""));
  }
  if (sender_->waits_for_sync()) around_.to.request_sync();
  if (now - last_trim_ < around_.settings.state.commit_interval) return std::nullopt;
  last_trim_ = now;
  return trim_outbox();
}

std::optional<session_result> consumer_session::trim_outbox() {
  outbox_change trim = sender_->trim();
  std::vector<audit_row> audits;
  for (const auto& [row, why] : sender_->take_given_up()) {
    around_.log->error(
        "the topic `{}` does not take the {} of {}: {}; the record is kept: see `ratchet waiting "
        "list` and `ratchet status --rejected`",
        row.topic, name_of(row.kind), row.aggregate.empty() ? "a record" : row.aggregate, why);
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
  if (!sender_ || !assigned_once_) return std::nullopt;
  const time_point begin = around_.clock.steady();
  time_point moved = begin;
  std::uint64_t sent = sender_->sent();
  for (;;) {
    const time_point now = around_.clock.steady();
    if (auto failed = publish(now)) return failed;
    if (sender_->sent() != sent) moved = now;
    sent = sender_->sent();
    const bool told_to_stop = stop_requested() && now - begin >= k_longest_last_sending;
    if (sender_->idle() || told_to_stop || now - moved >= k_last_sending) break;
    around_.publish_to->wait(k_slice);
  }
  if (!sender_->idle()) {
    around_.log->warn("{} of the outbox not sent yet; the next start sends them{}{}",
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
  around_.log->error("{}", why);
  around_.board.set_obstacle(k_full_obstacle, why);
}

}  // namespace ratchet
