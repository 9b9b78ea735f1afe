// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "telemetry/process_stats.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "ports/descriptor_limit.hpp"

namespace ratchet {

namespace {

// Fields of /proc/self/stat behind the name, see proc(5), counted from its field 3.
constexpr std::size_t k_user_ticks = 11;
constexpr std::size_t k_system_ticks = 12;
constexpr std::size_t k_start_ticks = 19;
constexpr std::size_t k_virtual_bytes = 20;
constexpr std::size_t k_resident_pages = 21;

/// The numbers behind the name, which stands in parentheses and may hold anything.
std::vector<std::string> stat_fields() {
  std::ifstream in{"/proc/self/stat"};
  std::string all;
  std::getline(in, all);
  const std::size_t name_end = all.rfind(')');
  std::vector<std::string> fields;
  if (name_end == std::string::npos) return fields;
  std::istringstream rest{all.substr(name_end + 1)};
  for (std::string field; rest >> field;) fields.push_back(field);
  return fields;
}

/// When the system was started, in seconds since 1970.
double boot_time() {
  std::ifstream in{"/proc/stat"};
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("btime ")) return std::strtod(line.c_str() + 6, nullptr);
  }
  return 0;
}

std::uint64_t count_descriptors() {
  std::error_code code;
  std::uint64_t count = 0;
  for (std::filesystem::directory_iterator at{"/proc/self/fd", code}, end; !code && at != end;
       at.increment(code)) {
    ++count;
  }
  return count == 0 ? 0 : count - 1;  // less the one that lists them
}

}  // namespace

process_stats read_process_stats() {
  process_stats all;
  const std::vector<std::string> fields = stat_fields();
  if (fields.size() > k_resident_pages) {
    const auto number = [&fields](std::size_t at) { return std::strtoull(fields[at].c_str(), nullptr, 10); };
    const auto seconds = [&number](std::size_t at) {
      return static_cast<double>(number(at)) / static_cast<double>(::sysconf(_SC_CLK_TCK));
    };
    all.cpu_seconds = seconds(k_user_ticks) + seconds(k_system_ticks);
    all.start_time_seconds = boot_time() + seconds(k_start_ticks);
    all.virtual_bytes = number(k_virtual_bytes);
    all.resident_bytes = number(k_resident_pages) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  }
  all.open_descriptors = count_descriptors();
  all.most_descriptors = soft_descriptor_limit().value_or(0);
  return all;
}

}  // namespace ratchet
