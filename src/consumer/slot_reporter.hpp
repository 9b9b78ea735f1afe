// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "consumer/base_keeper.hpp"
#include "consumer/digest_keeper.hpp"
#include "consumer/slot_replica.hpp"
#include "ports/clock.hpp"
#include "telemetry/instance_status.hpp"
#include "telemetry/slot_status.hpp"

namespace ratchet {

/// Shows on the status how an instance stands to its log; decides nothing. Thread-safety: one owner thread.
class slot_reporter {
 public:
  struct dependencies {
    const slot_replica& slot;
    const base_keeper& bases;
    const digest_keeper& digests;
    const replica& rows;
    const clock_port& clock;
    instance_status* status;  ///< none: it shows nothing
    std::string log;          ///< its topic
    std::string instance;
    std::string advertise;
  };
  explicit slot_reporter(dependencies of) : of_{std::move(of)} {}

  /// To be called in each turn, and at once where `is_leading` changes. Shows what has changed a few times a
  /// second.
  void turn(bool is_leading);

 private:
  [[nodiscard]] slot_role role(bool is_leading) const;
  void show(slot_role);

  dependencies of_;
  std::optional<slot_role> shown_;
  std::chrono::steady_clock::time_point shown_at_;
  std::uint64_t leads_{0};
};

}  // namespace ratchet
