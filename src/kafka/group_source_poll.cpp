// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <span>

#include "kafka/callback_edge.hpp"
#include "kafka/group_source.hpp"
#include "kafka/kafka_error.hpp"
#include "ports/source_condition.hpp"

namespace ratchet {

namespace {

/// What one batch may hold beside the bound on its records, so that large records cannot make a step that no
/// memory limit foresaw.
constexpr std::size_t k_batch_bytes_least = std::size_t{1} << 20;
constexpr std::size_t k_batch_share = 8;
constexpr std::size_t k_reserve_most = 16'384;
/// So many records are taken with one call, and fewer where they are large: their bytes are only counted
/// behind it.
constexpr std::size_t k_most_at_once = 32;
/// What librdkafka is taken to keep for a queued record beside its key and value; an estimate, not measured.
constexpr double k_record_overhead = 350;

/// From 2.1.0 to 2.13.1 rd_kafka_consume_batch_queue() takes the end of a partition for a record: behind a
/// pause it would be read on one record too late, and a record be lost in silence (librdkafka's issue 5213).
[[nodiscard]] bool may_take_many() noexcept {
  constexpr int k_first_wrong = 0x02010000;
  constexpr int k_first_right = 0x020d0200;
  const int version = rd_kafka_version();
  return version < k_first_wrong || version >= k_first_right;
}

}  // namespace

result<polled> group_source::poll(std::size_t max_records, std::chrono::milliseconds timeout) {
  RATCHET_TRY(usable());
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  const std::size_t max_bytes = std::max(k_batch_bytes_least, options_.memory_bytes / k_batch_share);
  std::unique_ptr<kafka_batch> batch;
  while (batch == nullptr || (batch->size() < max_records && batch->bytes() < max_bytes)) {
    if (batch != nullptr) {
      if (!take_at_hand(batch, max_records, max_bytes)) break;
      continue;
    }
    // Waits only while there is nothing to return; then takes what is at hand.
    int wait_ms = 0;
    if (events_->empty() && !woken_) {
      const auto left = deadline - std::chrono::steady_clock::now();
      wait_ms = to_ms(std::chrono::ceil<std::chrono::milliseconds>(left));
    }
    kafka_handle<rd_kafka_message_t> message{rd_kafka_consumer_poll(client_->get(), wait_ms)};
    const bool nothing = message == nullptr;
    if (!nothing) take_message(std::move(message), batch, max_records);
    if (events_->barrier()) break;
    if (nothing && (wait_ms == 0 || std::chrono::steady_clock::now() >= deadline)) break;
  }
  rethrow_kept();
  woken_ = false;
  events_->clear_barrier();
  polled out;
  out.notices = events_->take();
  for (notice::bounds_told& told : asker_.take()) out.notices.emplace_back(std::move(told));
  if (batch != nullptr) {
    batch->finish();
    note_size(*batch);
    out.batch = std::move(batch);
  }
  return out;
}

/// Whether there may be more. A call for each record would read the clock twice each time.
bool group_source::take_at_hand(std::unique_ptr<kafka_batch>& batch, std::size_t max_records,
                                std::size_t max_bytes) {
  static const bool many = may_take_many();
  if (!many) {
    kafka_handle<rd_kafka_message_t> message{rd_kafka_consumer_poll(client_->get(), 0)};
    if (message == nullptr) return false;
    take_message(std::move(message), batch, max_records);
    return !events_->barrier();
  }
  std::array<rd_kafka_message_t*, k_most_at_once> messages{};
  const std::size_t mean = std::max<std::size_t>(batch->bytes() / batch->size(), 1);
  const std::size_t fit = std::max<std::size_t>((max_bytes - batch->bytes()) / mean, 1);
  const std::size_t room = std::min({max_records - batch->size(), fit, messages.size()});
  constexpr int k_no_wait = 0;
  events_->stay_in_call(true);
  const auto count = rd_kafka_consume_batch_queue(client_->queue(), k_no_wait, messages.data(), room);
  events_->stay_in_call(false);
  if (count <= 0) return false;
  for (const auto message : std::span{messages}.first(static_cast<std::size_t>(count))) {
    take_message(kafka_handle<rd_kafka_message_t>{message}, batch, max_records);
  }
  return !events_->barrier();
}

void group_source::take_message(kafka_handle<rd_kafka_message_t> message, std::unique_ptr<kafka_batch>& batch,
                                std::size_t max_records) {
  if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) return take_error(*message);
  const topic_partition* where = nullptr;
  if (batch != nullptr) {
    where = batch->where_of(*message);
  } else {
    where = table_->intern(rd_kafka_topic_name(message->rkt), partition_id{message->partition});
  }
  if (last_ == next_.end() || last_->first != where) last_ = next_.find(where);
  if (last_ == next_.end() || message->offset < last_->second) return;  // of an assignment that is no more
  last_->second = message->offset + 1;
  if (batch == nullptr) {
    batch = std::make_unique<kafka_batch>(client_, table_, options_.wants_headers);
    batch->reserve(std::min(max_records, k_reserve_most));
  }
  batch->add(std::move(message), where);
}

/// librdkafka fetches some batches again that it cannot read, and goes on behind others: after a bad magic
/// byte or checksum the next records would come as if none were missing. So nothing more of the partition is
/// taken until it is assigned again.
void group_source::take_error(const rd_kafka_message_t& message) {
  const auto at =
      message.rkt == nullptr
          ? next_.end()
          : next_.find(table_->intern(rd_kafka_topic_name(message.rkt), partition_id{message.partition}));
  const bool is_taken = at != next_.end() && at->second != k_nothing;
  events_->on_message_error(client_->get(), message, is_taken);
  if (is_taken && kafka_error(message.err) == source_condition::unreadable) at->second = k_nothing;
}

void group_source::note_size(const kafka_batch& batch) noexcept {
  const double mean = static_cast<double>(batch.bytes()) / static_cast<double>(batch.size());
  mean_record_bytes_ = mean_record_bytes_ == 0 ? mean : (mean_record_bytes_ * 7 + mean) / 8;
}

std::size_t group_source::queued_bytes() const noexcept {
  if (client_ == nullptr) return 0;
  // The library counts messages for us, not bytes: an estimate by the records given out lately.
  const auto queued = static_cast<double>(rd_kafka_queue_length(client_->queue()));
  return static_cast<std::size_t>(queued * (mean_record_bytes_ + k_record_overhead));
}

}  // namespace ratchet
