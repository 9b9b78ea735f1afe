// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "pipeline/posted_tasks.hpp"
#include "pipeline/posted_transactions.hpp"

namespace ratchet {

/// The one way for other threads to have something done by the owner of store and pipeline, between two
/// steps: bounded, and for any number of threads. It holds what is posted by kind. The owner takes as many
/// transactions as fit into a turn, then one task, then records again: no kind keeps another from its turn,
/// and each has a bound of its own. Thread-safety: as its parts say; on_post() on the owner's thread.
struct mailbox {
  posted_tasks tasks;
  posted_transactions transactions;

  /// Calls `wake` each time that something is posted which the owner can begin and finds nothing else before
  /// it, on the thread that posts. Empty: nothing is called any more, and no call is under way when this
  /// returns.
  void on_post(const std::function<void()>& wake) {
    tasks.on_post(wake);
    transactions.on_post(wake);
  }
};

}  // namespace ratchet
