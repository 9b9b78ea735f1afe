// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/engine.hpp"
#include "pipeline/pipeline.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

struct apply_request {
  std::vector<std::string> files;  ///< "-" is standard input
  std::string stream;              ///< may be empty where there is one stream, or with `records`
  bool records{false};             ///< lines as `kcat -C -J` prints them, with positions that count
  explain_record explain;          ///< may be empty
  explain_waited explain_fate;     ///< may be empty
  std::function<void(std::uint64_t bytes, std::uint64_t total)> progress;  ///< may be empty; total 0: unknown
};

/// Takes files through the pipeline, without Kafka, and syncs at the end. Plain lines make one partition
/// without positions, which is left out of the floor at the end: the gate finds repeats. With `records` it
/// resumes by position. Errors: usage; io, naming the file; partition_stopped, at the end; aborted, where it
/// was told to stop before that; write_indeterminate.
[[nodiscard]] std::optional<problem> apply_files(engine&, const apply_request&,
                                                 const std::atomic<bool>& stop);

}  // namespace ratchet
