// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "ports/durable_signal.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

/// Which steps are written, and which of them survive a power cut. Thread-safety: any thread, but for sync()
/// and failure(), which are the owner's.
class durable_steps {
 public:
  virtual ~durable_steps() = default;

  /// The last step that write() took (or that was recovered at open).
  [[nodiscard]] virtual std::uint64_t last_step() const noexcept = 0;
  /// The last step that survives a power cut: the last one that was written before a sync began.
  [[nodiscard]] virtual std::uint64_t durable_step() const noexcept = 0;
  /// Starts a sync in the background, or has one follow the sync under way; durable_step() shows the result.
  /// Any thread.
  virtual void request_sync() = 0;
  /// Syncs and waits; afterwards durable_step() == last_step() at the call.
  /// Errors: write_indeterminate, also where an earlier background sync failed. A failed sync is never tried
  /// again.
  [[nodiscard]] virtual result<void> sync() = 0;

  /// Tells that durable_step() has moved, on a thread of the store's own; a store without one tells nothing.
  /// See wait_until_durable(). Any thread.
  [[nodiscard]] durable_signal& durable() const noexcept { return durable_; }

  /// Why this store cannot write any more, in the words of the system, for people; empty while it can.
  [[nodiscard]] virtual std::string failure() const { return {}; }

 private:
  mutable durable_signal durable_;
};

}  // namespace ratchet
