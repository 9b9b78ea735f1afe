// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <string>

#include "cli/command.hpp"
#include "cli/manual_text.hpp"

namespace ratchet::cli {

namespace {

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

void add_manual_commands(CLI::App& root, command_line&) {
  CLI::App* completion = root.add_subcommand("completion", "Print a completion script for a shell");
  const auto shell = std::make_shared<std::string>();
  completion->add_option("SHELL", *shell, "bash")->required()->check(CLI::IsMember({"bash"}));
  completion->footer(
      "Packages install it. By hand:\n  ratchet completion bash > "
      "~/.local/share/bash-completion/completions/ratchet\n"
      "zsh takes the same script: autoload -U +X bashcompinit && bashcompinit && source <(ratchet completion "
      "bash)");
  completion->callback([&root, shell] { print(bash_completion(root)); });

  CLI::App* manual = root.add_subcommand("manual", "Print the manual page, in the language of man(7)");
  manual->group("");  // for whoever makes a package
  manual->callback([&root] { print(manual_page(root, RATCHET_VERSION)); });
}

}  // namespace ratchet::cli
