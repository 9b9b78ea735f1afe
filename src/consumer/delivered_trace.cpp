// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/delivered_trace.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace ratchet {

namespace {

constexpr std::size_t k_line_bytes = 256;

}  // namespace

delivered_trace::delivered_trace(const std::filesystem::path& state_directory) {
  const char* wanted = std::getenv("RATCHET_TRACE_DELIVERED");
  if (wanted == nullptr || std::string_view{wanted} != "1") return;
  const std::string path = (state_directory / "delivered").string();
  fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

delivered_trace::~delivered_trace() {
  if (fd_ >= 0) ::close(fd_);
}

void delivered_trace::note(std::span<const record> records) {
  if (fd_ < 0) return;
  std::map<const topic_partition*, std::int64_t> next;
  for (const record& r : records) next[r.where] = r.offset + 1;
  for (const auto& [where, offset] : next) {
    const int line = lines_.try_emplace(where, static_cast<int>(lines_.size())).first->second;
    std::string text = where->topic + " " + std::to_string(static_cast<std::int32_t>(where->partition)) +
                       " " + std::to_string(offset);
    text.resize(k_line_bytes - 1, ' ');
    text.push_back('\n');
    // A short write would only cost the test a kill that proves nothing.
    [[maybe_unused]] const auto written =
        ::pwrite(fd_, text.data(), text.size(), static_cast<off_t>(line) * static_cast<off_t>(k_line_bytes));
  }
}

}  // namespace ratchet
