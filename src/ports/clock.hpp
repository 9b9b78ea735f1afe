// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "ratchet/types.hpp"

namespace ratchet {

/// The two clocks. Thread-safety: all calls from any thread.
class clock_port {
 public:
  virtual ~clock_port() = default;
  /// Wall clock; caps record times and stamps audit rows. Decides nothing else.
  [[nodiscard]] virtual timestamp now() const = 0;
  /// For intervals.
  [[nodiscard]] virtual std::chrono::steady_clock::time_point steady() const = 0;
};

class system_clock_port final : public clock_port {
 public:
  [[nodiscard]] timestamp now() const override {
    return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
  }
  [[nodiscard]] std::chrono::steady_clock::time_point steady() const override {
    return std::chrono::steady_clock::now();
  }
};

}  // namespace ratchet
