// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "telemetry/health_pages.hpp"

#include "core/shown_text.hpp"
#include "telemetry/metrics.hpp"

namespace ratchet {

namespace {

constexpr unsigned k_not_found = 404;
constexpr unsigned k_unavailable = 503;

http_answer line(unsigned status, std::string_view body) {
  http_answer made;
  made.status = status;
  append_line(made.body, body);
  return made;
}

http_answer directory() {
  http_answer made;
  append_line(made.body,
              "/livez    200 while this instance makes progress, else 503 and the place where it hangs");
  append_line(made.body, "/readyz   200 while it reads every partition, else 503 and why not");
  append_line(made.body, "/metrics  for Prometheus");
  return made;
}

}  // namespace

http_answer health_pages::answer(std::string_view path) const {
  if (path == "/livez") {
    const auto stalled = meter_.stalled();
    return stalled ? line(k_unavailable, *stalled) : line(200, "ok");
  }
  if (path == "/readyz") {
    const status_snapshot live = status_.snapshot();
    // The status says what the owner last said; one that hangs says nothing more.
    if (const auto stalled = meter_.stalled())
      return line(k_unavailable, "not ready: " + *stalled + (live.ready ? "" : "; " + live.ready_reason));
    if (!live.ready) return line(k_unavailable, "not ready: " + live.ready_reason);
    return line(200, live.slot ? "ok: " + std::string{name_of(live.slot->role)} : "ok");
  }
  if (path == "/metrics") return metrics();
  if (path == "/") return directory();
  return line(k_not_found, "there are /livez, /readyz and /metrics");
}

http_answer health_pages::metrics() const {
  http_answer made;
  made.content_type = k_metrics_content_type;
  made.body = metrics_text(
      {status_.snapshot(), meter_.state(), meter_.counts(), meter_.resources(), read_process_stats()});
  return made;
}

}  // namespace ratchet
