// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>

#include "ports/clock.hpp"

/// What the simulated ports know of the world around them.
namespace ratchet::sim {

/// Thrown out of a port's call: the process is gone.
struct process_died {};

/// Something that must always hold does not.
struct broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class sim_clock final : public clock_port {
 public:
  explicit sim_clock(std::int64_t begin) : now_{std::chrono::milliseconds{begin}} {}
  [[nodiscard]] timestamp now() const override { return now_; }
  [[nodiscard]] std::chrono::steady_clock::time_point steady() const override { return steady_; }
  void pass(std::chrono::milliseconds time) {
    now_ += time;
    steady_ += time;
  }
  /// Something takes long; the wall clock, by which what waits is decided, has to stand still for a step.
  void take(std::chrono::milliseconds time) { steady_ += time; }
  /// Somebody sets the wall clock.
  void jump(std::chrono::milliseconds by) { now_ += by; }

 private:
  timestamp now_;
  std::chrono::steady_clock::time_point steady_{std::chrono::hours{1}};
};

/// What each call of a port asks: may it return? Owned by the world.
class world_port {
 public:
  virtual ~world_port() = default;
  /// A call begins or ends. Throws process_died where the process ends here.
  virtual void pass_call() = 0;
  /// One turn of the owner's loop: time passes, producers send, faults happen.
  virtual void pass_turn(std::chrono::milliseconds waited) = 0;
  /// In [0, bound), from the history's seed.
  [[nodiscard]] virtual std::uint32_t draw(std::uint32_t bound) = 0;
  [[nodiscard]] virtual bool traces() const = 0;
  virtual void trace(std::string line) = 0;
};

}  // namespace ratchet::sim
