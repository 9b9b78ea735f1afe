// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>

/// Reads Prometheus's text format as far as tests need it, and asks promtool about it.
namespace ratchet::testing {

/// By name and labels, as they stand.
inline std::map<std::string, double> read_metrics(const std::string& text) {
  std::map<std::string, double> all;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t end = line.rfind(' ');
    if (!all.emplace(line.substr(0, end), std::strtod(line.c_str() + end + 1, nullptr)).second)
      throw std::runtime_error{"twice: " + line};
  }
  return all;
}

inline bool has_promtool() {
  return std::system("command -v promtool >/dev/null") == 0;
}

/// What `promtool check metrics` finds wrong; empty where nothing is.
inline std::string promtool_findings(const std::string& text) {
  std::string file = (std::filesystem::temp_directory_path() / "ratchet-metrics-XXXXXX").string();
  const int fd = ::mkstemp(file.data());
  if (fd < 0) throw std::runtime_error{"mkstemp failed"};
  ::close(fd);
  std::ofstream{file} << text;
  std::FILE* out = ::popen(("promtool check metrics <'" + file + "' 2>&1").c_str(), "r");
  if (out == nullptr) throw std::runtime_error{"popen failed"};
  std::string findings;
  for (int c = std::fgetc(out); c != EOF; c = std::fgetc(out)) findings += static_cast<char>(c);
  const int status = ::pclose(out);
  std::filesystem::remove(file);
  return status == 0 && findings.empty() ? "" : "exit " + std::to_string(status) + ": " + findings;
}

}  // namespace ratchet::testing
