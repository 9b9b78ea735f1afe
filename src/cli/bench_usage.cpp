// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "cli/bench_usage.hpp"

#include <sys/resource.h>

#include <fstream>
#include <string>

namespace ratchet::cli {

namespace {

[[nodiscard]] double seconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
}

/// Counted where a page becomes dirty, so that it does not depend on when the kernel writes it.
[[nodiscard]] std::uint64_t written_bytes() {
  std::ifstream file{"/proc/self/io"};
  std::string name;
  std::uint64_t value = 0;
  while (file >> name >> value) {
    if (name == "write_bytes:") return value;
  }
  return 0;
}

}  // namespace

process_usage usage_of_process() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return {seconds(used.ru_utime) + seconds(used.ru_stime), static_cast<std::uint64_t>(used.ru_maxrss) * 1024U,
          written_bytes()};
}

}  // namespace ratchet::cli
