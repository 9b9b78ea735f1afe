// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "kafka/log_topic.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <map>
#include <memory>
#include <utility>

#include "core/typed_command.hpp"
#include "kafka/admin_request.hpp"
#include "kafka/client.hpp"
#include "kafka/kafka_error.hpp"
#include "kafka/settings.hpp"

namespace ratchet {

namespace {

using std::chrono::milliseconds;

/// So that Kafka deletes nothing of it.
struct kept_setting {
  const char* name;
  const char* wanted;
  std::string log_topic::*found;
};
constexpr kept_setting k_settings[] = {{"cleanup.policy", "delete", &log_topic::cleanup_policy},
                                       {"retention.ms", "-1", &log_topic::retention_ms},
                                       {"retention.bytes", "-1", &log_topic::retention_bytes}};
/// For a batch of a log's writer, see log_writer_settings(). By default topics have a little more.
constexpr const char* k_message_bytes_name = "max.message.bytes";
constexpr std::uint64_t k_message_bytes_least = std::uint64_t{1} << 20U;
constexpr std::uint64_t k_message_bytes_made = 1'048'588;

result<std::shared_ptr<kafka_client>> connect(const kafka_config& config) {
  kafka_properties settings = producer_settings(config);
  settings["client.id"] = "ratchet-topics";
  auto made = kafka_client::make(RD_KAFKA_PRODUCER, settings, std::make_shared<client_callbacks>());
  if (!made) return made.error().code;
  return std::move(made).value();
}

/// At least two of them must have a record before it is acknowledged, where there are two.
[[nodiscard]] int least_in_sync(int replicas) {
  return std::min(replicas, 2);
}

/// As Kafka's tools take them.
[[nodiscard]] std::map<std::string, std::string> settings_to_make(int replicas) {
  std::map<std::string, std::string> all{{"min.insync.replicas", std::to_string(least_in_sync(replicas))}};
  for (const kept_setting& s : k_settings) all[s.name] = s.wanted;
  all[k_message_bytes_name] = std::to_string(k_message_bytes_made);  // the brokers' own may be smaller
  return all;
}

/// One that is to be changed.
struct wrong_setting {
  std::string name;
  std::string wanted;
  std::string found;
};

[[nodiscard]] std::vector<wrong_setting> settings_to_change(const log_topic& t) {
  std::vector<wrong_setting> wrong;
  for (const kept_setting& s : k_settings) {
    if (t.*s.found != s.wanted) wrong.push_back({s.name, s.wanted, t.*s.found});
  }
  if (t.max_message_bytes != 0 && t.max_message_bytes < k_message_bytes_least)
    wrong.push_back(
        {k_message_bytes_name, std::to_string(k_message_bytes_made), std::to_string(t.max_message_bytes)});
  return wrong;
}

/// Its partitions and replicas; none: it is not there.
[[nodiscard]] result<std::optional<log_topic>> look_up(const std::shared_ptr<kafka_client>& client,
                                                       const std::string& topic, milliseconds timeout) {
  const kafka_handle<rd_kafka_topic_t> handle{rd_kafka_topic_new(client->get(), topic.c_str(), nullptr)};
  const rd_kafka_metadata_t* raw = nullptr;
  RATCHET_TRY(to_result(rd_kafka_metadata(client->get(), 0, handle.get(), &raw, to_ms(timeout))));
  const kafka_handle<const rd_kafka_metadata_t> metadata{raw};
  if (metadata->topic_cnt != 1) return errc::source_unavailable;
  const rd_kafka_metadata_topic& found = metadata->topics[0];
  if (found.err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || found.err == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC)
    return std::optional<log_topic>{};
  RATCHET_TRY(to_result(found.err));
  log_topic out;
  out.partitions = found.partition_cnt;
  for (int i = 0; i < found.partition_cnt; ++i)
    out.replicas = std::max(out.replicas, found.partitions[i].replica_cnt);
  return std::optional{out};
}

[[nodiscard]] result<std::map<std::string, std::string>> settings_of(
    const std::shared_ptr<kafka_client>& client, const std::string& topic, milliseconds timeout) {
  const admin_handle<rd_kafka_ConfigResource_t> asked{
      rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str())};
  const admin_request request{client, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, timeout};
  rd_kafka_ConfigResource_t* list[] = {asked.get()};
  rd_kafka_DescribeConfigs(client->get(), list, 1, request.options.get(), request.queue.get());
  RATCHET_TRY(const auto event, request.answer());
  std::size_t count = 0;
  const auto* found =
      rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(event.get()), &count);
  if (count != 1) return errc::source_unavailable;
  RATCHET_TRY(to_result(rd_kafka_ConfigResource_error(found[0])));
  std::map<std::string, std::string> all;
  const auto* entries = rd_kafka_ConfigResource_configs(found[0], &count);
  for (std::size_t i = 0; i < count; ++i) {
    const char* value = rd_kafka_ConfigEntry_value(entries[i]);
    all[rd_kafka_ConfigEntry_name(entries[i])] = value == nullptr ? "" : value;
  }
  return all;
}

}  // namespace

result<std::optional<log_topic>> find_log_topic(const kafka_config& config, const std::string& topic,
                                                milliseconds timeout) {
  RATCHET_TRY(const auto client, connect(config));
  RATCHET_TRY(auto found, look_up(client, topic, timeout));
  if (!found) return found;
  RATCHET_TRY(const auto set, settings_of(client, topic, timeout));
  const auto value = [&set](const char* name) {
    const auto at = set.find(name);
    return at == set.end() ? std::string{} : at->second;
  };
  for (const kept_setting& s : k_settings) (*found).*s.found = value(s.name);
  const std::string least = value("min.insync.replicas");
  std::from_chars(least.data(), least.data() + least.size(), found->min_insync_replicas);
  const std::string largest = value(k_message_bytes_name);
  std::from_chars(largest.data(), largest.data() + largest.size(), found->max_message_bytes);
  return found;
}

result<void> make_log_topic(const kafka_config& config, const std::string& topic, int replicas,
                            milliseconds timeout) {
  RATCHET_TRY(const auto client, connect(config));
  constexpr int k_partitions = 1;
  return request_topic(client, topic, k_partitions, replicas, settings_to_make(replicas), timeout);
}

result<int> count_brokers(const kafka_config& config, milliseconds timeout) {
  RATCHET_TRY(const auto client, connect(config));
  const rd_kafka_metadata_t* raw = nullptr;
  RATCHET_TRY(to_result(rd_kafka_metadata(client->get(), 0, nullptr, &raw, to_ms(timeout))));
  const kafka_handle<const rd_kafka_metadata_t> metadata{raw};
  return metadata->broker_cnt;
}

result<void> delete_records(const kafka_config& config, const topic_partition& of, std::int64_t below,
                            milliseconds timeout) {
  RATCHET_TRY(const auto client, connect(config));
  return request_deletion(client, of, below, timeout);
}

std::vector<std::string> wrong_settings(const log_topic& t) {
  std::vector<std::string> wrong;
  if (t.partitions != 1)
    wrong.push_back("one partition, it has " + std::to_string(t.partitions) + " (use another topic)");
  for (const wrong_setting& s : settings_to_change(t))
    wrong.push_back(s.name + "=" + s.wanted + ", it has " + s.found);
  return wrong;
}

std::optional<std::string> command_to_change(const kafka_config& config, const std::string& topic,
                                             const log_topic& t) {
  const std::vector<wrong_setting> all = settings_to_change(t);
  if (all.empty()) return std::nullopt;
  std::string list;
  for (const wrong_setting& s : all) list += (list.empty() ? "" : ",") + s.name + "=" + s.wanted;
  return "kafka-configs.sh --bootstrap-server " + join_brokers(config.brokers) +
         " --alter --entity-type topics --entity-name " + topic + " --add-config " + list;
}

std::vector<std::string> risky_settings(const log_topic& t) {
  std::vector<std::string> risky;
  if (t.replicas < 3) {
    risky.push_back("it has " + std::to_string(t.replicas) +
                    (t.replicas == 1
                         ? " replica: a broker's lost disk takes confirmed steps with it"
                         : " replicas: with one broker away nothing is confirmed, or with one copy alone"));
  }
  if (t.min_insync_replicas < 2) {
    risky.push_back("min.insync.replicas is " + std::to_string(t.min_insync_replicas) +
                    ": a step may be confirmed with one copy alone");
  }
  return risky;
}

std::optional<problem> too_few_brokers(const std::string& topic, int brokers, int replicas) {
  if (brokers >= replicas) return std::nullopt;
  return problem{
      make_error_code(errc::check_failed),
      "cannot make the topic `" + topic + "`: " + std::to_string(replicas) +
          " replicas need as many brokers, and this cluster has " + std::to_string(brokers) + " now",
      "start the other brokers; for a trial, in which a broker's lost disk takes the state with it: " +
          typed_command("topics", "--replicas " + std::to_string(brokers)),
      {}};
}

std::string command_to_make(const kafka_config& config, const std::string& topic, int replicas) {
  std::string text = "kafka-topics.sh --bootstrap-server " + join_brokers(config.brokers) +
                     " --create --topic " + topic + " --partitions 1 --replication-factor " +
                     std::to_string(replicas);
  for (const kept_setting& s : k_settings) text += std::string{" --config "} + s.name + "=" + s.wanted;
  return text + " --config min.insync.replicas=" + std::to_string(least_in_sync(replicas)) + " --config " +
         k_message_bytes_name + "=" + std::to_string(k_message_bytes_made);
}

}  // namespace ratchet
