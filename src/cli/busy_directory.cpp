// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "cli/busy_directory.hpp"

#include <thread>

#include "control/client.hpp"
#include "store/files/directory_lock.hpp"

namespace ratchet::cli {

namespace {

constexpr std::chrono::milliseconds k_look_again{50};

[[nodiscard]] bool is_busy(const std::filesystem::path& state) {
  // Shared, and given back at once: who comes to open it takes that for a reader's, and waits.
  const auto lock = directory_lock::take(state, directory_lock::mode::shared);
  if (lock || lock.error().code != make_error_code(errc::state_busy)) return false;
  const auto instance = control_client::connect(state);
  return instance && !instance.value();
}

}  // namespace

void wait_for_directory(const std::filesystem::path& state, std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (is_busy(state) && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(k_look_again);
}

}  // namespace ratchet::cli
