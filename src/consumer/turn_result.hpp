// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "core/success.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

/// How a session ended, and so what comes next.
enum class session_end : std::uint8_t {
  drained,      ///< told to stop; all that was handled is durable and committed
  caught_up,    ///< `until_end`: every partition reached the end it had
  client_lost,  ///< make a new client and go on from the store
  store_lost,   ///< a write failed: open the store again and read the truth
  rebuild,      ///< `--resume rebuild` applies: put the directory aside and start over
  refused,      ///< `why` says what stands against it
  left,         ///< of a replicated log: the group was left on purpose, and a new client goes on at once
};

struct session_result {
  session_end end{session_end::drained};
  std::optional<problem> why;
};

/// What a part of a turn comes to: a value, or how it ended the session, which RATCHET_TRY passes on.
template <class T = void>
using turn_result = BOOST_OUTCOME_V2_NAMESPACE::basic_result<T, session_result,
                                                             BOOST_OUTCOME_V2_NAMESPACE::policy::terminate>;

/// The session goes on.
[[nodiscard]] inline auto go_on() noexcept {
  return success();
}

}  // namespace ratchet
