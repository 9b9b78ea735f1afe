// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ports/publisher.hpp"

namespace ratchet::testing {

/// Holds what it was given until it is told what becomes of it, or ends it at once.
class fake_publisher final : public publisher {
 public:
  std::size_t room{1000};
  bool answers{false};           ///< everything is delivered at once
  std::vector<output_row> sent;  ///< all, in order
  std::deque<std::uint64_t> under_way;

  [[nodiscard]] bool send(const output_row& row) override {
    if (under_way.size() >= room) return false;
    sent.push_back(row);
    under_way.push_back(row.position);
    if (answers) end_all();
    return true;
  }
  [[nodiscard]] std::vector<delivery> delivered() override { return std::exchange(ended_, {}); }
  void wait(std::chrono::milliseconds) override {
    if (on_wait) on_wait();
  }
  void on_progress(std::function<void()>) override {}
  std::function<void()> on_wait;

  void end(std::uint64_t position, delivery::how ended, std::string why = {}) {
    under_way.erase(std::remove(under_way.begin(), under_way.end(), position), under_way.end());
    ended_.push_back({position, ended, std::move(why)});
  }
  void end_all(delivery::how ended = delivery::how::done) {
    while (!under_way.empty()) end(under_way.front(), ended, "because");
  }
  /// The values that were sent since the last call.
  [[nodiscard]] std::vector<std::string> values() {
    std::vector<std::string> out;
    for (; told_ < sent.size(); ++told_) out.push_back(sent[told_].value.value_or("none"));
    return out;
  }

 private:
  std::vector<delivery> ended_;
  std::size_t told_{0};
};

}  // namespace ratchet::testing
