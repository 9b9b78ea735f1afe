// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "ports/clock.hpp"
#include "workload/workload_random.hpp"

/// What all simulated ports of a history share.
namespace ratchet::pair_sim {

using std::chrono::milliseconds;
using time_point = std::chrono::steady_clock::time_point;

/// Something that must always hold does not.
struct broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Thrown out of a port's call: the process is gone.
struct process_died {};

/// Time, dice and what is written down of a history.
struct setting {
  explicit setting(std::uint64_t seed) : dice{seed} {}

  workload_random dice;
  time_point now{std::chrono::hours{1}};
  bool heals{false};                         ///< no faults from now on
  std::vector<std::string>* lines{nullptr};  ///< may be none
  std::vector<std::string> paths;            ///< of directories, which are others each time

  [[nodiscard]] std::uint32_t draw(std::uint32_t bound) {
    return static_cast<std::uint32_t>(dice.below(bound));
  }
  /// One time in so many.
  [[nodiscard]] bool one_in(std::uint32_t bound) { return draw(bound) == 0; }
  void trace(const std::string& who, std::string what) {
    if (lines == nullptr) return;
    for (const std::string& path : paths) {
      if (const auto at = what.find(path); at != std::string::npos)
        what.replace(at, path.size(), "DIRECTORY");
    }
    const auto at = std::chrono::duration_cast<milliseconds>(now.time_since_epoch() - std::chrono::hours{1});
    lines->push_back(std::to_string(at.count()) + " ms " + who + ": " + what);
  }
};

/// A machine's clock: it counts as all others do, and somebody may set the time of day.
class machine_clock final : public clock_port {
 public:
  explicit machine_clock(const setting& in) : in_{in} {}
  [[nodiscard]] timestamp now() const override {
    constexpr std::int64_t k_noon = 1'704'110'400'000;
    return timestamp{std::chrono::duration_cast<milliseconds>(in_.now.time_since_epoch()) +
                     milliseconds{k_noon} + wrong_by};
  }
  [[nodiscard]] time_point steady() const override { return in_.now; }
  milliseconds wrong_by{0};

 private:
  const setting& in_;
};

/// What each call of a process's ports asks.
class process_calls {
 public:
  virtual ~process_calls() = default;
  /// A call begins or ends: others may have their turn here. Throws process_died where the process ends.
  virtual void call() = 0;
  /// The process waits: others have their turn. Throws as call().
  virtual void wait() = 0;
  /// It was killed; what its destructors still call does nothing.
  [[nodiscard]] virtual bool is_dead() const = 0;
};

}  // namespace ratchet::pair_sim
