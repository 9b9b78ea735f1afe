// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "kafka/bounds_query.hpp"

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

#include "kafka/kafka_error.hpp"
#include "kafka/source_events.hpp"
#include "ports/error_class.hpp"

namespace ratchet {

namespace {

using std::chrono::milliseconds;

/// A partition without a leader holds up the others that are asked for with it.
constexpr milliseconds k_longest_of_all{1'000};
/// Where one partition's brokers did not answer, the next ones are not waited for as long.
constexpr milliseconds k_hurried{500};
/// What a client asks a broker for in the place of a time (the protocol's ListOffsets).
constexpr std::int64_t k_first = -2;
constexpr std::int64_t k_behind_last = -1;

/// librdkafka calls a partition unknown that has no leader, too. Whether it exists stands in the metadata;
/// where these cannot be had, nothing is known.
std::error_code meaning_of_unknown(const kafka_client& client, const topic_partition& where,
                                   std::chrono::milliseconds timeout) {
  const kafka_handle<rd_kafka_topic_t> topic{rd_kafka_topic_new(client.get(), where.topic.c_str(), nullptr)};
  const rd_kafka_metadata_t* raw = nullptr;
  if (topic == nullptr ||
      rd_kafka_metadata(client.get(), 0, topic.get(), &raw, to_ms(timeout)) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return errc::source_unavailable;
  }
  const kafka_handle<const rd_kafka_metadata_t> metadata{raw};
  if (metadata->topic_cnt != 1) return errc::source_unavailable;
  const rd_kafka_metadata_topic& found = metadata->topics[0];
  const bool exists = static_cast<std::int32_t>(where.partition) < found.partition_cnt;
  if (exists || classify(kafka_error(found.err)) == error_class::away) return errc::source_unavailable;
  return errc::topic_missing;
}

result<log_bounds> query_one(const std::shared_ptr<kafka_client>& client, const topic_partition& where,
                             std::chrono::milliseconds timeout) {
  struct answer {
    std::error_code code;
    log_bounds found;
  };
  auto shared = std::make_shared<answer>();
  // librdkafka does not keep to this call's time-out once the request is on its way: a broker that is
  // connected and does not answer holds it for socket.timeout.ms, and again for each retry.
  const bool in_time = run_bounded(
      [client, where, shared, timeout] {
        const auto code = rd_kafka_query_watermark_offsets(
            client->get(), where.topic.c_str(), static_cast<std::int32_t>(where.partition),
            &shared->found.start, &shared->found.end, to_ms(timeout));
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return;
        shared->code = to_port_error(kafka_error(code));
        if (shared->code == errc::topic_missing) shared->code = meaning_of_unknown(*client, where, timeout);
      },
      timeout);
  if (!in_time) return errc::source_unavailable;
  if (shared->code) return shared->code;
  return shared->found;
}

using offset_map = std::map<topic_partition, std::int64_t>;

/// The offsets that brokers say at once; those without an answer are left out.
[[nodiscard]] offset_map offsets_at(const std::shared_ptr<kafka_client>& client,
                                    const std::vector<topic_partition>& all, std::int64_t time,
                                    milliseconds timeout) {
  const partition_list list{client, all.size()};
  for (const topic_partition& where : all) list.add(where, time);
  offset_map found;
  if (rd_kafka_offsets_for_times(client->get(), list.get(), to_ms(timeout)) != RD_KAFKA_RESP_ERR_NO_ERROR)
    return found;
  for (int i = 0; i < list.get()->cnt; ++i) {
    const rd_kafka_topic_partition_t& entry = list.get()->elems[i];
    if (entry.err == RD_KAFKA_RESP_ERR_NO_ERROR && entry.offset >= 0)
      found[to_topic_partition(entry)] = entry.offset;
  }
  return found;
}

[[nodiscard]] std::map<topic_partition, log_bounds> query_all(const std::shared_ptr<kafka_client>& client,
                                                              std::span<const topic_partition> all,
                                                              milliseconds timeout) {
  struct answers {
    offset_map starts;
    offset_map ends;
  };
  auto shared = std::make_shared<answers>();
  const bool in_time = run_bounded(
      [client, shared, timeout, wanted = std::vector(all.begin(), all.end())] {
        shared->starts = offsets_at(client, wanted, k_first, timeout);
        if (!shared->starts.empty()) shared->ends = offsets_at(client, wanted, k_behind_last, timeout);
      },
      2 * timeout);
  std::map<topic_partition, log_bounds> found;
  if (!in_time) return found;
  for (const auto& [where, end] : shared->ends) {
    const auto start = shared->starts.find(where);
    if (start != shared->starts.end()) found[where] = {start->second, end, 0};
  }
  return found;
}

}  // namespace

std::vector<result<log_bounds>> query_bounds(const std::shared_ptr<kafka_client>& client,
                                             std::span<const topic_partition> all, milliseconds timeout) {
  std::map<topic_partition, log_bounds> quick;
  if (all.size() > 1) quick = query_all(client, all, std::min(timeout, k_longest_of_all));
  std::vector<result<log_bounds>> found;
  milliseconds patience = timeout;
  for (const topic_partition& where : all) {
    if (const auto known = quick.find(where); known != quick.end()) {
      found.emplace_back(known->second);
      continue;
    }
    found.push_back(query_one(client, where, patience));
    if (!found.back()) patience = std::min(patience, k_hurried);
  }
  return found;
}

void wake_leaders(std::shared_ptr<kafka_client> client, std::vector<topic_partition> all) {
  run_bounded(
      [client = std::move(client), all = std::move(all)] {
        // The work is not there yet at the first one, where a partition is only about to be fetched from.
        for (const milliseconds pause : {milliseconds{0}, milliseconds{20}, milliseconds{80}}) {
          std::this_thread::sleep_for(pause);
          (void)offsets_at(client, all, k_behind_last, k_longest_of_all);
        }
      },
      milliseconds{0});
}

}  // namespace ratchet
