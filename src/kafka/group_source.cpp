// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "kafka/group_source.hpp"

#include <cstring>

#include "kafka/bounds_query.hpp"
#include "kafka/group_generation.hpp"
#include "kafka/kafka_error.hpp"
#include "kafka/settings.hpp"

namespace ratchet {

namespace {

constexpr std::chrono::milliseconds k_close_wait{5000};

/// Closes a client that owes the group an answer, which nobody gives any more. To answer before the client
/// knows that it ends would have it join again: the group would then wait for it, as for one that was killed.
void close_owing(rd_kafka_t* client) {
  constexpr int k_slice_ms = 100;
  const kafka_handle<rd_kafka_queue_t> queue{rd_kafka_queue_new(client)};
  if (rd_kafka_error_t* const failed = rd_kafka_consumer_close_queue(client, queue.get())) {
    rd_kafka_error_destroy(failed);
    rd_kafka_assign(client, nullptr);
    rd_kafka_consumer_close(client);
    return;
  }
  rd_kafka_assign(client, nullptr);
  // Records may come behind the rebalance. rd_kafka_queue_poll_callback() ends the process at one of them.
  while (rd_kafka_consumer_closed(client) == 0) {
    const kafka_handle<rd_kafka_message_t> passed_over{rd_kafka_consume_queue(queue.get(), k_slice_ms)};
  }
}

}  // namespace

reported<std::unique_ptr<source>> make_kafka_source(const kafka_config& config,
                                                    const kafka_source_options& options) {
  RATCHET_TRY(auto&& settings, consumer_settings(config, options.memory_bytes));
  auto events = std::make_shared<source_events>();
  events->set_log(options.log);
  RATCHET_TRY(auto&& client, kafka_client::make(RD_KAFKA_CONSUMER, settings, events));
  return std::unique_ptr<source>{
      std::make_unique<group_source>(config, options, std::move(events), std::move(client))};
}

group_source::group_source(kafka_config config, kafka_source_options options,
                           std::shared_ptr<source_events> events, std::shared_ptr<kafka_client> client)
    : config_(std::move(config)),
      options_(std::move(options)),
      events_(std::move(events)),
      client_(std::move(client)) {}

group_source::~group_source() {
  close(k_close_wait);
}

result<void> group_source::usable() const {
  if (client_ == nullptr) return errc::source_fatal;
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

result<void> group_source::join(std::span<const std::string> topics) {
  RATCHET_TRY(usable());
  const partition_list list{client_, topics.size()};
  for (const std::string& topic : topics) list.add({topic, partition_id{RD_KAFKA_PARTITION_UA}});
  if (const auto code = rd_kafka_subscribe(client_->get(), list.get()); code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return to_port_error(kafka_error(code));
  }
  joined_ = true;
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

result<void> group_source::assign(std::span<const position> wanted) {
  RATCHET_TRY(usable());
  // librdkafka waits for unassign(); an assign() now would be taken for its answer.
  if (events_->wanted() == source_events::answer::unassign) return kafka_error(RD_KAFKA_RESP_ERR__STATE);
  RATCHET_TRY(resume_all());
  const partition_list list{client_, wanted.size()};
  for (const position& p : wanted) list.add(p.where, p.offset);
  // Also where it is empty: nothing is read then, but the membership stays. Never seek: the offsets go in
  // here.
  if (const auto code = rd_kafka_assign(client_->get(), list.get()); code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return to_port_error(kafka_error(code));
  }
  events_->answered();
  next_.clear();
  for (const position& p : wanted) next_[table_->intern(p.where.topic, p.where.partition)] = p.offset;
  last_ = next_.end();
  std::vector<topic_partition> read;
  for (const position& p : wanted) read.push_back(p.where);
  if (!read.empty()) wake_leaders(client_, std::move(read));
  // The checks come before the assignment; what served them is not kept, nor waited for.
  if (reader_) {
    run_bounded([gone = std::shared_ptr<record_probe>{std::move(reader_)}]() mutable { gone.reset(); },
                std::chrono::milliseconds{0});
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

result<void> group_source::unassign() {
  RATCHET_TRY(usable());
  RATCHET_TRY(resume_all());
  next_.clear();
  last_ = next_.end();
  rd_kafka_resp_err_t code{};
  if (events_->wanted() == source_events::answer::unassign || !joined_) {
    code = rd_kafka_assign(client_->get(), nullptr);
  } else {
    const partition_list nothing{client_, 0};
    code = rd_kafka_assign(client_->get(), nothing.get());
  }
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return to_port_error(kafka_error(code));
  events_->answered();
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

result<void> group_source::pause(std::span<const topic_partition> partitions) {
  RATCHET_TRY(usable());
  const partition_list list{client_, partitions.size()};
  for (const topic_partition& where : partitions) {
    const bool is_read = next_.contains(table_->intern(where.topic, where.partition));
    if (is_read && paused_.insert(where).second) list.add(where);
  }
  if (list.get()->cnt == 0) return BOOST_OUTCOME_V2_NAMESPACE::success();
  const auto code = rd_kafka_pause_partitions(client_->get(), list.get());
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return to_port_error(kafka_error(code));
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

result<void> group_source::resume(std::span<const topic_partition> partitions) {
  RATCHET_TRY(usable());
  const partition_list list{client_, partitions.size()};
  for (const topic_partition& where : partitions) {
    // Resuming what is not paused can rewind it: only what we paused.
    if (paused_.erase(where) != 0) list.add(where);
  }
  if (list.get()->cnt == 0) return BOOST_OUTCOME_V2_NAMESPACE::success();
  const auto code = rd_kafka_resume_partitions(client_->get(), list.get());
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return to_port_error(kafka_error(code));
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

/// A pause would outlive its assignment.
result<void> group_source::resume_all() {
  const std::vector<topic_partition> all{paused_.begin(), paused_.end()};
  return resume(all);
}

std::optional<std::uint32_t> group_source::generation() const {
  if (client_ == nullptr) return std::nullopt;
  rd_kafka_consumer_group_metadata_t* const of_group = rd_kafka_consumer_group_metadata(client_->get());
  if (of_group == nullptr) return std::nullopt;
  void* bytes = nullptr;
  std::size_t size = 0;
  rd_kafka_error_t* const failed = rd_kafka_consumer_group_metadata_write(of_group, &bytes, &size);
  rd_kafka_consumer_group_metadata_destroy(of_group);
  if (failed != nullptr) {
    rd_kafka_error_destroy(failed);
    return std::nullopt;
  }
  const auto found = generation_in({static_cast<const char*>(bytes), size});
  rd_kafka_mem_free(client_->get(), bytes);
  return found;
}

void group_source::wake() noexcept {
  const std::lock_guard lock{wake_mutex_};
  woken_ = true;
  if (client_ != nullptr) rd_kafka_queue_yield(client_->queue());
}

void group_source::close(std::chrono::milliseconds deadline) noexcept {
  std::shared_ptr<kafka_client> client;
  {
    const std::lock_guard lock{wake_mutex_};
    client = std::move(client_);
    client_ = nullptr;
  }
  if (client == nullptr) return;
  const bool owes_answer = events_->wanted() != source_events::answer::none;
  events_->start_closing();
  asker_.stop();
  run_bounded(
      [client = std::move(client), reader = std::shared_ptr<record_probe>{std::move(reader_)},
       uncommitted = std::move(uncommitted_), owes_answer]() mutable {
        if (owes_answer) {
          close_owing(client->get());
        } else {
          rd_kafka_consumer_close(client->get());
        }
        reader.reset();
        uncommitted.reset();
        client.reset();
      },
      deadline);
  events_->set_log({});
}

}  // namespace ratchet
