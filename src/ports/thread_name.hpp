// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

namespace ratchet {

/// Names the calling thread for whoever looks at the process (`top -H`, perf, a debugger). At most 15
/// characters.
inline void name_this_thread(const char* name) noexcept {
  // It fails for a longer name alone, and nothing depends on it.
  (void)pthread_setname_np(pthread_self(), name);
}

}  // namespace ratchet
