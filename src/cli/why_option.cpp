// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "cli/why_option.hpp"

namespace ratchet::cli {

void add_why_option(CLI::App& command, std::string& why) {
  constexpr std::size_t k_most = 1000;
  command.add_option("--why", why, "The reason, which the audit rows record beside who decided")
      ->type_name("TEXT")
      ->check([](const std::string& text) {
        return text.size() <= k_most ? std::string{} : "must have 1000 bytes at most";
      });
}

}  // namespace ratchet::cli
