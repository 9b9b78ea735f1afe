// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "kafka/log_reader.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "kafka/callback_edge.hpp"
#include "kafka/kafka_error.hpp"
#include "kafka/message_time.hpp"
#include "ports/error_class.hpp"

namespace ratchet {

reported<std::unique_ptr<log_reader>> log_reader::make(const kafka_properties& settings,
                                                       topic_partition where, kafka_log log,
                                                       queue_signal& signal) {
  auto events = std::make_shared<source_events>();
  events->set_log(std::move(log));
  RATCHET_TRY(auto&& client, kafka_client::make(RD_KAFKA_CONSUMER, settings, events));
  return std::unique_ptr<log_reader>{
      new log_reader{std::move(where), std::move(events), std::move(client), signal}};
}

log_reader::log_reader(topic_partition where, std::shared_ptr<source_events> events,
                       std::shared_ptr<kafka_client> client, queue_signal& signal)
    : where_{std::move(where)},
      events_{std::move(events)},
      client_{std::move(client)},
      topic_{rd_kafka_topic_new(client_->get(), where_.topic.c_str(), nullptr)},
      signal_{signal} {}

log_reader::~log_reader() {
  stop();
  asker_.stop();
  events_->set_log({});
}

std::error_code log_reader::start(std::int64_t first) {
  stop();
  if (topic_ == nullptr) return kafka_error(RD_KAFKA_RESP_ERR__INVALID_ARG);
  // A queue for each start: nothing of an earlier one can be among what this one gives.
  queue_.reset(rd_kafka_queue_new(client_->get()));
  signal_.watch(queue_.get());
  const auto partition = static_cast<std::int32_t>(where_.partition);
  if (rd_kafka_consume_start_queue(topic_.get(), partition, first, queue_.get()) != 0) {
    const std::error_code code = to_port_error(kafka_error(rd_kafka_last_error()));
    let_go();
    return code;
  }
  next_ = first;
  end_ = -1;
  return {};
}

void log_reader::let_go() {
  if (queue_ == nullptr) return;
  queue_signal::unwatch(queue_.get());
  queue_.reset();
}

void log_reader::stop() {
  entries_.clear();
  messages_.clear();
  ahead_.reset();
  if (queue_ == nullptr) return;
  rd_kafka_consume_stop(topic_.get(), static_cast<std::int32_t>(where_.partition));
  let_go();
}

result<log_read> log_reader::read(const replicate::read_range& range) {
  rd_kafka_poll(client_->get(), 0);
  rethrow_kept();
  (void)events_->take();  // complaints are kept for take_complaint()
  is_missing_ = false;
  entries_.clear();
  messages_.clear();
  if (queue_ == nullptr || range.first != next_) {
    if (const std::error_code failed = start(range.first)) return failed;
  }
  log_read out;
  std::size_t bytes = 0;
  while (messages_.size() < k_read_records && bytes < k_read_bytes) {
    kafka_handle<rd_kafka_message_t> message =
        ahead_ != nullptr ? std::move(ahead_)
                          : kafka_handle<rd_kafka_message_t>{rd_kafka_consume_queue(queue_.get(), 0)};
    // That the topic is missing comes to the callback of errors.
    if (message == nullptr || is_missing()) break;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      const std::error_code failed = take_error(*message, out);
      // What came before it is given out first; the next read begins anew behind that, and meets it again.
      if (failed || out.at == log_read::state::out_of_range) {
        const bool is_first = messages_.empty();
        if (!is_first) out.at = log_read::state::going_on;
        rd_kafka_consume_stop(topic_.get(), static_cast<std::int32_t>(where_.partition));
        let_go();
        if (failed && is_first) return failed;
        break;
      }
      continue;
    }
    if (message->offset < next_) continue;  // of a batch that began before it
    if (range.last && message->offset > *range.last) {
      next_ = *range.last + 1;
      ahead_ = std::move(message);
      break;
    }
    next_ = message->offset + 1;
    bytes += message->len;
    entries_.push_back(
        {message->offset, {static_cast<const char*>(message->payload), message->len}, time_of(*message)});
    messages_.push_back(std::move(message));
  }
  if (is_missing()) {
    stop();
    return errc::topic_missing;
  }
  // There may be more, and the queue does not say so once more.
  if (messages_.size() >= k_read_records || bytes >= k_read_bytes || ahead_ != nullptr) signal_.raise();
  if (end_ >= next_) {
    // Offsets without a record, as markers of transactions, lie before the end.
    next_ = range.last ? std::min(end_, *range.last + 1) : end_;
  }
  out.through = next_ - 1;
  if (out.at == log_read::state::going_on && end_ == next_) out.at = log_read::state::at_end;
  out.entries = entries_;
  return out;
}

std::error_code log_reader::take_error(const rd_kafka_message_t& message, log_read& out) {
  events_->on_message_error(client_->get(), message, true);
  for (const source_notice& each : events_->take()) {
    if (const auto* end = std::get_if<notice::end_of_partition>(&each)) {
      end_ = end->offset;
    } else if (std::holds_alternative<notice::out_of_range>(each)) {
      out.at = log_read::state::out_of_range;
    } else if (std::holds_alternative<notice::topic_gone>(each)) {
      return errc::topic_missing;
    } else if (std::holds_alternative<notice::unreadable>(each)) {
      return kafka_error(message.err);
    }
  }
  return {};
}

bool log_reader::is_missing() {
  rethrow_kept();
  for (const source_notice& each : events_->take()) {
    const auto* trouble = std::get_if<notice::trouble>(&each);
    is_missing_ = is_missing_ || (trouble != nullptr && classify(trouble->code) == error_class::missing);
  }
  return is_missing_;
}

void log_reader::ask_bounds(std::int64_t known) {
  if (asked_with_) return;
  if (asker_.ask(client_, nullptr, {{where_, std::nullopt}})) asked_with_ = known;
}

std::optional<result<told_bounds>> log_reader::take_bounds() {
  if (!asked_with_) return std::nullopt;
  const auto answers = asker_.take();
  if (answers.empty()) return std::nullopt;
  const std::int64_t known = *std::exchange(asked_with_, std::nullopt);
  const notice::bounds_told& told = answers.front();
  if (told.code) return result<told_bounds>{told.code};
  return result<told_bounds>{told_bounds{known, told.found.start, told.found.end}};
}

}  // namespace ratchet
