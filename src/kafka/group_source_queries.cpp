// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <string_view>

#include "kafka/bounds_query.hpp"
#include "kafka/group_source.hpp"
#include "kafka/kafka_error.hpp"

namespace ratchet {

namespace {

constexpr std::size_t k_metadata_most = 4096;  // what a broker takes, by default
/// How the ids of librdkafka's own brokers begin. They list no groups, and once they were asked to,
/// librdkafka 2.0.2 does not come to the end of closing the client.
constexpr std::string_view k_embedded_cluster = "mockCluster";

std::chrono::milliseconds until(std::chrono::steady_clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return std::max(left, std::chrono::milliseconds{1});
}

void on_commit(rd_kafka_t*, rd_kafka_resp_err_t code, rd_kafka_topic_partition_list_t* list, void* opaque) {
  static_cast<source_events*>(opaque)->on_commit(code, list);
}

}  // namespace

std::error_code group_source::failed(int code) const {
  events_->complain(kafka_error(code), kafka_error(code).message());
  return to_port_error(kafka_error(code));
}

std::error_code group_source::group_failed(int code) const {
  const std::error_code meant = failed(code);
  return meant == errc::topic_missing ? make_error_code(errc::source_unavailable) : meant;
}

std::optional<complaint> group_source::take_complaint() {
  // Errors are told to whoever polls. Nothing is assigned as long as questions are asked before it joins, so
  // that no record can come; later the session polls by itself.
  constexpr int k_most = 100;
  if (client_ != nullptr && next_.empty()) {
    for (int i = 0; i < k_most && !events_->barrier(); ++i) {
      const kafka_handle<rd_kafka_message_t> message{rd_kafka_consumer_poll(client_->get(), 0)};
      if (message == nullptr) break;
      if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR)
        events_->on_message_error(client_->get(), *message, false);
    }
  }
  return events_->take_complaint();
}

result<std::string> group_source::cluster_id(std::chrono::milliseconds timeout) {
  RATCHET_TRY(usable());
  char* id = rd_kafka_clusterid(client_->get(), to_ms(timeout));
  if (id == nullptr) return errc::source_unavailable;
  std::string copy{id};
  rd_kafka_mem_free(client_->get(), id);
  return copy;
}

result<std::vector<topic_partition>> group_source::partitions(std::span<const std::string> topics,
                                                              std::chrono::milliseconds timeout) {
  RATCHET_TRY(usable());
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  std::vector<topic_partition> all;
  for (const std::string& topic : topics) {
    RATCHET_TRY(const int count, partition_count(topic, until(deadline)));
    for (int i = 0; i < count; ++i) all.push_back({topic, partition_id{i}});
  }
  std::sort(all.begin(), all.end());
  return all;
}

result<int> group_source::partition_count(const std::string& topic, std::chrono::milliseconds timeout) const {
  const kafka_handle<rd_kafka_topic_t> handle{rd_kafka_topic_new(client_->get(), topic.c_str(), nullptr)};
  if (handle == nullptr) return to_port_error(kafka_error(rd_kafka_last_error()));
  const rd_kafka_metadata_t* raw = nullptr;
  const auto code = rd_kafka_metadata(client_->get(), 0, handle.get(), &raw, to_ms(timeout));
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return failed(code);
  const kafka_handle<const rd_kafka_metadata_t> metadata{raw};
  if (metadata->topic_cnt != 1) return errc::topic_missing;
  const rd_kafka_metadata_topic& found = metadata->topics[0];
  if (found.err != RD_KAFKA_RESP_ERR_NO_ERROR) return failed(found.err);
  if (found.partition_cnt == 0) return errc::topic_missing;
  return found.partition_cnt;
}

result<std::vector<committed_offset>> group_source::committed(std::span<const topic_partition> partitions,
                                                              std::chrono::milliseconds timeout) {
  RATCHET_TRY(usable());
  if (partitions.empty()) return std::vector<committed_offset>{};
  const partition_list list{client_, partitions.size()};
  for (const topic_partition& where : partitions) list.add(where);
  const auto code = rd_kafka_committed(client_->get(), list.get(), to_ms(timeout));
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return group_failed(code);
  std::vector<committed_offset> all;
  for (int i = 0; i < list.get()->cnt; ++i) {
    const rd_kafka_topic_partition_t& entry = list.get()->elems[i];
    if (entry.err != RD_KAFKA_RESP_ERR_NO_ERROR) return group_failed(entry.err);
    committed_offset found{to_topic_partition(entry), std::nullopt, {}};
    if (entry.offset >= 0) {
      found.offset = entry.offset;
      if (entry.metadata != nullptr) {
        found.metadata.assign(static_cast<const char*>(entry.metadata), entry.metadata_size);
      }
    }
    all.push_back(std::move(found));
  }
  return all;
}

/// Empty: the group has not answered to the joining yet.
std::string group_source::member_id() const {
  if (!joined_) return {};
  char* id = rd_kafka_memberid(client_->get());
  if (id == nullptr) return {};
  std::string copy{id};
  rd_kafka_mem_free(client_->get(), id);
  return copy;
}

result<std::vector<group_member>> group_source::members(std::chrono::milliseconds timeout) {
  RATCHET_TRY(const std::string cluster, cluster_id(timeout));
  if (cluster.starts_with(k_embedded_cluster)) return kafka_error(RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE);
  RATCHET_TRY(record_probe * reader, own_reader());
  RATCHET_TRY(auto all, reader->members_of(config_.group, timeout));
  const std::string own = member_id();
  for (group_member& m : all) m.is_this = !own.empty() && m.id == own;
  return all;
}

std::vector<result<log_bounds>> group_source::bounds(std::span<const topic_partition> all,
                                                     std::chrono::milliseconds timeout) {
  const auto reader = own_reader();
  if (!reader) return {all.size(), result<log_bounds>{reader.error()}};
  // In this order: what ends below an end that was there before is held back, and did not come in between.
  const auto high_ends = reader.value()->high_ends(all, timeout);
  auto found = query_bounds(client_, all, timeout);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!high_ends[i]) {
      found[i] = high_ends[i].error();
    } else if (found[i]) {
      found[i].value().high = high_ends[i].value();
    }
  }
  return found;
}

/// Errors: as usable() says.
result<record_probe*> group_source::own_reader() {
  RATCHET_TRY(usable());
  if (reader_ == nullptr) {
    auto made = record_probe::make(config_, options_.log);
    if (!made) return made.error().code;
    reader_ = std::move(made).value();
  }
  return reader_.get();
}

void group_source::ask_bounds(std::span<const topic_partition> of) {
  if (client_ == nullptr) return;
  std::vector<bounds_asker::question> questions;
  bool all_are_fetched = true;
  for (const topic_partition& where : of) {
    const bool is_fetched =
        next_.contains(table_->intern(where.topic, where.partition)) && !paused_.contains(where);
    questions.push_back({where, is_fetched ? std::optional{known_end(where).value_or(0)} : std::nullopt});
    all_are_fetched = all_are_fetched && is_fetched;
  }
  if (!all_are_fetched && uncommitted_ == nullptr) {
    // Without a log: what is amiss is told by the other client already.
    if (auto made = make_uncommitted_client(config_, {})) uncommitted_ = std::move(made).value();
  }
  asker_.ask(client_, uncommitted_, std::move(questions));
}

std::optional<std::int64_t> group_source::known_end(const topic_partition& where) const {
  if (client_ == nullptr) return std::nullopt;
  std::int64_t start = 0;
  std::int64_t end = 0;
  // Out of the last fetch's answer. Negative until there was one.
  const auto code = rd_kafka_get_watermark_offsets(client_->get(), where.topic.c_str(),
                                                   static_cast<std::int32_t>(where.partition), &start, &end);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR || end < 0) return std::nullopt;
  return end;
}

std::vector<result<std::optional<owned_record>>> group_source::read_at(std::span<const position> all,
                                                                       std::chrono::milliseconds timeout) {
  const auto reader = own_reader();
  if (!reader) return {all.size(), result<std::optional<owned_record>>{reader.error()}};
  return reader.value()->read_at(all, timeout);
}

/// Metadata is kept to printable ASCII of a size that every broker takes.
result<partition_list> group_source::commit_list(std::span<const commit_request> requests) const {
  partition_list list{client_, requests.size()};
  for (const commit_request& request : requests) {
    const bool plain = std::all_of(request.metadata.begin(), request.metadata.end(),
                                   [](char c) { return c >= ' ' && c <= '~'; });
    if (!plain || request.metadata.size() > k_metadata_most || request.next_offset < 0) {
      return std::make_error_code(std::errc::invalid_argument);
    }
    rd_kafka_topic_partition_t& entry = list.add(request.where, request.next_offset);
    if (request.metadata.empty()) continue;
    entry.metadata = rd_kafka_mem_malloc(client_->get(), request.metadata.size());
    entry.metadata_size = request.metadata.size();
    std::memcpy(entry.metadata, request.metadata.data(), request.metadata.size());
  }
  return list;
}

result<void> group_source::commit(std::span<const commit_request> requests) {
  RATCHET_TRY(usable());
  if (events_->commit_under_way) return kafka_error(RD_KAFKA_RESP_ERR__PREV_IN_PROGRESS);
  RATCHET_TRY(auto&& list, commit_list(requests));
  const auto code =
      rd_kafka_commit_queue(client_->get(), list.get(), client_->queue(), on_commit, events_.get());
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return to_port_error(kafka_error(code));
  events_->commit_under_way = true;
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

result<void> group_source::commit_and_wait(std::span<const commit_request> requests,
                                           std::chrono::milliseconds timeout) {
  RATCHET_TRY(usable());
  RATCHET_TRY(auto&& list, commit_list(requests));
  // A queue of its own: what comes for poll() must not be taken here, and the wait must be bounded.
  const kafka_handle<rd_kafka_queue_t> queue{rd_kafka_queue_new(client_->get())};
  auto code = rd_kafka_commit_queue(client_->get(), list.get(), queue.get(), nullptr, nullptr);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return to_port_error(kafka_error(code));
  const kafka_handle<rd_kafka_event_t> event{rd_kafka_queue_poll(queue.get(), to_ms(timeout))};
  if (event == nullptr) return errc::source_unavailable;  // it may still land
  const commit_result done =
      read_commit(rd_kafka_event_error(event.get()), rd_kafka_event_topic_partition_list(event.get()));
  if (done.code) return group_failed(done.code.value());
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

}  // namespace ratchet
