// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/output.hpp"

namespace ratchet {

/// What became of a message that was sent.
struct delivery {
  enum class how : std::uint8_t {
    done,     ///< every broker that has to keep it does
    again,    ///< it may or may not be there; sending it again may help: brokers away, topic missing, access
    refused,  ///< it is not there, and the brokers do not take it, or what was sent together with it
    unfit,    ///< the same, but whatever goes with it; where messages are sent one by one, they are `refused`
  };
  std::uint64_t position{0};
  how ended{how::done};
  std::string text;  ///< why, for people
  /// `again`: nothing is to be sent there before so much time has passed, as the receiver says.
  std::optional<std::chrono::milliseconds> pause{};
};

/// What became of a call of send().
enum class sending : std::uint8_t {
  taken,        ///< it is under way
  ended,        ///< taken, and at its end already: delivered() says how
  full,         ///< not taken: there is no room now
  topic_waits,  ///< not taken: nothing of its topic is before something of it that is under way has ended
  doubtful,  ///< not taken: one as large was refused. It is taken, and the receiver asked, while nothing else
             ///< of its topic is under way
};
[[nodiscard]] constexpr bool is_taken(sending s) noexcept {
  return s == sending::taken || s == sending::ended;
}

/// Takes messages to where they are meant for. Thread-safety: one owner thread.
class publisher {
 public:
  virtual ~publisher() = default;
  /// Copies the message into a bounded queue; what becomes of it, delivered() tells once. Messages of one
  /// topic and key arrive in the order in which they were sent, but for those that have to be sent again.
  [[nodiscard]] virtual sending send(const output_row&) = 0;
  /// What came to its end since the last call. Does not wait.
  [[nodiscard]] virtual std::vector<delivery> delivered() = 0;
  /// Waits until delivered() has more to say, at most so long.
  virtual void wait(std::chrono::milliseconds) = 0;
  /// Has `told` called, on any thread, when delivered() has more to say. Empty: no more, and no call is under
  /// way when this returns.
  virtual void on_progress(std::function<void()> told) = 0;
};

}  // namespace ratchet
