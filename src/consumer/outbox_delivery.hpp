// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "outbox/outbox_sender.hpp"
#include "outbox/sink_sender.hpp"
#include "pipeline/pipeline.hpp"
#include "ports/clock.hpp"
#include "ports/outbox_store.hpp"
#include "ports/publisher.hpp"
#include "ports/source.hpp"
#include "process/log.hpp"
#include "ratchet/config.hpp"
#include "telemetry/instance_status.hpp"
#include "telemetry/run_meter.hpp"

namespace ratchet {

/// Sends all lanes of the outbox, Kafka's topics and each sink, trims what was delivered, and shows how they
/// fare. Thread-safety: the owner's thread.
class outbox_delivery {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  struct dependencies {
    const config& settings;
    const stream_list& streams;
    outbox_store& store;
    source& wakes;  ///< its poll ends when there is more to send
    const clock_port& clock;
    instance_status& status;
    run_meter& meter;
    log_ptr log;
    pipeline& steps;
    publisher* topics{nullptr};  ///< none: what is for topics stays in the outbox
    std::vector<sink_outlet> sinks;
    std::function<bool()> is_stopping;
  };

  /// Takes the rows of each step from the pipeline.
  explicit outbox_delivery(dependencies);
  ~outbox_delivery();
  outbox_delivery(const outbox_delivery&) = delete;
  outbox_delivery& operator=(const outbox_delivery&) = delete;

  /// There is something to send to.
  [[nodiscard]] bool has_lanes() const noexcept { return topics_.has_value() || !sinks_.empty(); }
  /// Sends what may be sent, and trims once per commit interval. Brokers that are slower than the steps get
  /// some time. Errors: as pipeline::trim_outbox(), and of store::outputs().
  [[nodiscard]] result<void> turn(time_point now);
  /// At the end of a run: sends what is durable, until nothing gets through any more, says what is left, and
  /// syncs. Errors: as turn(); of store::sync().
  [[nodiscard]] result<void> send_the_rest();

  /// The lanes, and what of them is refused.
  [[nodiscard]] const std::vector<named_refusals>& refusals() const noexcept { return refusals_; }
  [[nodiscard]] const std::list<sink_sender>& sinks() const noexcept { return sinks_; }
  /// Why nothing gets through to the topics; none while it does.
  [[nodiscard]] std::optional<std::string> trouble_of_topics() const;

 private:
  [[nodiscard]] result<void> send(time_point now);
  [[nodiscard]] result<void> send_lane(lane_sender&, const outbox_state&, time_point now);
  [[nodiscard]] result<void> let_topics_catch_up();
  void show_topics(std::uint64_t sent);
  void show(const sink_sender&);
  [[nodiscard]] result<void> trim();
  [[nodiscard]] result<void> trim_topics();
  [[nodiscard]] std::uint64_t sent() const;
  void wait_for_undrained();
  [[nodiscard]] bool is_drained() const;
  void tell_of_unsent() const;

  dependencies deps_;
  std::optional<outbox_sender> topics_;
  std::list<sink_sender> sinks_;
  std::vector<named_refusals> refusals_;         ///< of these
  std::optional<std::string> told_trouble_;      ///< of the topics, as the status has it
  std::map<std::string, live_sink> told_sinks_;  ///< as the status has them
  time_point made_at_;
  time_point last_trim_;
  log_pace given_up_;
};

/// The readiness condition of the instance by which a sink stands in the way of reading.
[[nodiscard]] std::string condition_of(std::string_view sink);

}  // namespace ratchet
