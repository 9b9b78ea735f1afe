// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "telemetry/http_server.hpp"
#include "telemetry/live_board.hpp"
#include "telemetry/run_meter.hpp"

namespace ratchet {

/// What a running instance answers over HTTP:
///     /livez    200 while its owner thread makes progress, else 503 and what it hangs in
///     /readyz   200 while it reads every partition, else 503 and everything that stands against it
///     /metrics  Prometheus's text format
///     /         this list
/// Thread-safety: any thread. Lifetime: board and meter must outlive it.
class health_pages {
 public:
  health_pages(const live_board& board, const run_meter& meter) : board_{board}, meter_{meter} {}
  [[nodiscard]] http_answer answer(std::string_view path) const;

 private:
  [[nodiscard]] http_answer metrics() const;

  const live_board& board_;
  const run_meter& meter_;
};

}  // namespace ratchet
