// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/outbox_delivery.hpp"

#include <algorithm>
#include <utility>

#include "core/shown_id.hpp"
#include "core/success.hpp"
#include "core/typed_command.hpp"
#include "pipeline/audit_rows.hpp"
#include "text/counted.hpp"

namespace ratchet {

namespace {

using std::chrono::milliseconds;

/// At the end of a run, what is durable is sent, until nothing got through for so long. Who is told to stop
/// ends soon, as somebody waits for that, and sooner where nothing gets through: the next start sends the
/// rest, and again the few that were under way. A client that was made just now needs a second or two before
/// anything can get through. What is refused, which somebody has to mend, is not waited for.
constexpr milliseconds k_last_sending{10'000};
constexpr milliseconds k_longest_last_sending{3'000};
constexpr milliseconds k_longest_last_quiet{500};
constexpr milliseconds k_first_contact{2'500};
/// With `replicate` another instance goes on at once, and has the rest: only what is under way may end, so
/// that less of it is sent again.
constexpr milliseconds k_last_sending_of_pair{200};
constexpr milliseconds k_drain_slice{50};

}  // namespace

std::string condition_of(std::string_view sink) {
  return "sink " + std::string{sink};
}

outbox_delivery::outbox_delivery(dependencies deps)
    : deps_{std::move(deps)}, made_at_{deps_.clock.steady()}, last_trim_{made_at_} {
  if (deps_.topics != nullptr) {
    topics_.emplace(deps_.store, *deps_.topics, deps_.log);
    refusals_.push_back({k_topics_name, &*topics_});
    deps_.steps.on_outputs([this](std::vector<output_row>&& rows) {
      std::erase_if(rows, [](const output_row& row) { return !row.lane().empty(); });
      topics_->offer(std::move(rows));
    });
    deps_.status.set_outbox_trouble({});
    deps_.topics->on_progress([this] { deps_.wakes.wake(); });
  }
  for (const sink_outlet& outlet : deps_.sinks) {
    refusals_.push_back({outlet.name, &sinks_.emplace_back(outlet, deps_.store, deps_.log)});
    deps_.status.set_sink(outlet.name, {});
    deps_.status.clear_condition(condition_of(outlet.name));  // of the session before
    outlet.to->on_progress([this] { deps_.wakes.wake(); });
  }
}

outbox_delivery::~outbox_delivery() {
  if (topics_) deps_.topics->on_progress({});
  for (const sink_sender& sink : sinks_) sink.to().on_progress({});
}

std::optional<std::string> outbox_delivery::trouble_of_topics() const {
  return topics_ ? topics_->trouble() : std::nullopt;
}

result<void> outbox_delivery::turn(time_point now) {
  if (!has_lanes()) return success();
  RATCHET_TRY(send(now));
  return let_topics_catch_up();
}

result<void> outbox_delivery::send(time_point now) {
  const outbox_lanes lanes = deps_.store.outboxes();
  for (sink_sender& sink : sinks_) {
    RATCHET_TRY(send_lane(sink, lanes.of(sink.name()), now));
    show(sink);
  }
  if (topics_) {
    const std::uint64_t sent_before = topics_->sent();
    RATCHET_TRY(send_lane(*topics_, lanes.of({}), now));
    show_topics(topics_->sent() - sent_before);
  }
  if (now - last_trim_ < deps_.settings.state.commit_interval) return success();
  last_trim_ = now;
  return trim();
}

result<void> outbox_delivery::send_lane(lane_sender& lane, const outbox_state& held, time_point now) {
  lane.wrote(deps_.store.last_step(), held.next);
  RATCHET_TRY(lane.turn(now));
  if (lane.waits_for_sync()) deps_.store.request_sync();
  if (lane.reads_on()) deps_.wakes.wake();
  return success();
}

/// Brokers that take messages more slowly than steps make them get some time: a row that is sent from memory
/// is neither read again nor, if it is trimmed soon, ever written to a file of its own. While nothing gets
/// through, consumption goes on, up to `outbox.bytes`.
result<void> outbox_delivery::let_topics_catch_up() {
  constexpr milliseconds k_wait{2};
  constexpr int k_most_waits = 25;
  for (int waits = 0; waits < k_most_waits; ++waits) {
    if (!topics_ || !topics_->is_behind() || topics_->is_away() || deps_.is_stopping()) break;
    deps_.topics->wait(k_wait);
    RATCHET_TRY(send(deps_.clock.steady()));
  }
  return success();
}

void outbox_delivery::show_topics(std::uint64_t sent) {
  deps_.meter.outputs_sent(sent, topics_->trouble().has_value());
  if (topics_->trouble() == told_trouble_) return;
  told_trouble_ = topics_->trouble();
  deps_.status.set_outbox_trouble(told_trouble_.value_or(""));
}

void outbox_delivery::show(const sink_sender& sink) {
  live_sink now_is{sink.sent(), sink.trouble().value_or(""), sink.refused_count()};
  live_sink& told = told_sinks_[sink.name()];
  if (now_is == told) return;
  told = std::move(now_is);
  deps_.status.set_sink(sink.name(), told);
}

result<void> outbox_delivery::trim() {
  for (sink_sender& sink : sinks_) {
    outbox_change change = sink.trim();
    if (change.empty()) continue;
    RATCHET_TRY(deps_.steps.trim_outbox(std::move(change), {}));
    sink.trimmed();
  }
  return trim_topics();
}

result<void> outbox_delivery::trim_topics() {
  if (!topics_) return success();
  outbox_change change = topics_->trim();
  std::vector<audit_row> audits;
  for (const auto& [row, why] : topics_->take_given_up()) {
    if (given_up_.due(deps_.clock.steady()))
      tell(deps_.log, log_kind::message_given_up,
           "the topic `{}` does not take the {} of {}: {}; the record is kept: see {} and {}{}", row.topic,
           name_of(row.kind), row.aggregate.empty() ? "a record" : shown_id(row.aggregate), why,
           typed_command("waiting list"), typed_command("status", "--rejected"), given_up_.suppressed());
    deps_.meter.output_given_up();
    audits.push_back(audit_of_output_given_up(row, std::string{name_of_stream(deps_.streams, row.stream)},
                                              why, deps_.clock.now()));
  }
  if (change.empty() && audits.empty()) return success();
  RATCHET_TRY(deps_.steps.trim_outbox(std::move(change), std::move(audits)));
  topics_->trimmed();
  return success();
}

std::uint64_t outbox_delivery::sent() const {
  std::uint64_t sum = topics_ ? topics_->sent() : 0;
  for (const sink_sender& sink : sinks_) sum += sink.sent();
  return sum;
}

bool outbox_delivery::is_drained() const {
  return (!topics_ || topics_->is_drained()) &&
         std::all_of(sinks_.begin(), sinks_.end(), [](const sink_sender& s) { return s.is_drained(); });
}

void outbox_delivery::wait_for_undrained() {
  if (topics_ && !topics_->is_drained()) return deps_.topics->wait(k_drain_slice);
  std::find_if(sinks_.begin(), sinks_.end(), [](const sink_sender& s) { return !s.is_drained(); })
      ->to()
      .wait(k_drain_slice);
}

result<void> outbox_delivery::send_the_rest() {
  if (!has_lanes()) return success();
  const time_point begin = deps_.clock.steady();
  time_point moved = begin;
  std::uint64_t sent_before = sent();
  for (;;) {
    const time_point now = deps_.clock.steady();
    RATCHET_TRY(send(now));
    if (sent() != sent_before) moved = now;
    sent_before = sent();
    const milliseconds longest = deps_.settings.replicate ? k_last_sending_of_pair : k_longest_last_sending;
    const time_point could_move = std::max(moved, made_at_ + k_first_contact);
    const bool told_to_stop =
        deps_.is_stopping() && (now - begin >= longest || now - could_move >= k_longest_last_quiet);
    if (is_drained() || told_to_stop || now - moved >= k_last_sending) break;
    wait_for_undrained();
  }
  tell_of_unsent();
  RATCHET_TRY(trim());
  return deps_.store.sync();
}

void outbox_delivery::tell_of_unsent() const {
  const char* const who = deps_.settings.replicate ? "next owner" : "next start";
  for (const sink_sender& sink : sinks_) {
    if (sink.idle()) continue;
    tell(deps_.log, log_kind::messages_unsent, "{} for the sink `{}` not sent yet; the {} sends them{}{}",
         counted(deps_.store.outboxes().of(sink.name()).rows(), "message"), sink.name(), who,
         sink.trouble() ? ": " : "", sink.trouble().value_or(""));
  }
  if (!topics_ || topics_->idle()) return;
  tell(deps_.log, log_kind::messages_unsent, "{} of the outbox not sent yet; the {} sends them{}{}",
       counted(deps_.store.outbox().rows(), "message"), who, topics_->trouble() ? ": " : "",
       topics_->trouble().value_or(""));
}

}  // namespace ratchet
