// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "peer_consumer.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace peers {

void die(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

consumer::consumer(const std::string& brokers, std::string topic, const std::string& group)
    : topic_{std::move(topic)} {
  std::array<char, 512> why{};
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  const auto set = [&](const char* name, const std::string& value) {
    if (rd_kafka_conf_set(conf, name, value.c_str(), why.data(), why.size()) != RD_KAFKA_CONF_OK)
      die(why.data());
  };
  set("bootstrap.servers", brokers);
  set("group.id", group);
  set("enable.auto.commit", "false");
  set("auto.offset.reset", "earliest");
  set("fetch.wait.max.ms", "10");
  set("queued.min.messages", "1000000");
  set("queued.max.messages.kbytes", "262144");
  handle_ = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why.data(), why.size());
  if (handle_ == nullptr) die(why.data());
  rd_kafka_poll_set_consumer(handle_);
  queue_ = rd_kafka_queue_get_consumer(handle_);
}

consumer::~consumer() {
  rd_kafka_queue_destroy(queue_);
  rd_kafka_consumer_close(handle_);
  rd_kafka_destroy(handle_);
}

void consumer::subscribe() {
  rd_kafka_topic_partition_list_t* list = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(list, topic_.c_str(), RD_KAFKA_PARTITION_UA);
  const auto code = rd_kafka_subscribe(handle_, list);
  rd_kafka_topic_partition_list_destroy(list);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) die(rd_kafka_err2str(code));
}

void consumer::assign(const std::vector<std::pair<std::int32_t, std::int64_t>>& from) {
  rd_kafka_topic_partition_list_t* list = rd_kafka_topic_partition_list_new(static_cast<int>(from.size()));
  for (const auto& [partition, offset] : from) {
    rd_kafka_topic_partition_list_add(list, topic_.c_str(), partition)->offset = offset;
  }
  const auto code = rd_kafka_assign(handle_, list);
  rd_kafka_topic_partition_list_destroy(list);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) die(rd_kafka_err2str(code));
}

std::int32_t consumer::partitions() const {
  const rd_kafka_metadata_t* found = nullptr;
  rd_kafka_topic_t* topic = rd_kafka_topic_new(handle_, topic_.c_str(), nullptr);
  const auto code = rd_kafka_metadata(handle_, 0, topic, &found, 10'000);
  rd_kafka_topic_destroy(topic);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) die(rd_kafka_err2str(code));
  const std::int32_t count = found->topic_cnt == 1 ? found->topics[0].partition_cnt : 0;
  rd_kafka_metadata_destroy(found);
  if (count == 0) die("there is no topic " + topic_);
  return count;
}

std::vector<message> consumer::poll(std::size_t most, std::chrono::milliseconds wait) {
  std::vector<rd_kafka_message_t*> got(most);
  const auto count = rd_kafka_consume_batch_queue(queue_, static_cast<int>(wait.count()), got.data(), most);
  std::vector<message> messages;
  messages.reserve(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  for (ssize_t i = 0; i < count; ++i) {
    message one{got[static_cast<std::size_t>(i)]};
    if (one->err != RD_KAFKA_RESP_ERR_NO_ERROR) continue;  // librdkafka goes on by itself
    const auto partition = static_cast<std::size_t>(one->partition);
    if (next_.size() <= partition) next_.resize(partition + 1, -1);
    next_[partition] = one->offset + 1;
    messages.push_back(std::move(one));
  }
  return messages;
}

void consumer::commit() {
  rd_kafka_topic_partition_list_t* list = rd_kafka_topic_partition_list_new(static_cast<int>(next_.size()));
  for (std::size_t partition = 0; partition < next_.size(); ++partition) {
    if (next_[partition] < 0) continue;
    rd_kafka_topic_partition_list_add(list, topic_.c_str(), static_cast<std::int32_t>(partition))->offset =
        next_[partition];
  }
  const auto code = list->cnt == 0 ? RD_KAFKA_RESP_ERR_NO_ERROR : rd_kafka_commit(handle_, list, 0);
  rd_kafka_topic_partition_list_destroy(list);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) die(rd_kafka_err2str(code));
}

}  // namespace peers
