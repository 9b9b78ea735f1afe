// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "control/protocol.hpp"
#include "control/requests.hpp"
#include "control/socket.hpp"
#include "ratchet/error.hpp"
#include "text/byte_sink.hpp"

namespace ratchet {

/// One connection to the instance that runs on a state directory, for one request.
/// Thread-safety: none. Every wait is bounded.
class control_client {
 public:
  /// None where no instance runs. Errors: source_unavailable (it is busy: try again); io.
  [[nodiscard]] static reported<std::optional<control_client>> connect(
      const std::filesystem::path& state_dir, const response_timeouts& timeouts = {});

  /// Asks, and passes the answer on as it comes. To be called once.
  /// Errors: those of answer_request(); source_unavailable, where the instance is too slow or ended the
  /// connection; then a part of the answer may have been passed on.
  [[nodiscard]] reported<void> ask(const read_request&, const byte_sink&);
  /// The same for any request, as words.
  [[nodiscard]] reported<void> ask(std::span<const std::string> words, const byte_sink&);
  /// The group of the config in whose name it is asked; an instance of another one refuses with
  /// state_foreign.
  void ask_of_group(std::string group) { group_ = std::move(group); }
  /// For what takes longer than a read: in place of the timeouts given at connect().
  void wait_longer(const response_timeouts& timeouts) noexcept { timeouts_ = timeouts; }
  /// Has ask() call it once where no answer has begun after that long, and go on waiting.
  void tell_of_silence(std::function<void()> tell,
                       std::chrono::milliseconds after = std::chrono::seconds{2}) {
    tell_ = std::move(tell);
    silence_ = after;
  }

 private:
  control_client(unique_fd socket, const response_timeouts& timeouts)
      : socket_{std::move(socket)}, timeouts_{timeouts} {}

  unique_fd socket_;
  response_timeouts timeouts_;
  std::optional<std::string> group_;  ///< none: whoever answers
  std::function<void()> tell_;        ///< empty: nobody is told
  std::chrono::milliseconds silence_{0};
};

}  // namespace ratchet
