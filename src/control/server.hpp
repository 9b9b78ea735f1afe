// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "control/checkpoint_request.hpp"
#include "control/handover_request.hpp"
#include "control/sink_request.hpp"
#include "control/waiting_request.hpp"
#include "ports/readable_store.hpp"
#include "ratchet/error.hpp"
#include "telemetry/instance_status.hpp"

namespace ratchet {

/// Every wait and every queue of a control server has one of these bounds.
struct control_limits {
  std::size_t connections{16};                      ///< answered at once; more wait to be accepted
  int backlog{64};                                  ///< of those
  std::chrono::milliseconds request_timeout{2000};  ///< for a request to come in
  std::chrono::milliseconds idle_timeout{500};      ///< so long they wait for one that has not asked
  std::chrono::milliseconds durable_timeout{5000};  ///< for what was read to be synced
  std::chrono::milliseconds stall_timeout{30'000};  ///< for a reader to take one chunk
};

/// Answers get, scan, status and explain on `control.sock` in the state directory, while the owner thread
/// goes on: it reads from a view of the store, and answers only once that view's step is synced. A checkpoint
/// is asked of its taker; what is to become of waiting events and of refused messages, and a hand-over, of
/// their actors.
///
/// Threads: one that accepts, and one for each connection, at most limits.connections; they take no signals.
/// Of the store it calls view(), durable_step(), durable() and request_sync() only. Nothing a client does
/// makes the owner thread wait, but for the flush of a checkpoint and the steps of what is decided about
/// waiting events.
///
/// Lifetime: store, status and taker must outlive it. Where the store has to be opened again, end this first.
class control_server {
 public:
  /// Starts listening. `streams` are the configured ones; whoever asks in the name of another group than
  /// `group` is refused. The caller holds the directory's lock.
  /// Errors: state_busy, where somebody else listens there; io.
  [[nodiscard]] static reported<std::unique_ptr<control_server>> start(
      const std::filesystem::path& state_dir, readable_store&, std::vector<std::string> streams,
      const instance_status&, const control_limits& limits = {}, checkpoint_taker* = nullptr,
      waiting_actor = {}, sink_actor = {}, std::string group = {}, handover_actor = {});
  /// Cuts what is under way, waits for the threads, removes the socket. Takes no longer than one read of the
  /// store.
  ~control_server();
  control_server(const control_server&) = delete;
  control_server& operator=(const control_server&) = delete;

 private:
  struct implementation;
  explicit control_server(std::unique_ptr<implementation>);
  std::unique_ptr<implementation> self_;
};

}  // namespace ratchet
