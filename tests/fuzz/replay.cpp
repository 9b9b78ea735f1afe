// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "fuzz/fuzz_input.hpp"

namespace {

namespace fs = std::filesystem;

/// The names in a listing, whose lines are "HASH  NAME" as sha1sum writes them, sorted. Empty where it cannot
/// be read.
std::vector<std::string> names_listed(const char* listing) {
  std::vector<std::string> names;
  std::ifstream stream{listing};
  for (std::string line; std::getline(stream, line);) names.push_back(line.substr(line.rfind(' ') + 1));
  std::sort(names.begin(), names.end());
  return names;
}

/// Whether `files` are those that `listing` names, no fewer and no others. Tells the first that differs, and
/// the mark of the build to remove so that it unpacks them again.
bool are_listed(const std::vector<fs::path>& files, const char* listing, const char* folder) {
  std::vector<std::string> found;
  for (const fs::path& file : files) found.push_back(file.filename().string());
  std::sort(found.begin(), found.end());
  const std::vector<std::string> names = names_listed(listing);
  if (found == names) return true;
  std::vector<std::string> differ;
  std::set_symmetric_difference(found.begin(), found.end(), names.begin(), names.end(),
                                std::back_inserter(differ));
  std::fprintf(stderr, "%zu inputs where %s lists %zu, %s for one; remove %s.unpacked and build again\n",
               found.size(), listing, names.size(), differ.empty() ? "" : differ.front().c_str(), folder);
  return false;
}

}  // namespace

/// Where there is no libFuzzer: runs the target once for each file named, and for each in the folders named.
/// With --listed FILE in front these must be the inputs that FILE lists, so that a part of a corpus is no
/// replay of it. A claim that does not hold aborts, with the file's name as the last line on standard output.
int main(int argc, char** argv) {
  std::vector<fs::path> files;
  std::error_code error;
  const char* listing = nullptr;
  int first = 1;
  if (argc > 3 && std::string_view{argv[1]} == "--listed") {
    listing = argv[2];
    first = 3;
  }
  for (int i = first; i < argc; ++i) {
    if (!fs::is_directory(argv[i], error)) {
      files.emplace_back(argv[i]);
      continue;
    }
    for (const auto& entry : fs::directory_iterator{argv[i], error}) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    std::fputs("no inputs: name files or folders of them\n", stderr);
    return 64;
  }
  if (listing != nullptr && !are_listed(files, listing, argv[first])) return 65;
  for (const fs::path& file : files) {
    std::ifstream stream{file, std::ios::binary};
    const std::string bytes{std::istreambuf_iterator<char>{stream}, {}};
    if (!stream) {
      std::fprintf(stderr, "cannot read %s\n", file.c_str());
      return 74;
    }
    std::printf("%s\n", file.filename().c_str());
    std::fflush(stdout);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  std::printf("replayed %zu inputs\n", files.size());
  return 0;
}
