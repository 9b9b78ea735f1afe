// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "core/utf8.hpp"

/// Text that must not reach a person as it is, and whether it did.
namespace ratchet::testing {

inline const std::vector<std::string>& harmful_pieces() {
  using namespace std::string_literals;
  static const std::vector<std::string> pieces = {"\n",
                                                  "\r\n",
                                                  "\t",
                                                  "\0"s,
                                                  "\x1b[2J",
                                                  "\x1b]0;t\x07",
                                                  "\x1f",
                                                  "\x7f",
                                                  "\xC2\x80",
                                                  "\xC2\x85",
                                                  "\xC2\x9B",
                                                  "\xC2\x9F",
                                                  "\xD8\x9C",
                                                  "\xE2\x80\x8E",
                                                  "\xE2\x80\x8F",
                                                  "\xE2\x80\xA8",
                                                  "\xE2\x80\xA9",
                                                  "\xE2\x80\xAA",
                                                  "\xE2\x80\xAE",
                                                  "\xE2\x81\xA6",
                                                  "\xE2\x81\xA9",
                                                  "\xFF",
                                                  "\xC2",
                                                  "\xED\xA0\x80",
                                                  "\xF0\x9F",
                                                  "\x9b",
                                                  "\xC2\xAD",
                                                  "\xE2\x80\x8B",
                                                  "\xEF\xBB\xBF",
                                                  "\xE1\x85\x9F",
                                                  "\xE3\x85\xA4",
                                                  "\xF3\xA0\x80\x81",
                                                  "\xF3\xA0\x81\xBF"};
  return pieces;
}

/// Text of a few pieces, of which most harm.
inline std::string random_text(std::mt19937& random) {
  static const std::vector<std::string> good = {"p-1",
                                                "\"",
                                                "\\",
                                                ",\"level\":\"info\"",
                                                "FORGED: all is well",
                                                "\xC3\xA4",
                                                "\xE2\x82\xAC",
                                                "\xF0\x9F\x98\x80",
                                                " ",
                                                "ok"};
  const auto below = [&random](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>{0, n - 1}(random);
  };
  std::string text = "a";  // of an empty one some outputs tell otherwise
  for (std::size_t pieces = 1 + below(8); pieces > 0; --pieces) {
    switch (below(3)) {
      case 0:
        text += good[below(good.size())];
        break;
      case 1:
        text += harmful_pieces()[below(harmful_pieces().size())];
        break;
      default:
        text += static_cast<char>(below(256));
    }
  }
  return text;
}

/// By another way than the code: the pieces above, and the three ranges byte by byte.
inline std::string what_harms(const std::string& output) {
  if (!is_utf8(output)) return "no UTF-8";
  for (std::size_t at = 0; at < output.size(); ++at) {
    const auto byte = static_cast<unsigned char>(output[at]);
    const auto next = static_cast<unsigned char>(at + 1 < output.size() ? output[at + 1] : 0);
    const auto third = static_cast<unsigned char>(at + 2 < output.size() ? output[at + 2] : 0);
    if ((byte < 0x20 && byte != '\n') || byte == 0x7F) return "control character at " + std::to_string(at);
    if (byte == 0xC2 && next < 0xA0) return "C1 at " + std::to_string(at);
    const bool marks =
        byte == 0xE2 && next == 0x80 && (third == 0x8E || third == 0x8F || (third >= 0xA8 && third <= 0xAE));
    const bool isolates = byte == 0xE2 && next == 0x81 && third >= 0xA6 && third <= 0xA9;
    const bool tags = byte == 0xF3 && next == 0xA0 && (third == 0x80 || third == 0x81);
    const bool fillers = (byte == 0xE1 && next == 0x85 && (third == 0x9F || third == 0xA0)) ||
                         (byte == 0xE3 && next == 0x85 && third == 0xA4) ||
                         (byte == 0xEF && next == 0xBE && third == 0xA0);
    const bool spaces = (byte == 0xC2 && next == 0xAD) || (byte == 0xEF && next == 0xBB && third == 0xBF) ||
                        (byte == 0xE2 && next == 0x80 && third == 0x8B) ||
                        (byte == 0xE2 && next == 0x81 && third == 0xA0);
    if (tags || fillers || spaces) return "invisible at " + std::to_string(at);
    if (marks || isolates || (byte == 0xD8 && next == 0x9C)) return "direction at " + std::to_string(at);
  }
  return "";
}

inline auto lines_of(const std::string& output) {
  return std::count(output.begin(), output.end(), '\n');
}

}  // namespace ratchet::testing
