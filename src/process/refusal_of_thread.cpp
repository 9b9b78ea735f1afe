// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "process/refusal_of_thread.hpp"

#include <string>

namespace ratchet {

std::optional<problem> refusal_of_thread(const std::system_error& thrown) {
  if (thrown.code() != std::errc::resource_unavailable_try_again) return std::nullopt;
  return problem{make_error_code(errc::io),
                 std::string{"cannot start a thread: "} + thrown.what(),
                 "allow this user more processes (`ulimit -u`, or TasksMax= of the service), and start again",
                 {}};
}

}  // namespace ratchet
