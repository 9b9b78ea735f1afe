// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "kafka/source_events.hpp"

#include <array>
#include <span>

#include "kafka/kafka_error.hpp"
#include "ports/error_class.hpp"

namespace ratchet {

namespace {

std::span<const rd_kafka_topic_partition_t> entries_of(const rd_kafka_topic_partition_list_t* list) {
  if (list == nullptr) return {};
  return {list->elems, static_cast<std::size_t>(list->cnt)};
}

std::vector<topic_partition> partitions_of(const rd_kafka_topic_partition_list_t* list) {
  std::vector<topic_partition> all;
  for (const auto& entry : entries_of(list)) all.push_back(to_topic_partition(entry));
  return all;
}

/// Without "(after 3ms in state CONNECT, 1 identical error(s) suppressed)", which helps nobody.
std::string without_state(std::string text) {
  if (const std::size_t at = text.rfind(" (after "); at != std::string::npos && text.ends_with(')'))
    text.resize(at);
  return text;
}

}  // namespace

topic_partition to_topic_partition(const rd_kafka_topic_partition_t& entry) {
  return {entry.topic, partition_id{entry.partition}};
}

void source_events::on_rebalance(rd_kafka_t* handle, rd_kafka_resp_err_t code,
                                 rd_kafka_topic_partition_list_t* list) {
  if (closing_) {
    rd_kafka_assign(handle, nullptr);
    return;
  }
  switch (code) {
    case RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS:
      wanted_ = answer::assign;
      notices_.emplace_back(notice::assigned{partitions_of(list)});
      break;
    case RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS:
      wanted_ = answer::unassign;
      notices_.emplace_back(notice::revoked{partitions_of(list), rd_kafka_assignment_lost(handle) != 0});
      break;
    default:
      // librdkafka says: not an assignment at all, sync the state by giving everything back.
      rd_kafka_assign(handle, nullptr);
      notices_.emplace_back(notice::trouble{kafka_error(code), rd_kafka_err2str(code)});
      return;
  }
  barrier_ = true;
  // So that the poll under way returns before it hands out anything newer.
  if (!stays_in_call_) rd_kafka_yield(handle);
}

void source_events::fatal(rd_kafka_t* handle, const char* reason) {
  std::array<char, 512> text{};
  const rd_kafka_resp_err_t code = rd_kafka_fatal_error(handle, text.data(), text.size());
  notices_.emplace_back(notice::fatal{
      code != RD_KAFKA_RESP_ERR_NO_ERROR ? kafka_error(code) : kafka_error(RD_KAFKA_RESP_ERR__FATAL),
      mask()(text[0] != '\0' ? text.data() : reason)});
  barrier_ = true;
}

void source_events::on_error(rd_kafka_t* handle, rd_kafka_resp_err_t code, const char* reason) {
  if (closing_) return;
  if (code == RD_KAFKA_RESP_ERR__FATAL) {
    fatal(handle, reason);
  } else {
    std::string text = mask()(words_of_error(kafka_error(code), reason));
    complain(kafka_error(code), text);
    notices_.emplace_back(
        notice::trouble{kafka_error(code), std::move(text), access_kind_of(kafka_error(code))});
  }
}

void source_events::complain(const std::error_code& code, std::string text, std::string topic) {
  const auto access = access_kind_of(code);
  // That all brokers are down follows on what brought them down, and says less.
  const bool tells_less = code == kafka_error(RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN);
  if (complaint_ && (tells_less || (complaint_->access && !access))) return;
  complaint_ = complaint{code, access, without_state(std::move(text)), std::move(topic)};
}

std::optional<complaint> source_events::take_complaint() {
  auto said = std::exchange(complaint_, std::nullopt);
  const bool tells_more = said && said->code != kafka_error(RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN);
  if (std::string failure = last_failure(); !tells_more && !failure.empty()) {
    said = complaint{
        kafka_error(RD_KAFKA_RESP_ERR__TRANSPORT), std::nullopt, without_state(std::move(failure)), {}};
  }
  return said;
}

void source_events::on_commit(rd_kafka_resp_err_t code, const rd_kafka_topic_partition_list_t* list) {
  if (closing_) return;
  commit_under_way = false;
  commit_result done = read_commit(code, list);
  notices_.emplace_back(notice::commit_done{std::move(done.offsets), done.code, access_kind_of(done.code),
                                            std::move(done.topic)});
}

void source_events::on_message_error(rd_kafka_t* handle, const rd_kafka_message_t& message, bool assigned) {
  topic_partition where{message.rkt != nullptr ? rd_kafka_topic_name(message.rkt) : "",
                        partition_id{message.partition}};
  const char* text = rd_kafka_message_errstr(&message);
  const std::error_code code = kafka_error(message.err);
  if (message.err == RD_KAFKA_RESP_ERR__FATAL) {
    fatal(handle, text);
  } else if (message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
    if (assigned) notices_.emplace_back(notice::end_of_partition{std::move(where), message.offset});
  } else if (message.err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET ||
             message.err == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE) {
    if (assigned) notices_.emplace_back(notice::out_of_range{std::move(where), text});
  } else if (classify(code) == error_class::missing) {
    notices_.emplace_back(notice::topic_gone{std::move(where), text});
  } else if (code == source_condition::unreadable && message.partition >= 0) {
    if (assigned) notices_.emplace_back(notice::unreadable{std::move(where), message.offset, text});
  } else {
    complain(code, text, where.topic);
    notices_.emplace_back(notice::trouble{code, text, access_kind_of(code), std::move(where.topic)});
  }
}

commit_result read_commit(rd_kafka_resp_err_t code, const rd_kafka_topic_partition_list_t* list) {
  commit_result out;
  out.code = kafka_error(code);
  for (const auto& entry : entries_of(list)) {
    if (entry.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      if (!out.code) {
        out.code = kafka_error(entry.err);
        out.topic = entry.topic;
      }
      continue;
    }
    // Some errors of the whole request leave every partition's own at "no error".
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    out.offsets.push_back({to_topic_partition(entry), entry.offset,
                           std::string{static_cast<const char*>(entry.metadata), entry.metadata_size}});
  }
  return out;
}

}  // namespace ratchet
