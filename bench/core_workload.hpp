// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "core/step.hpp"

/// Decoded events as a payment-status stream has them: aggregates by a Zipf-like law, growing sequences, some
/// events out of order and some sent twice. The same seed gives the same stream.
namespace ratchet::bench {

struct workload_options {
  std::size_t events{5000};
  std::size_t aggregates{200'000};
  int duplicate_pct{20};
  int partitions{8};
  std::size_t payload_bytes{300};
  std::uint64_t seed{42};
};

class workload {
 public:
  explicit workload(const workload_options& o) : random_{o.seed}, payload_(o.payload_bytes, 'x') {
    for (int i = 0; i < o.partitions; ++i) partitions_.push_back({"payments", static_cast<partition_id>(i)});
    names_.reserve(o.aggregates);
    for (std::size_t i = 0; i < o.aggregates; ++i)
      names_.push_back("payment-" + std::to_string(1'000'000 + i));
    sequences_.resize(o.aggregates);
    offsets_.resize(partitions_.size());
    for (std::size_t i = 0; i < o.events; ++i) add(o);
  }

  std::vector<decoded_event> events;

 private:
  void add(const workload_options& o) {
    if (!events.empty() && static_cast<int>(random_() % 100) < o.duplicate_pct) {
      const std::size_t back = 1 + random_() % std::min<std::size_t>(events.size(), 1000);
      place(events[events.size() - back]);
      return;
    }
    // A skew of about 1: the rank grows exponentially with a uniform draw.
    const double uniform = static_cast<double>(random_() >> 11U) * 0x1.0p-53;
    const auto rank = static_cast<std::size_t>(std::pow(static_cast<double>(o.aggregates), uniform)) - 1;
    decoded_event e;
    e.kind = decoded_kind::event;
    e.aggregate = names_[rank];
    e.has_sequence = true;
    e.sequence = seq(++sequences_[rank]);
    e.has_id = true;
    const auto ms = static_cast<std::uint64_t>(now_ms_);
    e.id = {ms << 16U | 0x7000U | (random_() & 0xFFFU), (random_() >> 2U) | std::uint64_t{1} << 63U};
    e.type = "paid";
    e.time = timestamp{std::chrono::milliseconds{now_ms_}};
    e.payload = payload_;
    e.payload_hash = {random_(), random_()};
    place(e);
  }

  /// Appends the event as the next record of its aggregate's partition.
  void place(decoded_event e) {
    if (events.size() % 4 == 0) ++now_ms_;
    const std::size_t partition = std::hash<std::string_view>{}(e.aggregate) % partitions_.size();
    record& r = records_.emplace_back();
    r.where = &partitions_[partition];
    r.offset = offsets_[partition]++;
    r.time = timestamp{std::chrono::milliseconds{now_ms_}};
    e.from = &r;
    e.record_time = r.time;
    events.push_back(e);
  }

  std::mt19937_64 random_;
  std::string payload_;
  std::vector<std::string> names_;
  std::vector<std::uint64_t> sequences_;
  std::vector<topic_partition> partitions_;
  std::vector<std::int64_t> offsets_;
  std::deque<record> records_;
  std::int64_t now_ms_{1'767'225'600'000};  // 2026-01-01
};

inline stream_rules bench_rules() {
  stream_rules rules;
  rules.stream = "payments";
  rules.window = std::chrono::hours{24};
  rules.max_skew = std::chrono::minutes{5};
  return rules;
}

}  // namespace ratchet::bench
