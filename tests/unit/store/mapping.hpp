// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What the kernel was told of this process's memory.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace ratchet::store_support {

inline bool kernel_has_huge_pages() {
  return std::filesystem::exists("/sys/kernel/mm/transparent_hugepage");
}

/// Whether huge pages were asked for where this address lies: /proc/self/smaps has the flags of its mapping,
/// as in "VmFlags: rd wr mr mw me ac hg".
inline bool is_advised_to_be_huge(const void* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream maps{"/proc/self/smaps"};
  bool is_inside = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long long begin = 0;
    unsigned long long end = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx ", &begin, &end) == 2)
      is_inside = begin <= wanted && wanted < end;
    if (is_inside && line.starts_with("VmFlags:")) return line.find(" hg") != std::string::npos;
  }
  return false;
}

}  // namespace ratchet::store_support
