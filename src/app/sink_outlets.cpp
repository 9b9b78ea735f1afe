// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "app/sink_outlets.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "app/start_step.hpp"
#include "pipeline/audit_rows.hpp"
#include "process/signals.hpp"
#include "sinks/callback_publisher.hpp"
#include "sinks/http_publisher.hpp"
#include "text/counted.hpp"

namespace ratchet {

namespace {

[[nodiscard]] problem config_problem(std::string message, std::string hint) {
  return {make_error_code(errc::config_invalid), std::move(message), std::move(hint), {}};
}

[[nodiscard]] const sink_config* find(const config& c, std::string_view name) {
  const auto at =
      std::find_if(c.sinks.begin(), c.sinks.end(), [&](const sink_config& s) { return s.name == name; });
  return at == c.sinks.end() ? nullptr : &*at;
}

}  // namespace

std::optional<problem> check_sinks(const config& c, const sinks& own) {
  for (const sink_config& sink : c.sinks) {
    if (sink.kind != sink_config::kind_of::callback || own.find(sink.name) != nullptr) continue;
    return config_problem("the sink `" + sink.name + "` is a callback, and this program adds none",
                          "add it in the program that embeds Ratchet: app::open(config, reducers, sinks); "
                          "the command `ratchet` cannot run this config");
  }
  for (const auto& [name, unused] : own.all()) {
    const sink_config* sink = find(c, name);
    if (sink != nullptr && sink->kind == sink_config::kind_of::callback) continue;
    return config_problem("a callback was added for the sink `" + name + "`, which the config does not have",
                          "add {name: " + name + ", callback: true} to `sinks`, or correct the name");
  }
  return std::nullopt;
}

std::optional<problem> check_lanes(const config& c, const outbox_lanes& lanes) {
  for (const auto& [name, waiting] : lanes.by_name) {
    if (name.empty() || waiting.rows() == 0 || find(c, name) != nullptr) continue;
    return problem{make_error_code(errc::sink_missing),
                   counted(waiting.rows(), "message") + " for the sink `" + name +
                       "` not sent yet, and the config no longer has that sink",
                   "put the sink back under `sinks` until they are sent, or discard them with {name: " +
                       name + ", discard: true}",
                   {}};
  }
  return std::nullopt;
}

std::optional<problem> discard_lanes(const config& c, store& from, timestamp now, const log_ptr& log) {
  for (const sink_config& sink : c.sinks) {
    const outbox_state waiting = from.outboxes().of(sink.name);
    if (sink.kind != sink_config::kind_of::discard || waiting.rows() == 0) continue;
    const audit_row told = audit_of_discarded_lane(sink.name, waiting, now);
    step_batch batch;
    batch.audits.push_back(told);
    batch.outbox.trimmed_lane = sink.name;
    batch.outbox.trimmed_rows = waiting.next - waiting.first;
    batch.outbox.trimmed_gone = waiting.gone;
    batch.outbox.trimmed_bytes = waiting.bytes;
    if (auto failed = write_at_start(from, c.state.path, std::move(batch))) return failed;
    tell(log, log_kind::sink_discarded, "{}", told.text);
  }
  return std::nullopt;
}

reported<open_sinks> open_all_sinks(const config& c, const sinks& own) {
  const signals_blocked blocked;  // their threads take none
  open_sinks all;
  for (const sink_config& sink : c.sinks) {
    std::unique_ptr<publisher> to;
    switch (sink.kind) {
      case sink_config::kind_of::http: {
        RATCHET_TRY(to, make_http_publisher(sink.name, sink.http));
        break;
      }
      case sink_config::kind_of::callback:
        to = make_callback_publisher(sink.name, *own.find(sink.name));
        break;
      case sink_config::kind_of::discard:
        continue;
    }
    all.outlets.push_back({sink.name, to.get(), sink.first_pause, sink.most_pause});
    if (sink.kind == sink_config::kind_of::http) all.outlets.back().concurrency = sink.http.concurrency;
    all.publishers.push_back(std::move(to));
  }
  return all;
}

}  // namespace ratchet
