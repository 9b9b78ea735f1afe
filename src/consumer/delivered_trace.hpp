// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>

#include "core/record.hpp"
#include "ratchet/types.hpp"

namespace ratchet {

/// For crash tests: leaves in `<state>/delivered` how far the source had delivered, in a way that survives
/// SIGKILL but costs no sync. What lies between that and the stored offset after a kill was read, lost with
/// the process and is read again. One line of 256 bytes a partition: "<topic> <partition> <next offset
/// delivered>", padded with spaces. Off unless the environment has RATCHET_TRACE_DELIVERED=1.
class delivered_trace {
 public:
  explicit delivered_trace(const std::filesystem::path& state_directory);
  ~delivered_trace();
  delivered_trace(const delivered_trace&) = delete;
  delivered_trace& operator=(const delivered_trace&) = delete;
  delivered_trace(delivered_trace&&) = delete;
  delivered_trace& operator=(delivered_trace&&) = delete;

  void note(std::span<const record>);

 private:
  int fd_{-1};
  std::map<const topic_partition*, int> lines_;
};

}  // namespace ratchet
