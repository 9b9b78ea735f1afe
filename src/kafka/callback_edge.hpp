// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <utility>

/// librdkafka is C: an exception must not pass through it. What a callback throws waits here for whoever
/// polled, who is on the same thread.
namespace ratchet {

inline thread_local std::exception_ptr thrown_by_callback;

template <class Call>
void keep_thrown(Call call) noexcept {
  try {
    call();
  } catch (...) {  // NOLINT: rethrow_kept() throws it
    thrown_by_callback = std::current_exception();
  }
}

/// To be called behind a poll.
inline void rethrow_kept() {
  if (thrown_by_callback != nullptr) std::rethrow_exception(std::exchange(thrown_by_callback, nullptr));
}

}  // namespace ratchet
