// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "cli/busy_directory.hpp"

#include <cstdio>
#include <string>
#include <thread>

#include "control/client.hpp"
#include "core/shown_text.hpp"
#include "core/typed_command.hpp"
#include "store/files/directory_lock.hpp"

namespace ratchet::cli {

namespace {

constexpr std::chrono::milliseconds k_look_again{50};
constexpr std::chrono::seconds k_moment{2};

void tell_on_stderr(const std::string& what) {
  std::string line;
  append_line(line, "ratchet: " + what);
  std::fputs(line.c_str(), stderr);
}

[[nodiscard]] bool is_busy(const std::filesystem::path& state) {
  // Shared, and given back at once: who comes to open it takes that for a reader's, and waits.
  const auto lock = directory_lock::take(state, directory_lock::mode::shared);
  if (lock || lock.error().code != make_error_code(errc::state_busy)) return false;
  const auto instance = control_client::connect(state);
  return instance && !instance.value();
}

}  // namespace

void wait_for_directory(const std::filesystem::path& state, std::chrono::milliseconds patience) {
  const auto begin = std::chrono::steady_clock::now();
  bool told = false;
  while (is_busy(state) && std::chrono::steady_clock::now() < begin + patience) {
    if (!told && std::chrono::steady_clock::now() > begin + k_moment) {
      tell_on_stderr("waiting for the process that is starting or stopping in " + state.string());
      told = true;
    }
    std::this_thread::sleep_for(k_look_again);
  }
}

void say_that_it_waits() {
  tell_on_stderr("waiting for the instance: it takes decisions once it has claimed its consumer group; " +
                 typed_command("status") + " shows what it waits for");
}

}  // namespace ratchet::cli
