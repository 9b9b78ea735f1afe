// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "kafka/log_writer.hpp"

#include <algorithm>
#include <utility>

#include "kafka/bounds_query.hpp"
#include "kafka/callback_edge.hpp"
#include "kafka/kafka_error.hpp"
#include "kafka/produce_parts.hpp"
#include "kafka/source_events.hpp"
#include "ports/error_class.hpp"

namespace ratchet {

/// What one client says, and the bytes that it may still look at.
class log_deliveries final : public client_callbacks {
 public:
  struct delivered {
    std::uint64_t serial{0};
    rd_kafka_resp_err_t code{RD_KAFKA_RESP_ERR_NO_ERROR};
    std::optional<std::int64_t> offset;
  };

  /// While somebody polls.
  void on_delivery(const rd_kafka_message_t& message) override {
    const auto serial = reinterpret_cast<std::uint64_t>(message._private);
    const auto held =
        std::find_if(held_.begin(), held_.end(), [&](const auto& each) { return each.first == serial; });
    if (held != held_.end()) held_.erase(held);
    delivered_.push_back({serial, message.err, offset_of(message)});
  }
  void on_error(rd_kafka_t*, rd_kafka_resp_err_t code, const char* reason) override {
    if (code == RD_KAFKA_RESP_ERR__FATAL) lost_ = true;
    const char* words = words_of_error(kafka_error(code), reason);
    complaints_.complain(kafka_error(code), mask()(words));
    constexpr int k_syslog_warning = 4;
    log(k_syslog_warning, words);
  }

  void hold(std::uint64_t serial, std::shared_ptr<const std::string> bytes) {
    held_.emplace_back(serial, std::move(bytes));
  }
  void let_go_of_last() { held_.pop_back(); }
  [[nodiscard]] std::vector<delivered> take() { return std::exchange(delivered_, {}); }
  void lose() noexcept { lost_ = true; }
  [[nodiscard]] bool lost() const noexcept { return lost_; }
  [[nodiscard]] std::optional<complaint> take_complaint() { return complaints_.take_complaint(); }

 private:
  /// Where a batch was sent twice and the brokers do not know the first one's offset any more, they answer
  /// -1, and librdkafka counts on from there (2.0.2 does): -1, 0, 1 for the records of the batch.
  std::optional<std::int64_t> offset_of(const rd_kafka_message_t& message) {
    if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) return std::nullopt;
    if (message.offset < 0 || message.offset == counted_on_) {
      counted_on_ = message.offset + 1;
      return std::nullopt;
    }
    counted_on_.reset();
    return message.offset;
  }

  std::deque<std::pair<std::uint64_t, std::shared_ptr<const std::string>>> held_;
  std::vector<delivered> delivered_;
  std::optional<std::int64_t> counted_on_;  ///< the next offset, if it is counted on from what is none
  bool lost_{false};
  source_events complaints_;
};

reported<std::unique_ptr<log_writer>> log_writer::make(kafka_properties settings, topic_partition where,
                                                       std::size_t queue_bytes, kafka_log log,
                                                       queue_signal& signal) {
  std::unique_ptr<log_writer> made{
      new log_writer{std::move(settings), std::move(where), queue_bytes, std::move(log), signal}};
  RATCHET_TRY(made->open());
  return made;
}

log_writer::~log_writer() {
  give_up();
  if (client_ == nullptr) return;
  queue_signal::unwatch(main_queue_.get());
  main_queue_.reset();
  deliveries_->set_log({});
}

reported<void> log_writer::open() {
  next_client_ = std::chrono::steady_clock::now() + k_between_clients;
  auto deliveries = std::make_shared<log_deliveries>();
  deliveries->set_log(log_);
  RATCHET_TRY(auto&& client, kafka_client::make(RD_KAFKA_PRODUCER, settings_, deliveries));
  ++clients_;
  must_wake_ = true;
  deliveries_ = std::move(deliveries);
  client_ = std::move(client);
  knows_no_topic_ = false;
  main_queue_.reset(rd_kafka_queue_get_main(client_->get()));
  signal_.watch(main_queue_.get());
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

/// Nothing waits for the client's end, which may take seconds.
void log_writer::leave_client() {
  if (client_ == nullptr) return;
  queue_signal::unwatch(main_queue_.get());
  main_queue_.reset();
  deliveries_->set_log({});
  rd_kafka_purge(client_->get(),
                 RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT | RD_KAFKA_PURGE_F_NON_BLOCKING);
  run_bounded([client = std::move(client_)]() mutable { client.reset(); }, std::chrono::milliseconds{0});
  client_ = nullptr;
  sent_ = 0;
}

void log_writer::give_up() {
  // A client that has nothing under way is as good as a new one.
  const bool is_idle =
      std::all_of(queued_.begin(), queued_.end(), [](const queued_record& each) { return each.ended; });
  if (!is_idle || knows_no_topic_) leave_client();
  first_serial_ += queued_.size();
  queued_.clear();
  queued_bytes_ = 0;
  sent_ = 0;
}

void log_writer::append(replicate::append_request request) {
  if (request.ticket.writer != writer_) {
    give_up();
    writer_ = request.ticket.writer;
    must_wake_ = true;
  }
  queued_bytes_ += request.record.size();
  queued_.push_back({request.ticket, std::make_shared<const std::string>(std::move(request.record)), {}});
  send();
}

void log_writer::send() {
  if (sent_ == queued_.size()) return;
  if (client_ == nullptr) {
    if (std::chrono::steady_clock::now() < next_client_ || !open()) return;
  }
  while (sent_ < queued_.size()) {
    queued_record& next = queued_[sent_];
    if (!next.ended) {
      const std::uint64_t serial = first_serial_ + sent_;
      produce_parts parts{produce_parts::ownership::borrowed};
      parts.topic(where_.topic.c_str());
      parts.partition(where_.partition);
      parts.value(*next.bytes);
      parts.opaque(reinterpret_cast<void*>(serial));  // NOLINT(performance-no-int-to-ptr): never followed
      deliveries_->hold(serial, next.bytes);
      const auto code = parts.produce(client_->get());
      if (code != RD_KAFKA_RESP_ERR_NO_ERROR) deliveries_->let_go_of_last();
      if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL) return;
      if (code == RD_KAFKA_RESP_ERR__FATAL) {
        deliveries_->lose();  // reports() makes a new client
        return;
      }
      if (code != RD_KAFKA_RESP_ERR_NO_ERROR) end(next, kafka_error(code), {});
      if (std::exchange(must_wake_, false)) wake_leaders(client_, {where_});
    }
    ++sent_;
  }
}

void log_writer::end(queued_record& record, std::error_code failed, std::optional<std::int64_t> offset) {
  if (classify(failed) == error_class::missing) knows_no_topic_ = true;
  record.ended = append_report{record.ticket, offset, failed ? to_port_error(failed) : std::error_code{}};
}

void log_writer::take_deliveries() {
  if (client_ == nullptr) return;
  rd_kafka_poll(client_->get(), 0);
  rethrow_kept();
  // What fails with a client that cannot go on is sent again by the next one.
  if (rd_kafka_fatal_error(client_->get(), nullptr, 0) != RD_KAFKA_RESP_ERR_NO_ERROR) deliveries_->lose();
  const bool lost = deliveries_->lost();
  for (const log_deliveries::delivered& each : deliveries_->take()) {
    if (each.serial < first_serial_ || each.serial - first_serial_ >= queued_.size()) continue;  // given up
    queued_record& record = queued_[each.serial - first_serial_];
    if (record.ended) continue;
    if (each.code == RD_KAFKA_RESP_ERR_NO_ERROR) {
      end(record, {}, each.offset);
    } else if (!lost) {
      end(record, kafka_error(each.code), {});
    }
  }
  if (!lost) return;
  // Those behind a record that is sent again are, too, wherever they are: so the log has all in order.
  auto again =
      std::find_if(queued_.begin(), queued_.end(), [](const queued_record& each) { return !each.ended; });
  for (; again != queued_.end(); ++again) {
    if (again->ended && !again->ended->failed) again->ended.reset();
  }
  leave_client();
}

std::vector<append_report> log_writer::reports() {
  take_deliveries();
  std::vector<append_report> all;
  while (!queued_.empty() && queued_.front().ended) {
    all.push_back(*queued_.front().ended);
    queued_bytes_ -= queued_.front().bytes->size();
    queued_.pop_front();
    ++first_serial_;
    if (sent_ > 0) --sent_;
  }
  send();
  return all;
}

std::optional<complaint> log_writer::take_complaint() {
  return deliveries_->take_complaint();
}

}  // namespace ratchet
