// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <sstream>

#include "app/config_schema.hpp"

namespace ratchet {

namespace {

constexpr std::size_t k_largest_file = std::size_t{4} << 20;

problem invalid(std::vector<diagnostic> findings, const std::string& name) {
  problem p;
  p.code = errc::config_invalid;
  const std::size_t n = findings.size();
  p.message = name + " has " + (n == 1 ? "an error" : std::to_string(n) + " errors");
  p.diagnostics = std::move(findings);
  return p;
}

problem unreadable(const std::filesystem::path& file, const std::string& why, const char* hint = "") {
  return {errc::io, "cannot read the config " + file.string() + ": " + why, hint, {}};
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
    read_schema(root, read, findings);
    check_rules(root, read, findings);
  }
  if (!findings.list.empty()) {
    findings.sort(name);
    return invalid(std::move(findings.list), name);
  }
  for (const std::string& path : findings.plain_secrets) {
    if (!open_to_all) break;
    findings.warn(root.at, path, "is a secret in a file that every user of this machine can read",
                  "chmod 600 " + name + ", or name {file: PATH} or {env: NAME} in its place");
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
  std::error_code code;
  if (std::filesystem::is_directory(file, code)) return unreadable(file, "it is a directory");
  errno = 0;
  std::ifstream stream{file, std::ios::binary};
  if (!stream) {
    // Only where there is none: elsewhere the hint would tell people to overwrite the one they have.
    return unreadable(file, std::generic_category().message(errno),
                      errno == ENOENT ? "ratchet init > ratchet.yaml writes one to start from" : "");
  }
  std::string text(k_largest_file + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) return unreadable(file, std::generic_category().message(errno));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.size() > k_largest_file) return unreadable(file, "it is larger than 4 MiB, which no config is");
  struct ::stat info {};
  const bool open_to_all = ::stat(file.c_str(), &info) == 0 && (info.st_mode & S_IROTH) != 0;
  return parse(text, file.string(), overrides, use, open_to_all);
}

}  // namespace ratchet
