// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "ratchet/error.hpp"

namespace ratchet {

inline constexpr std::size_t k_largest_config = std::size_t{4} << 20;

struct config_text {
  std::string text;
  bool open_to_all{false};  ///< every user of this machine can read the file
};

/// Reads a config to its end. It may also be a pipe, as of `-c /dev/stdin` or of a shell's `<(...)`: then
/// `patience` is how long its end may take. Never waits for longer, whatever the path names, and never takes
/// more than 4 MiB. Errors: io, naming the file.
[[nodiscard]] reported<config_text> read_config_file(const std::filesystem::path&,
                                                     std::chrono::milliseconds patience);

/// The same for the payload that an operator gives. Takes no more than `most` bytes and one: what is longer
/// comes cut off there.
[[nodiscard]] reported<std::string> read_payload_file(const std::filesystem::path&, std::size_t most,
                                                      std::chrono::milliseconds patience);

}  // namespace ratchet
