// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kafka/kafka_source.hpp"
#include "kafka/record_producer.hpp"
#include "ports/source.hpp"
#include "support/topic_partitions.hpp"

/// What the Kafka tests share, on the embedded broker and on a real one.
namespace ratchet::testing {

using namespace std::chrono_literals;

/// How long a test waits for something that must happen; never what it asserts.
constexpr std::chrono::milliseconds k_patience = 40s;

inline kafka_config config_of(const std::string& brokers, const std::string& group) {
  return {{brokers}, group, {{"session.timeout.ms", "6000"}, {"heartbeat.interval.ms", "300"}}};
}

inline std::unique_ptr<source> open_source(const kafka_config& config,
                                           const kafka_source_options& options = {}) {
  auto made = make_kafka_source(config, options);
  if (!made) throw std::runtime_error{to_text(made.error())};
  return std::move(made).value();
}

/// Sends "v0".."v<count-1>" under the keys "k0".., one a record, and waits for their delivery.
inline void produce(const std::string& brokers, const std::string& topic, int partition, int from, int to,
                    const std::map<std::string, std::string>& properties = {}) {
  auto made = record_producer::make(brokers, properties);
  if (!made) throw std::runtime_error{to_text(made.error())};
  auto& producer = *made.value();
  for (int i = from; i < to; ++i) {
    const std::string key = "k" + std::to_string(i);
    const std::string value = "v" + std::to_string(i);
    if (auto sent = producer.send(topic, partition_id{partition}, key, value); !sent) {
      throw std::system_error{sent.error()};
    }
  }
  if (auto flushed = producer.flush(k_patience); !flushed) throw std::system_error{flushed.error()};
}

/// A record with its bytes copied.
struct seen_record {
  topic_partition where;
  std::int64_t offset{0};
  std::optional<std::string> value;
  friend bool operator==(const seen_record&, const seen_record&) = default;
};

/// Everything a source gave out, in order.
struct collected {
  std::vector<seen_record> records;
  std::vector<source_notice> notices;

  void add(const polled& p) {
    if (p.batch != nullptr) {
      for (const record& r : p.batch->records()) {
        records.push_back(
            {*r.where, r.offset, r.value ? std::optional{std::string{*r.value}} : std::nullopt});
      }
    }
    notices.insert(notices.end(), p.notices.begin(), p.notices.end());
  }
  template <class Notice>
  [[nodiscard]] std::vector<Notice> all() const {
    std::vector<Notice> out;
    for (const auto& n : notices) {
      if (const auto* found = std::get_if<Notice>(&n)) out.push_back(*found);
    }
    return out;
  }
  template <class Notice>
  [[nodiscard]] bool has() const {
    return !all<Notice>().empty();
  }
  [[nodiscard]] std::vector<std::string> values(const topic_partition& where) const {
    std::vector<std::string> out;
    for (const auto& r : records) {
      if (r.where == where) out.push_back(r.value.value_or("(none)"));
    }
    return out;
  }
};

/// Polls until `done` or until patience ends; true if done.
inline bool poll_until(source& from, collected& into, const std::function<bool()>& done,
                       std::size_t max_records = 500) {
  const auto deadline = std::chrono::steady_clock::now() + k_patience;
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    auto got = from.poll(max_records, 100ms);
    if (!got) throw std::system_error{got.error()};
    into.add(got.value());
  }
  return true;
}

/// Joins and answers the first assignment by starting every partition at `start`.
inline std::vector<topic_partition> join_and_assign(source& from, const std::vector<std::string>& topics,
                                                    std::int64_t start = 0) {
  if (auto joined = from.join(topics); !joined) throw std::system_error{joined.error()};
  collected seen;
  if (!poll_until(from, seen, [&] { return seen.has<notice::assigned>(); })) {
    throw std::runtime_error{"no assignment came"};
  }
  const auto partitions = seen.all<notice::assigned>().front().partitions;
  std::vector<position> positions;
  for (const auto& where : partitions) positions.push_back({where, start});
  if (auto done = from.assign(positions); !done) throw std::system_error{done.error()};
  return partitions;
}

inline std::vector<std::string> numbered(int from, int to) {
  std::vector<std::string> out;
  for (int i = from; i < to; ++i) out.push_back("v" + std::to_string(i));
  return out;
}

}  // namespace ratchet::testing
