// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "consumer/consumer_session.hpp"

namespace ratchet {

/// What follows a session.
enum class next_move : std::uint8_t {
  end,          ///< all is done
  give_up,      ///< with the session's problem
  ride_out,     ///< brokers away, or rights taken: the same again after a pause
  make_client,  ///< a new client, from the store as it is
  open_store,   ///< the store again, and what it holds is the truth
  rebuild,      ///< put the directory aside and start over
};

/// Decides what follows each session of a run, and how often something may fail in a row. Pure: whoever asks
/// does it. One thread.
class session_loop {
 public:
  /// `was_assigned`: consumer_session::was_assigned(). `handled`: how many events the store said were handled
  /// when it was opened for this session.
  [[nodiscard]] next_move after(const session_result&, bool was_assigned, std::uint64_t handled);

 private:
  bool has_consumed_{false};  ///< a session got as far as an assignment
  int lost_in_a_row_{0};
  int reopened_in_a_row_{0};
  std::uint64_t handled_at_reopen_{0};
};

}  // namespace ratchet
