// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/line_reader.hpp"
#include "decode/decoder.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

/// How an input is to be read.
struct expected_input {
  std::string file;                                 ///< its path, or -
  bool records{false};                              ///< `apply --records`
  decode_rules rules;                               ///< of the stream that plain lines are for
  std::function<bool(const std::string&)> takes{};  ///< whether some stream takes records of a topic
  std::string topics{};                             ///< those that are taken, for people
};

/// So many lines are looked at.
constexpr std::size_t k_lines_looked_at = 100;

/// What an input is that holds no lines for `apply`, with the command that makes such lines of it; none where
/// it may be applied: some of its first lines can be read, or nobody can tell what it is. `bytes` are the
/// first of the input, `lines` its first lines, without a byte order mark. The problem's code is errc::usage.
[[nodiscard]] std::optional<problem> look_at(const expected_input&, std::string_view bytes,
                                             std::span<const input_line> lines);

/// The file holds records of a topic that no stream takes.
[[nodiscard]] problem foreign_topic(const expected_input&, const std::string& topic);

/// Whether it is a file's first line, and begins with what some editors and Windows put before a file.
[[nodiscard]] bool has_byte_order_mark(const input_line&) noexcept;
/// The line without the byte order mark that a file may begin with.
[[nodiscard]] std::string_view without_byte_order_mark(const input_line&) noexcept;

}  // namespace ratchet
