// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/consumer/history.hpp"
#include "sim/consumer/world.hpp"

namespace ratchet::sim {

/// Many histories, one after the other, on some threads.
struct campaign_plan {
  std::uint64_t first_seed{1};
  std::uint64_t histories{60'000};
  std::uint32_t events{200};
  unsigned threads{1};
};

struct campaign_result {
  std::uint64_t histories{0};
  census met;
  std::vector<std::string>
      failures;  ///< each with its seed and the trace of its shortest form; a few at most
};

[[nodiscard]] campaign_plan plan_from_environment();
[[nodiscard]] campaign_result run_campaign(const campaign_plan&);

/// What was met, for a person.
[[nodiscard]] std::string to_text(const census&);

/// Takes records and faults out of a history as long as it fails. Returns how often it was played.
std::uint32_t shrink(history&);

/// What is printed of a history that fails.
[[nodiscard]] std::string report_of(history);

}  // namespace ratchet::sim
