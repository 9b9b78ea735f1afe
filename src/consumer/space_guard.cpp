// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/space_guard.hpp"

#include <algorithm>

namespace ratchet {

namespace {

constexpr std::chrono::seconds k_space_interval{1};
/// The store writes at most what lies in memory; see memory_budget.
constexpr std::uint64_t k_share_of_memory = 2;
constexpr std::uint64_t k_share_of_disk = 10;

const system_disk_space k_system_disk_space;

std::string in_mebibytes(std::uint64_t bytes) {
  constexpr unsigned k_mebibyte_bits = 20;
  return std::to_string(bytes >> k_mebibyte_bits) + "MiB";
}

/// So much ends a shortage: at the reserve itself it would begin again at once.
std::uint64_t enough(std::uint64_t reserve) {
  return reserve + reserve / 4;
}

}  // namespace

std::uint64_t space_to_keep(std::optional<std::uint64_t> configured, std::uint64_t memory_limit,
                            std::uint64_t file_system_bytes) noexcept {
  if (configured) return *configured;
  return std::min(memory_limit / k_share_of_memory, file_system_bytes / k_share_of_disk);
}

space_guard::space_guard(const config& c, const disk_space_port* port)
    : directory_{c.state.path},
      configured_{c.state.min_free},
      memory_limit_{c.memory_limit},
      port_{port != nullptr ? port : &k_system_disk_space} {}

bool space_guard::look(time_point now) {
  if (last_look_ && now - *last_look_ < k_space_interval) return false;
  last_look_ = now;
  const auto found = port_->look(directory_);
  answered_ = found.has_value();
  if (!answered_) return false;
  found_ = found.assume_value();
  const std::uint64_t keep = reserve();
  const bool was_low = low_;
  low_ = found_.free < (low_ ? enough(keep) : keep);
  return low_ != was_low;
}

std::string space_guard::text() const {
  const std::uint64_t keep = reserve();
  return "disk space is low: " + in_mebibytes(found_.free) + " of " + in_mebibytes(found_.size) +
         " are free on the file system of " + directory_.string() + ", and " + in_mebibytes(keep) +
         (configured_ ? " are to be kept (state.min_free)" : " are kept by default") +
         "; it counts as low until " + in_mebibytes(enough(keep)) + " are free";
}

problem space_guard::refusal() const {
  return {std::make_error_code(std::errc::no_space_on_device),
          text() + "; nothing more is taken in",
          "make room, or set `state.min_free` lower; then run the same again: it goes on where it stopped",
          {}};
}

}  // namespace ratchet
