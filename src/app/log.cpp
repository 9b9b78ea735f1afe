// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "app/log.hpp"

#include <spdlog/sinks/null_sink.h>

namespace ratchet {

log_ptr silent_log() {
  return std::make_shared<spdlog::logger>("", std::make_shared<spdlog::sinks::null_sink_mt>());
}

}  // namespace ratchet
