// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>
#include <utility>

#include "config/file.hpp"
#include "config/schema.hpp"

namespace ratchet {

namespace {

problem invalid(config_findings findings, const std::string& name) {
  problem p;
  p.code = errc::config_invalid;
  const std::size_t n = findings.list.size();
  p.message = name + " has " +
              (findings.full() ? "more errors than are listed: " + std::to_string(n) + " of them are"
               : n == 1        ? "an error"
                               : std::to_string(n) + " errors");
  p.diagnostics = std::move(findings.list);
  return p;
}

/// `open_to_all`: the file can be read by every user.
reported<config> parse(const std::string& text, const std::string& name, const config_overrides& overrides,
                       config_use use, bool open_to_all) {
  config_findings findings;
  findings.reads_secrets = use == config_use::everything;
  config read;
  config_node root = parse_tree(text, name, findings.list);
  // What follows a syntax error was not read: anything said about it would be a guess.
  if (findings.list.empty() || findings.list.back().message.find("not YAML") != 0) {
    if (!root.at.file) root.at = {std::make_shared<const std::string>(name), 1, 1};
    apply_overrides(root, overrides, findings.list);
    findings.drop_surplus();
    read_schema(root, read, findings);
    check_rules(root, read, findings);
  }
  findings.drop_surplus();
  if (!findings.list.empty()) {
    findings.sort(name);
    return invalid(std::move(findings), name);
  }
  for (const std::string& path : findings.plain_secrets) {
    if (!open_to_all) break;
    findings.warn(root.at, path, "is a secret in a file that every user of this machine can read",
                  "chmod 600 " + name + ", or name {file: PATH} or {env: NAME} instead");
  }
  read.file = name;
  read.warnings = std::move(findings.warnings);
  return read;
}

}  // namespace

reported<config> parse_config(const std::string& text, const std::string& name,
                              const config_overrides& overrides, config_use use) {
  constexpr bool k_open_to_all = false;
  return parse(text, name, overrides, use, k_open_to_all);
}

reported<config> load_config(const std::filesystem::path& file, const config_overrides& overrides,
                             config_use use) {
  constexpr std::chrono::seconds k_patience{60};
  RATCHET_TRY(const config_text read, read_config_file(file, k_patience));
  return parse(read.text, file.string(), overrides, use, read.open_to_all);
}

}  // namespace ratchet
