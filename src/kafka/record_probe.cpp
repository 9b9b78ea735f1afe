// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "kafka/record_probe.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "kafka/bounds_query.hpp"
#include "kafka/kafka_error.hpp"
#include "kafka/settings.hpp"
#include "ports/error_class.hpp"

namespace ratchet {

namespace {

/// A broker's thread that sleeps looks for partitions to fetch from once a second; a request of any kind
/// wakes it.
constexpr std::chrono::milliseconds k_wake_after{5};
constexpr int k_wake_wait_ms = 1000;

std::optional<std::string> copy_of(const void* data, std::size_t size) {
  if (data == nullptr) return std::nullopt;
  return std::string{static_cast<const char*>(data), size};
}

std::chrono::milliseconds until(std::chrono::steady_clock::time_point deadline) {
  return std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
}

/// Reads one record of each of several partitions at once.
class reading {
 public:
  reading(kafka_client& client, std::span<const position> all, std::chrono::steady_clock::time_point deadline)
      : client_{client}, all_{all}, deadline_{deadline}, queue_{rd_kafka_queue_new(client.get())} {}

  [[nodiscard]] std::vector<record_probe::record_there> run() {
    for (std::size_t i = 0; i < all_.size(); ++i) start(i);
    while (!open_.empty()) {
      take_next();
      if (std::chrono::steady_clock::now() >= deadline_) break;
    }
    for (const auto& [where, i] : open_) stop(i);
    return std::move(found_);
  }

 private:
  void start(std::size_t i) {
    found_.emplace_back(errc::source_unavailable);
    if (all_[i].offset < 0) return void(found_[i] = std::nullopt);
    rd_kafka_topic_t* const topic = topic_of(i);
    if (topic == nullptr ||
        rd_kafka_consume_start_queue(topic, partition_of(i), all_[i].offset, queue_.get()) != 0)
      return void(found_[i] = to_port_error(kafka_error(rd_kafka_last_error())));
    open_[all_[i].where] = i;
  }

  void take_next() {
    const auto wait = std::min(until(deadline_), k_wake_after);
    const kafka_handle<rd_kafka_message_t> message{rd_kafka_consume_queue(queue_.get(), to_ms(wait))};
    if (message == nullptr) return wake_one();
    if (message->rkt == nullptr) return;
    const auto at =
        open_.find({rd_kafka_topic_name(message->rkt), partition_id{static_cast<int>(message->partition)}});
    if (at == open_.end()) return;
    const std::size_t i = at->second;
    switch (message->err) {
      case RD_KAFKA_RESP_ERR_NO_ERROR:
        if (message->offset < all_[i].offset) return;  // never delivered, but cheap to be sure
        if (message->offset > all_[i].offset) return finish(i, std::nullopt);
        return finish(i, owned_record{copy_of(message->key, message->key_len),
                                      copy_of(message->payload, message->len)});
      case RD_KAFKA_RESP_ERR__PARTITION_EOF:
      case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
        return finish(i, std::nullopt);
      default: {
        const std::error_code code = kafka_error(message->err);
        // The bounds of this log were had a moment ago: that it is unknown passes, too.
        if (!passes(classify(code))) finish(i, to_port_error(code));
      }
    }
  }

  /// Of those that were not answered, each in its turn.
  void wake_one() {
    auto next = open_.upper_bound(woken_);
    if (next == open_.end()) next = open_.begin();
    woken_ = next->first;
    std::int64_t start = 0;
    std::int64_t end = 0;
    rd_kafka_query_watermark_offsets(client_.get(), woken_.topic.c_str(), partition_of(next->second), &start,
                                     &end, std::min(to_ms(until(deadline_)), k_wake_wait_ms));
  }

  void finish(std::size_t i, record_probe::record_there what) {
    found_[i] = std::move(what);
    stop(i);
    open_.erase(all_[i].where);
  }

  void stop(std::size_t i) { rd_kafka_consume_stop(topic_of(i), partition_of(i)); }

  [[nodiscard]] rd_kafka_topic_t* topic_of(std::size_t i) {
    auto& topic = topics_[all_[i].where.topic];
    if (topic == nullptr)
      topic.reset(rd_kafka_topic_new(client_.get(), all_[i].where.topic.c_str(), nullptr));
    return topic.get();
  }
  [[nodiscard]] std::int32_t partition_of(std::size_t i) const {
    return static_cast<std::int32_t>(all_[i].where.partition);
  }

  kafka_client& client_;
  std::span<const position> all_;
  std::chrono::steady_clock::time_point deadline_;
  kafka_handle<rd_kafka_queue_t> queue_;
  std::map<std::string, kafka_handle<rd_kafka_topic_t>> topics_;
  std::vector<record_probe::record_there> found_;
  std::map<topic_partition, std::size_t> open_;  ///< not answered yet
  topic_partition woken_;                        ///< whose broker was woken last
};

}  // namespace

reported<std::shared_ptr<kafka_client>> make_uncommitted_client(const kafka_config& config, kafka_log log) {
  kafka_properties settings = groupless_settings(config);
  settings["isolation.level"] = "read_uncommitted";
  settings["queued.min.messages"] = "1";  // one record is wanted, not a prefetch
  settings["fetch.wait.max.ms"] = "10";
  auto callbacks = std::make_shared<client_callbacks>();
  callbacks->set_log(std::move(log));
  return kafka_client::make(RD_KAFKA_CONSUMER, settings, std::move(callbacks));
}

reported<std::unique_ptr<record_probe>> record_probe::make(const kafka_config& config, kafka_log log) {
  RATCHET_TRY(auto&& client, make_uncommitted_client(config, std::move(log)));
  return std::unique_ptr<record_probe>{new record_probe{std::move(client)}};
}

std::vector<result<std::int64_t>> record_probe::high_ends(std::span<const topic_partition> all,
                                                          std::chrono::milliseconds timeout) {
  std::vector<result<std::int64_t>> ends;
  for (const auto& found : query_bounds(client_, all, timeout)) {
    if (found) {
      ends.emplace_back(found.value().end);
    } else {
      ends.emplace_back(found.error());
    }
  }
  return ends;
}

std::vector<record_probe::record_there> record_probe::read_at(std::span<const position> all,
                                                              std::chrono::milliseconds timeout) {
  rd_kafka_poll(client_->get(), 0);  // drops error reports that were queued meanwhile
  return reading{*client_, all, std::chrono::steady_clock::now() + timeout}.run();
}

/// Every broker is asked for its groups. DescribeConsumerGroups asks the coordinator alone, but librdkafka
/// ends the process with an assertion where that one's connection breaks meanwhile (librdkafka #4605).
result<std::vector<group_member>> record_probe::members_of(const std::string& group,
                                                           std::chrono::milliseconds timeout) {
  const rd_kafka_group_list* listed = nullptr;
  const auto code = rd_kafka_list_groups(client_->get(), group.c_str(), &listed, to_ms(timeout));
  const kafka_handle<const rd_kafka_group_list> found{listed};
  const bool has_group = found && found->group_cnt > 0;
  const bool is_partial = code == RD_KAFKA_RESP_ERR__PARTIAL && has_group;
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR && !is_partial) return to_port_error(kafka_error(code));
  std::vector<group_member> all;
  if (!has_group) return all;
  const rd_kafka_group_info& is = found->groups[0];
  if (is.err != RD_KAFKA_RESP_ERR_NO_ERROR) return to_port_error(kafka_error(is.err));
  for (int i = 0; i < is.member_cnt; ++i) {
    const rd_kafka_group_member_info& member = is.members[i];
    all.push_back({member.member_id, member.client_id, member.client_host, false});
  }
  return all;
}

}  // namespace ratchet
