// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <utility>

#include "replicate/log_record.hpp"
#include "unit/app/pair_world.hpp"

/// What tests of a pair have in common.
namespace ratchet::pair_support {

inline constexpr int k_aggregates = 4;

/// Adds records with rising numbers.
inline void produce(cluster& to, int count) {
  for (int i = 0; i < count; ++i) {
    const int n = static_cast<int>(to.records.size());
    std::string value = line("a" + std::to_string(n % k_aggregates), n + 1);
    value.pop_back();
    to.records.push_back(std::move(value));
  }
}

inline std::map<std::string, std::string> expected(const cluster& c) {
  std::map<std::string, std::string> all{{"consumed", std::to_string(c.records.size())}};
  for (std::size_t n = 0; n < c.records.size(); ++n)
    all["a" + std::to_string(n % k_aggregates)] = std::to_string(n + 1);
  return all;
}

/// Of all instances.
inline int fences(const cluster& c) {
  int found = 0;
  for (std::int64_t offset = c.log.first(); offset < c.log.end(); ++offset) {
    replicate::log_record one;
    const auto& bytes = c.log.at(offset);
    if (!bytes || decode_record(*bytes, one) != replicate::record_fault::none) continue;
    found += one.head.kind == replicate::record_kind::fence ? 1 : 0;
  }
  return found;
}

/// Until all records are read, and some polls more, in which they are confirmed.
inline auto until_all_is_read() {
  return [behind = 0](pair_source& s, std::atomic<bool>& stop) mutable {
    if (s.has_read_all() && ++behind > 10) stop = true;
  };
}

inline auto until_polled(int times) {
  return [left = times](pair_source&, std::atomic<bool>& stop) mutable {
    if (left-- == 0) stop = true;
  };
}

/// Where a base is looked for some seconds.
inline auto until_refused() {
  return [](pair_source&, std::atomic<bool>&) { std::this_thread::sleep_for(std::chrono::milliseconds{1}); };
}

/// Bases as often as they can be.
inline void make_many_bases(config& of) {
  of.replicate->base.at_least = 1;
}

/// Seconds pass while the log is waited for.
class patient_clock final : public clock_port {
 public:
  [[nodiscard]] timestamp now() const override { return timestamp{k_noon_time + waited}; }
  [[nodiscard]] std::chrono::steady_clock::time_point steady() const override {
    return std::chrono::steady_clock::time_point{std::chrono::hours{1}} + waited;
  }
  std::chrono::milliseconds waited{0};
};

class pair : public ::testing::Test {
 protected:
  /// The first instance reads so many new records, and ends.
  void let_first_read(int records) {
    produce(c, records);
    const auto failed = first.run(until_all_is_read());
    ASSERT_FALSE(failed) << failed->message;
  }

  cluster c;
  instance first{c, "ratchet-0"};
  instance second{c, "ratchet-1"};
};

}  // namespace ratchet::pair_support
