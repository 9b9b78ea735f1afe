// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "consumer/flow_control.hpp"
#include "consumer/outbox_delivery.hpp"
#include "pipeline/mailbox.hpp"
#include "pipeline/pipeline.hpp"
#include "ports/source.hpp"
#include "ports/store.hpp"
#include "ratchet/config.hpp"
#include "telemetry/run_meter.hpp"

namespace ratchet {

/// Does between steps what other threads posted to the mailbox: transactions, and tasks such as checkpoints
/// and decisions of operators. Thread-safety: the owner's thread.
class owner_requests {
 public:
  struct dependencies {
    const config& settings;
    task_list& tasks;
    ratchet::store& store;
    source& wakes;  ///< its poll ends when something is posted
    run_meter& meter;
    pipeline& steps;
    const outbox_delivery& delivery;
    const flow_control& flow;
    mailbox* inbox{nullptr};  ///< none: nobody posts
  };
  explicit owner_requests(dependencies);
  ~owner_requests();
  owner_requests(const owner_requests&) = delete;
  owner_requests& operator=(const owner_requests&) = delete;

  /// Somebody waits for a sync to be told.
  [[nodiscard]] bool await_sync() const;
  /// Tells those whose step is durable.
  void answer();
  /// Does those transactions that are asked for, at most so many that records have their turn. Errors: as
  /// pipeline::transact(); of store::sync(). Who waits is then put back for the next session.
  [[nodiscard]] result<void> transact();
  /// Runs one task. `claimed`: the state is this instance's to change. Errors: of what it wrote.
  [[nodiscard]] result<void> serve(bool claimed);

 private:
  using tickets = std::vector<posted_transactions::ticket_ptr>;
  [[nodiscard]] result<void> take(const tickets&);

  dependencies deps_;
};

}  // namespace ratchet
