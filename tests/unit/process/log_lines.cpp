// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The table of what is logged: the docs have it, and the sources keep to it.
#include "process/log_lines.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "test_paths.hpp"

namespace ratchet {
namespace {

const std::filesystem::path k_root{RATCHET_SOURCE_DIR};

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in{file};
  return {std::istreambuf_iterator<char>{in}, {}};
}

std::string name_of_level(spdlog::level::level_enum level) {
  if (level == spdlog::level::debug) return "debug";
  if (level == spdlog::level::info) return "info";
  return level == spdlog::level::warn ? "warn" : "error";
}

/// All sources but those that make the log itself.
std::string sources() {
  std::string all;
  for (const auto& at : std::filesystem::recursive_directory_iterator{k_root / "src"}) {
    const std::string name = at.path().filename().string();
    if (at.path().extension() == ".cpp" && name != "log_lines.cpp") all += text_of(at.path());
  }
  return all;
}

TEST(log_table, stands_in_the_docs) {
  std::string want;
  for (const log_rule& rule : log_rules()) {
    want += "| `" + std::string{rule.code} + "` | " + name_of_level(rule.level) + " | " +
            std::string{rule.when} + " |\n";
  }
  const std::string docs = text_of(k_root / "docs/reference/log.md");
  const std::string begin = "|---|---|---|\n";
  ASSERT_NE(docs.find(begin), std::string::npos);
  EXPECT_EQ(docs.substr(docs.find(begin) + begin.size()), want);
}

TEST(log_table, names_each_kind_once_and_every_one_is_written_somewhere) {
  std::set<std::string_view> codes;
  const std::string all = sources();
  for (const log_rule& rule : log_rules()) {
    EXPECT_TRUE(codes.insert(rule.code).second) << rule.code;
    EXPECT_TRUE(all.find("log_kind::" + std::string{rule.code}) != std::string::npos ||
                all.find("\"code\":\"" + std::string{rule.code}) != std::string::npos)
        << rule.code;
  }
}

TEST(log_table, is_passed_by_no_line) {
  const std::string all = sources();
  const std::regex past{R"(log_?->(trace|debug|info|warn|error|critical)\()"};
  std::smatch found;
  EXPECT_FALSE(std::regex_search(all, found, past)) << found.str();
}

}  // namespace
}  // namespace ratchet
