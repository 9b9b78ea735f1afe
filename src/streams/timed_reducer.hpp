// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <utility>

#include "ratchet/error.hpp"
#include "ratchet/reducer.hpp"

namespace ratchet {

/// Calls a reducer and looks at a steady clock before and behind it. A call that took longer than the limit
/// counts as a passing failure, whatever it said, so that the state of its aggregate stays as it was and the
/// event is tried again. Nothing is interrupted, as no code can be safely; a reducer that never returns is
/// told by /livez. What the wrapped one throws goes through.
///
/// `Clock` is any steady one; tests bring their own. Thread-safety: that of the reducer.
/// Errors: errc::reducer_slow (retry).
template <class Clock = std::chrono::steady_clock>
class timed_reducer {
  static_assert(Clock::is_steady, "a clock that is set would fail reducers for nothing");

 public:
  timed_reducer(reducer wrapped, std::chrono::milliseconds limit)
      : wrapped_{std::move(wrapped)}, limit_{limit} {}

  [[nodiscard]] outcome apply(const event& e, state& s, effects& fx) const {
    const auto begin = Clock::now();
    outcome said = wrapped_.apply(e, s, fx);
    if (Clock::now() - begin > limit_) return retry(make_error_code(errc::reducer_slow));
    return said;
  }

 private:
  reducer wrapped_;
  std::chrono::milliseconds limit_;
};

/// The reducer behind a time limit; of the same traits, so that the stored meaning does not change with it.
[[nodiscard]] inline reducer with_time_limit(reducer wrapped, std::chrono::milliseconds limit) {
  const reducer_traits traits = wrapped.traits();
  return {traits, timed_reducer<>{std::move(wrapped), limit}};
}

}  // namespace ratchet
