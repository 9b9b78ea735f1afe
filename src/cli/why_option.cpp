// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "cli/why_option.hpp"

namespace ratchet::cli {

void add_why_option(CLI::App& command, std::string& why) {
  constexpr std::size_t k_most = 1000;
  command.add_option("--why", why, "What the audit rows are to say of it, beside who decided it")
      ->type_name("TEXT")
      ->check([](const std::string& text) {
        return text.size() <= k_most ? std::string{} : "must have 1000 bytes at most";
      });
}

}  // namespace ratchet::cli
