// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ratchet/error.hpp"
#include "workload/workload_oracle.hpp"
#include "workload/workload_stream.hpp"

namespace ratchet {

/// Where made-up records go. Thread-safety: one thread.
class workload_sink {
 public:
  virtual ~workload_sink() = default;
  /// Errors: io; source_unavailable.
  [[nodiscard]] virtual result<void> put(const workload_record&, std::string_view key,
                                         std::string_view value) = 0;
  /// To be called once after the last record: waits until all is delivered. Errors: as put().
  [[nodiscard]] virtual result<void> finish() = 0;
};

/// One value a line: what `ratchet apply` reads. `file` is borrowed.
[[nodiscard]] std::unique_ptr<workload_sink> make_line_sink(std::FILE* file);

/// One record a line as `kcat -C -J` prints it: what `ratchet apply --records` reads. `file` is borrowed.
[[nodiscard]] std::unique_ptr<workload_sink> make_record_line_sink(std::FILE* file, const std::string& topic,
                                                                   std::uint32_t partitions);

/// Draws the whole stream into the sink, and shows it to the oracle. `go_on` gets the number of records so
/// far; false stops it. Errors: those of the sink; aborted, where it was stopped.
[[nodiscard]] reported<void> fill(workload_sink&, workload_stream&, workload_oracle&,
                                  const std::function<bool(std::uint64_t)>& go_on);

}  // namespace ratchet
