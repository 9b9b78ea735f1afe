// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/store_failure.hpp"

namespace ratchet {

session_result store_failure(const durable_steps& of, const config& settings, std::error_code code) {
  const std::string why = of.failure();
  return {session_end::store_lost, problem{code,
                                           "a write to " + settings.state.path.string() +
                                               " failed: " + (why.empty() ? code.message() : why),
                                           "check the disk; what was not durable is read from Kafka again",
                                           {}}};
}

}  // namespace ratchet
