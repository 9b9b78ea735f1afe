// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "kafka/raw_consume.hpp"

#include "kafka/client.hpp"
#include "kafka/kafka_error.hpp"
#include "kafka/settings.hpp"
#include "ports/error_class.hpp"

namespace ratchet {

namespace {

using clock = std::chrono::steady_clock;

result<std::shared_ptr<kafka_client>> connect(const std::string& brokers,
                                              const std::map<std::string, std::string>& properties) {
  kafka_properties settings = groupless_settings({{brokers}, "", properties});
  // assign() demands a group id; without subscribe() and commits no broker hears of the group.
  settings["group.id"] = "ratchet-raw";
  settings["auto.offset.reset"] = "earliest";
  settings["fetch.wait.max.ms"] = "10";
  settings["queued.min.messages"] = "1000000";
  settings["queued.max.messages.kbytes"] = "2000000";
  for (const auto& [name, value] : properties) settings[name] = value;
  auto made = kafka_client::make(RD_KAFKA_CONSUMER, settings, std::make_shared<client_callbacks>());
  if (!made) return made.error().code;
  return std::move(made).value();
}

result<int> partitions_of(const std::shared_ptr<kafka_client>& client, const std::string& topic,
                          std::chrono::milliseconds timeout) {
  const kafka_handle<rd_kafka_topic_t> handle{rd_kafka_topic_new(client->get(), topic.c_str(), nullptr)};
  const rd_kafka_metadata_t* raw = nullptr;
  const auto code = rd_kafka_metadata(client->get(), 0, handle.get(), &raw, to_ms(timeout));
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return to_port_error(kafka_error(code));
  const kafka_handle<const rd_kafka_metadata_t> metadata{raw};
  if (metadata->topic_cnt != 1 || metadata->topics[0].partition_cnt == 0) return errc::topic_missing;
  if (const auto error = metadata->topics[0].err; error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return to_port_error(kafka_error(error));
  }
  return metadata->topics[0].partition_cnt;
}

result<raw_figures> drain(const std::shared_ptr<kafka_client>& client, int partitions,
                          std::uint64_t expected_records, std::chrono::milliseconds patience) {
  raw_figures figures;
  clock::time_point first;
  clock::time_point last;
  int ended = 0;
  while (figures.records < expected_records && ended < partitions) {
    const kafka_handle<rd_kafka_message_t> message{rd_kafka_consumer_poll(client->get(), to_ms(patience))};
    if (message == nullptr) return errc::source_unavailable;
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      if (figures.records++ == 0) first = clock::now();
      figures.bytes += message->len + message->key_len;
      if (figures.records == expected_records) last = clock::now();
    } else if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
      ++ended;
      if (figures.records != 0) last = clock::now();
    } else if (classify(kafka_error(message->err)) != error_class::away) {
      return to_port_error(kafka_error(message->err));
    }
  }
  figures.seconds = std::chrono::duration<double>(last - first).count();
  return figures;
}

/// From the beginning of every partition; returns how many there are.
result<int> start_reading(const std::shared_ptr<kafka_client>& client, const std::string& topic,
                          std::chrono::milliseconds timeout) {
  RATCHET_TRY(const int partitions, partitions_of(client, topic, timeout));
  const partition_list list{client, static_cast<std::size_t>(partitions)};
  for (int i = 0; i < partitions; ++i) list.add({topic, partition_id{i}}, RD_KAFKA_OFFSET_BEGINNING);
  if (const auto code = rd_kafka_assign(client->get(), list.get()); code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return to_port_error(kafka_error(code));
  }
  return partitions;
}

}  // namespace

result<raw_figures> raw_consume(const std::string& brokers, const std::string& topic,
                                const std::map<std::string, std::string>& properties,
                                std::uint64_t expected_records, std::chrono::milliseconds patience) {
  RATCHET_TRY(auto&& client, connect(brokers, properties));
  RATCHET_TRY(const int partitions, start_reading(client, topic, patience));
  return drain(client, partitions, expected_records, patience);
}

result<void> raw_follow(const std::string& brokers, const std::string& topic, const raw_arrival& told,
                        const std::atomic<bool>& over) {
  constexpr std::chrono::milliseconds k_look_up{std::chrono::seconds{30}};
  constexpr std::chrono::milliseconds k_poll{50};
  RATCHET_TRY(auto&& client, connect(brokers, {}));
  RATCHET_TRY(start_reading(client, topic, k_look_up));
  while (!over.load(std::memory_order_relaxed)) {
    const kafka_handle<rd_kafka_message_t> message{rd_kafka_consumer_poll(client->get(), to_ms(k_poll))};
    if (message == nullptr || message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) continue;
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      told(partition_id{message->partition}, message->offset);
    } else if (classify(kafka_error(message->err)) != error_class::away) {
      return to_port_error(kafka_error(message->err));
    }
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

}  // namespace ratchet
