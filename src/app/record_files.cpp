// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "app/record_files.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "app/line_reader.hpp"
#include "decode/kcat_line.hpp"

namespace ratchet {

namespace {

constexpr std::size_t k_batch_lines = 5'000;
constexpr std::size_t k_line_batch_bytes = std::size_t{16} << 20U;
/// kcat prints the position before the rest; the name of a topic is no longer than 249 bytes.
constexpr std::size_t k_beginning = 512;

[[nodiscard]] bool read_position(kcat_line_reader& reader, const input_line& line, kcat_record& to) {
  if (reader.read_beginning(line.text.substr(0, k_beginning), to)) return true;
  return !line.too_large && reader.read(line.text, to).reason == malformed_reason::none;
}

}  // namespace

std::map<topic_partition, std::int64_t> partitions_in(std::span<const std::string> files,
                                                      const std::atomic<bool>& stop) {
  std::map<topic_partition, std::int64_t> found;
  kcat_line_reader reader;
  kcat_record read;
  for (const std::string& path : files) {
    std::error_code unreadable;
    if (path == "-" || !std::filesystem::is_regular_file(path, unreadable)) continue;
    auto opened = line_reader::open(path);
    if (!opened) continue;
    line_batch batch;
    while (!stop.load(std::memory_order_relaxed)) {
      const auto more = opened.value().next_batch(batch, k_batch_lines, k_line_batch_bytes);
      if (!more || !more.value()) break;
      for (const input_line& line : batch.lines) {
        if (!read_position(reader, line, read)) continue;
        const auto [at, is_new] = found.try_emplace({read.topic, read.partition}, read.offset);
        if (!is_new) at->second = std::max(at->second, read.offset);
      }
    }
  }
  return found;
}

}  // namespace ratchet
