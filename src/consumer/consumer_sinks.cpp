// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The part of consumer_session that sends what the outbox holds for sinks, each lane on its own.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "consumer/consumer_session.hpp"
#include "text/counted.hpp"
#include "text/units.hpp"

namespace ratchet {

namespace {

[[nodiscard]] std::string obstacle_of(const std::string& sink) {
  return "sink " + sink;
}

}  // namespace

void consumer_session::open_sinks() {
  for (const sink_outlet& outlet : around_.sinks) {
    sink_sender& sink = sinks_.emplace_back(outlet, around_.to, around_.log);
    refusals_.push_back({outlet.name, &sink});
    around_.board.set_sink(outlet.name, {});
    around_.board.clear_obstacle(obstacle_of(outlet.name));  // of the session before
    outlet.to->on_progress([this] { around_.from.wake(); });
  }
}

std::optional<session_result> consumer_session::publish_to_sinks(const outbox_lanes& lanes, time_point now) {
  for (sink_sender& sink : sinks_) {
    sink.wrote(around_.to.last_step(), lanes.of(sink.name()).next);
    if (const auto done = sink.turn(now); !done) return store_failed(done.error());
    if (sink.waits_for_sync()) around_.to.request_sync();
    if (sink.reads_on()) around_.from.wake();
    live_sink now_is{sink.sent(), sink.trouble().value_or(""), sink.refused_count()};
    live_sink& told = told_sinks_[sink.name()];
    if (now_is == told) continue;
    told = std::move(now_is);
    around_.board.set_sink(sink.name(), told);
  }
  return std::nullopt;
}

std::optional<session_result> consumer_session::trim_sinks() {
  for (sink_sender& sink : sinks_) {
    outbox_change trim = sink.trim();
    if (trim.empty()) continue;
    if (const auto done = pipeline_.trim_outbox(std::move(trim), {}); !done)
      return store_failed(done.error());
    sink.trimmed();
  }
  return std::nullopt;
}

bool consumer_session::sinks_are_settled() const {
  return std::all_of(sinks_.begin(), sinks_.end(), [](const sink_sender& s) { return s.settled(); });
}

std::uint64_t consumer_session::sent_to_sinks() const {
  std::uint64_t sum = 0;
  for (const sink_sender& sink : sinks_) sum += sink.sent();
  return sum;
}

void consumer_session::tell_of_unsent_for_sinks() const {
  for (const sink_sender& sink : sinks_) {
    if (sink.idle()) continue;
    tell(around_.log, log_kind::messages_unsent,
         "{} for the sink `{}` not sent yet; the next start sends them{}{}",
         counted(around_.to.outboxes().of(sink.name()).rows(), "message"), sink.name(),
         sink.trouble() ? ": " : "", sink.trouble().value_or(""));
  }
}

void consumer_session::look_at_sinks() {
  if (sinks_.empty()) return;
  const outbox_lanes lanes = around_.to.outboxes();
  const std::uint64_t limit = around_.settings.outbox.bytes;
  for (const sink_sender& sink : sinks_) {
    const bool was_full = full_sinks_.contains(sink.name());
    const bool full = lanes.of(sink.name()).bytes > (was_full ? limit / 4 * 3 : limit);
    if (full == was_full) continue;
    if (!full) {
      full_sinks_.erase(sink.name());
      around_.board.clear_obstacle(obstacle_of(sink.name()));
      continue;
    }
    full_sinks_.insert(sink.name());
    const std::string why = "more than outbox.bytes (" + format_size(limit) + ") waits for the sink `" +
                            sink.name() + "`, so that no stream is read that publishes there" +
                            (sink.trouble() ? ": " + *sink.trouble() : "");
    tell(around_.log, log_kind::outbox_full, "{}", why);
    around_.board.set_obstacle(obstacle_of(sink.name()), why);
  }
}

}  // namespace ratchet
