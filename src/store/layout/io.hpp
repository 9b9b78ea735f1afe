// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/byte_io.hpp"
#include "ratchet/error.hpp"
#include "store/layout/layout.hpp"

/// What all keys and values of the layout share.
namespace ratchet::layout {

[[nodiscard]] inline std::error_code damaged() {
  return make_error_code(errc::state_damaged);
}

/// The beginning of a value: its format byte.
[[nodiscard]] inline std::string with_format() {
  return std::string(1, k_format);
}

/// A value's bytes behind its format byte.
[[nodiscard]] inline byte_reader after_format(std::string_view value) {
  byte_reader in{value};
  in.expect(in.u8() == static_cast<unsigned>(k_format));
  return in;
}

/// The headers of a record: how many, and of each a flag (1: it has a value), its name and its value.
using kept_headers = std::vector<std::pair<std::string, std::optional<std::string>>>;

inline void put_headers(byte_writer& out, const kept_headers& headers) {
  out.u32(static_cast<std::uint32_t>(headers.size()));
  for (const auto& [name, value] : headers) {
    out.u8(value ? 1 : 0);
    out.bytes(name);
    if (value) out.bytes(*value);
  }
}

[[nodiscard]] inline kept_headers read_headers(byte_reader& in) {
  kept_headers headers;
  for (std::uint32_t count = in.u32(); count > 0 && !in.bad(); --count) {
    const unsigned has_value = in.u8();
    in.expect(has_value <= 1);
    auto& [name, value] = headers.emplace_back();
    name = in.bytes();
    if (has_value != 0) value = std::string{in.bytes()};
  }
  return headers;
}

}  // namespace ratchet::layout
