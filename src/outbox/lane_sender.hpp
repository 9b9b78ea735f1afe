// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "outbox/refused_messages.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

/// Sends what one lane of the outbox holds, once the step that put it there is durable, and says what was
/// delivered, so that rows can be trimmed. Thread-safety: one owner thread.
class lane_sender : public refused_messages {
 public:
  /// The step was written, and the lane reaches up to `next` with it.
  virtual void wrote(std::uint64_t step, std::uint64_t next) = 0;
  /// Takes in what ended, and sends what may be sent. Does not wait. Errors: of store::outputs().
  [[nodiscard]] virtual result<void> turn(time_point now) = 0;
  /// The rows, all delivered, that are still in the lane; empty where there is none. The caller writes it in
  /// a step, and calls trimmed().
  [[nodiscard]] virtual outbox_change trim() const = 0;
  virtual void trimmed() = 0;

  /// There are rows whose step is not durable yet.
  [[nodiscard]] virtual bool waits_for_sync() const noexcept = 0;
  /// The next turn finds more to do without anybody's word.
  [[nodiscard]] virtual bool reads_on() const noexcept = 0;
  /// Everything that was written was delivered.
  [[nodiscard]] virtual bool idle() const noexcept = 0;
  /// But for what is refused, and what waits behind it.
  [[nodiscard]] virtual bool is_drained() const noexcept = 0;
  /// So many messages since it was made.
  [[nodiscard]] virtual std::uint64_t sent() const noexcept = 0;
  /// Why messages do not get through at the moment; none while they do.
  [[nodiscard]] virtual const std::optional<std::string>& trouble() const noexcept = 0;
};

}  // namespace ratchet
