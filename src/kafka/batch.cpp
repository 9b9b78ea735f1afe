// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "kafka/batch.hpp"

#include <string>

#include "kafka/message_time.hpp"

namespace ratchet {

namespace {

std::optional<std::string_view> view_of(const void* data, std::size_t size) noexcept {
  if (data == nullptr) return std::nullopt;
  return std::string_view{static_cast<const char*>(data), size};
}

}  // namespace

const topic_partition* partition_table::intern(std::string_view topic, partition_id partition) {
  return &*partitions_.insert({std::string{topic}, partition}).first;
}

void kafka_batch::reserve(std::size_t count) {
  messages_.reserve(count);
  records_.reserve(count);
  if (wants_headers_) header_ends_.reserve(count);
}

const topic_partition* kafka_batch::where_of(const rd_kafka_message_t& message) {
  const partition_id partition{message.partition};
  if (message.rkt == last_topic_ && last_where_ != nullptr && last_where_->partition == partition) {
    return last_where_;
  }
  last_where_ = table_->intern(rd_kafka_topic_name(message.rkt), partition);
  last_topic_ = message.rkt;
  return last_where_;
}

void kafka_batch::add(kafka_handle<rd_kafka_message_t> message, const topic_partition* where) {
  record next{.where = where,
              .offset = message->offset,
              .time = time_of(*message),
              .key = view_of(message->key, message->key_len),
              .value = view_of(message->payload, message->len),
              .headers = {}};
  if (wants_headers_) add_headers(*message);
  bytes_ += message->key_len + message->len;
  records_.push_back(next);
  messages_.push_back(std::move(message));
}

void kafka_batch::add_headers(const rd_kafka_message_t& message) {
  rd_kafka_headers_t* list = nullptr;  // the message's
  if (rd_kafka_message_headers(&message, &list) == RD_KAFKA_RESP_ERR_NO_ERROR) {
    const char* name = nullptr;
    const void* value = nullptr;
    std::size_t size = 0;
    for (std::size_t i = 0;
         rd_kafka_header_get_all(list, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR; ++i) {
      headers_.push_back({name, view_of(value, size)});
    }
  }
  header_ends_.push_back(headers_.size());
}

void kafka_batch::finish() {
  if (!wants_headers_) return;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    records_[i].headers = std::span{headers_}.subspan(begin, header_ends_[i] - begin);
    begin = header_ends_[i];
  }
}

}  // namespace ratchet
