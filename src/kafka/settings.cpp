// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "kafka/settings.hpp"

#include <algorithm>
#include <utility>

#include "kafka/properties.hpp"

namespace ratchet {

namespace {

/// librdkafka counts values, not the ~350 bytes that it keeps beside each record: half of the budget is for
/// the one, half for the other.
constexpr std::size_t k_share_of_queue = 2;
/// One fetch of each broker may be under way when the queue is full, and grows when it is decompressed.
constexpr std::size_t k_share_of_fetch = 32;
constexpr std::size_t k_queue_kbytes_least = 1024;
constexpr std::size_t k_queue_kbytes_most = 2'097'151;  // librdkafka's limit
constexpr std::size_t k_fetch_bytes_least = std::size_t{1} << 20;
constexpr std::size_t k_fetch_bytes_most = 52'428'800;  // librdkafka's default
/// A partition is fetched while fewer records than this are at hand, of all partitions together. The count
/// bounds the overhead of small records, as the bytes bound the large ones.
constexpr std::size_t k_bytes_per_queued_message = 700;  // twice what librdkafka adds
constexpr std::size_t k_queued_messages_least = 10'000;
constexpr std::size_t k_queued_messages_most = 1'000'000;

/// How large a record may be is for the brokers to say: they hand over a batch of any size where it is the
/// first one asked for. A response above this limit (by default 100 MB, less than brokers take by default)
/// would be dropped together with its connection, and asked for again, for ever.
constexpr const char* k_largest_response = "2147483647";

/// Once the queue of fetched records is full, a partition is left alone for a second. Not with these.
void fetch_without_pauses(kafka_properties& all) {
  // So soon it is noticed that partitions were added, or that a topic was deleted; the default is 5 minutes.
  const char* look_at_topics_ms = "100";
  constexpr const char* k_full_queue_pause = "fetch.queue.backoff.ms";
  constexpr const char* k_pause_milliseconds = "10";
  if (check_property(k_full_queue_pause, k_pause_milliseconds).verdict == property_verdict::fine) {
    all.emplace(k_full_queue_pause, k_pause_milliseconds);
  } else {
    // Before 2.2 it is looked at again when the broker's thread wakes up, which it does once a second unless
    // there is something to send. The small question for the topics' metadata wakes it: with a queue of 64
    // MiB and a million records a second the owner had nothing to do for 8 % of the time with 100 ms, for 2 %
    // with 30.
    look_at_topics_ms = "30";
  }
  all.emplace("topic.metadata.refresh.interval.ms", look_at_topics_ms);
}

kafka_properties defaults_for(std::size_t memory_bytes) {
  const auto text = [](std::size_t value, std::size_t least, std::size_t most) {
    return std::to_string(std::clamp(value, least, most));
  };
  kafka_properties all{
      {"client.id", "ratchet"},
      {"session.timeout.ms", "45000"},
      // After an outage delivery goes on 0.3 s behind the broker; with the default of 10 s it may take 10 s.
      {"reconnect.backoff.max.ms", "500"},
      {"check.crcs", "true"},
      {"receive.message.max.bytes", k_largest_response},
      {"queued.max.messages.kbytes",
       text(memory_bytes / k_share_of_queue / 1024, k_queue_kbytes_least, k_queue_kbytes_most)},
      {"queued.min.messages",
       text(memory_bytes / k_bytes_per_queued_message, k_queued_messages_least, k_queued_messages_most)},
      {"fetch.max.bytes", text(memory_bytes / k_share_of_fetch, k_fetch_bytes_least, k_fetch_bytes_most)},
      {"partition.assignment.strategy", "range"},
  };
  fetch_without_pauses(all);
  all.emplace("metadata.max.age.ms", "900000");  // would follow it, and forget topics in an outage
  return all;
}

kafka_properties owned_by_ratchet() {
  return {
      {"enable.auto.commit", "false"},       {"enable.auto.offset.store", "false"},
      {"auto.offset.reset", "error"},        {"enable.partition.eof", "true"},
      {"allow.auto.create.topics", "false"}, {"isolation.level", "read_committed"},
  };
}

}  // namespace

reported<kafka_properties> consumer_settings(const kafka_config& config, std::size_t memory_bytes) {
  problem refused{errc::config_invalid, "some Kafka properties cannot be set", "remove them", {}};
  kafka_properties all = defaults_for(memory_bytes);
  // librdkafka wants fetch.max.bytes >= message.max.bytes and sees to it, unless we name the former.
  if (config.properties.contains("message.max.bytes")) all.erase("fetch.max.bytes");
  for (const auto& [name, value] : config.properties) {
    if (const auto reason = refused_property(name, value)) {
      refused.diagnostics.push_back({{}, 0, 0, "kafka.properties." + name, "cannot be set", *reason});
    }
    all[name] = value;
  }
  if (config.brokers.empty()) {
    refused.diagnostics.push_back({{}, 0, 0, "kafka.brokers", "is missing", "as in [localhost:9092]"});
  }
  if (config.group.empty()) {
    refused.diagnostics.push_back({{}, 0, 0, "kafka.group", "is missing", "name the consumer group"});
  }
  if (!refused.diagnostics.empty()) return refused;
  for (auto& [name, value] : owned_by_ratchet()) all[name] = value;
  all["bootstrap.servers"] = join_brokers(config.brokers);
  all["group.id"] = config.group;
  return all;
}

reported<void> check_settings(const kafka_config& config, std::size_t memory_bytes) {
  RATCHET_TRY(auto&& settings, consumer_settings(config, memory_bytes));
  settings.erase("bootstrap.servers");
  RATCHET_TRY(const auto client,
              kafka_client::make(RD_KAFKA_CONSUMER, settings, std::make_shared<client_callbacks>()));
  kafka_properties publishing = producer_settings(config);
  publishing.erase("bootstrap.servers");
  RATCHET_TRY(const auto producer,
              kafka_client::make(RD_KAFKA_PRODUCER, publishing, std::make_shared<client_callbacks>()));
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

kafka_properties producer_settings(const kafka_config& config) {
  kafka_properties all{
      {"client.id", "ratchet"},
      {"reconnect.backoff.max.ms", "500"},
      {"linger.ms", "5"},
      {"compression.type", "lz4"},
      {"queue.buffering.max.messages", "100000"},
      {"queue.buffering.max.kbytes", "2097151"},
      // A key goes where Java's clients would send it.
      {"partitioner", "murmur2_random"},
      // What is too large is for the brokers to say.
      {"message.max.bytes", "1000000000"},
  };
  for (const auto& [name, value] : config.properties) {
    if (!is_consumer_only(name)) all[name] = value;
  }
  all["enable.idempotence"] = "true";
  all["acks"] = "all";
  all["message.timeout.ms"] = "0";  // never given up: the outbox waits
  all["delivery.report.only.error"] = "false";
  all["bootstrap.servers"] = join_brokers(config.brokers);
  return all;
}

kafka_properties log_writer_settings(const kafka_config& config, const std::string& compression) {
  kafka_properties all = producer_settings(config);
  all["compression.type"] = compression;
  // Records are large already; what waits while requests are under way goes together all the same.
  all["linger.ms"] = "0";
  all["batch.size"] = "1000000";                     // what the topic must take, see wrong_settings()
  all["queue.buffering.max.messages"] = "10000000";  // log_writer has a bound of its own
  // A standby's connections are there when it takes over. librdkafka 2.0.2 looks once a second whether it
  // needs one to a broker that it is not connected to.
  all["enable.sparse.connections"] = "false";
  return all;
}

kafka_properties log_reader_settings(const kafka_config& config) {
  kafka_properties all = groupless_settings(config);
  all["isolation.level"] = "read_uncommitted";
  // Several records of the largest size with one request.
  all["fetch.message.max.bytes"] = "8388608";
  all["queued.max.messages.kbytes"] = "32768";
  all.try_emplace("check.crcs", "true");
  // A broker answers a connection's requests in order. Where nobody appends, as behind an owner that died,
  // the question where the log ends waits for the fetch before it: half a second by default, of each
  // take-over.
  all.try_emplace("fetch.wait.max.ms", "50");
  fetch_without_pauses(all);
  all.try_emplace("metadata.max.age.ms", "900000");  // as for the group's consumer
  return all;
}

kafka_properties groupless_settings(const kafka_config& config) {
  kafka_properties all = config.properties;
  for (const char* of_a_group : {"group.id", "session.timeout.ms", "heartbeat.interval.ms",
                                 "max.poll.interval.ms", "partition.assignment.strategy", "group.instance.id",
                                 "queued.min.messages", "queued.max.messages.kbytes"}) {
    all.erase(of_a_group);
  }
  all.try_emplace("client.id", "ratchet");
  all.try_emplace("reconnect.backoff.max.ms", "500");
  all.try_emplace("receive.message.max.bytes", k_largest_response);
  for (auto& [name, value] : owned_by_ratchet()) all[name] = value;
  all["bootstrap.servers"] = join_brokers(config.brokers);
  return all;
}

}  // namespace ratchet
