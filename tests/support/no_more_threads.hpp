// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <cstddef>

namespace ratchet::testing {

/// While it lives, no thread of this process can be started, as if the system allowed no more: each would
/// need a stack that no address space has room for.
class no_more_threads {
 public:
  no_more_threads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, std::size_t{1} << 47U);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  ~no_more_threads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  no_more_threads(const no_more_threads&) = delete;
  no_more_threads& operator=(const no_more_threads&) = delete;
  no_more_threads(no_more_threads&&) = delete;
  no_more_threads& operator=(no_more_threads&&) = delete;

 private:
  pthread_attr_t before_{};
};

}  // namespace ratchet::testing
