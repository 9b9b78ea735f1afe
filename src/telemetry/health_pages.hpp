// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "telemetry/http_server.hpp"
#include "telemetry/instance_status.hpp"
#include "telemetry/run_meter.hpp"

namespace ratchet {

/// What a running instance answers over HTTP:
///     /livez    200 while its owner thread makes progress, else 503 and what it hangs in
///     /readyz   200 while it reads every partition, else 503 and everything that stands against it
///     /metrics  Prometheus's text format
///     /         this list
/// Thread-safety: any thread. Lifetime: status and meter must outlive it.
class health_pages {
 public:
  health_pages(const instance_status& status, const run_meter& meter) : status_{status}, meter_{meter} {}
  [[nodiscard]] http_answer answer(std::string_view path) const;

 private:
  [[nodiscard]] http_answer metrics() const;

  const instance_status& status_;
  const run_meter& meter_;
};

}  // namespace ratchet
