// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/output.hpp"
#include "store/layout/layout.hpp"

/// Keys and values of the column family `outbox`, and the outbox's row in `default`. The bytes are written
/// down in layout.hpp.
namespace ratchet::layout {

// A lane is named by its sink; Kafka's has the empty name. No name holds a zero byte.
[[nodiscard]] std::string outbox_state_key(std::string_view lane = {});
/// All keys of the lane's outputs start so.
[[nodiscard]] std::string output_prefix(std::string_view lane = {});
[[nodiscard]] std::string output_key(std::uint64_t position, std::string_view lane = {});

struct output_place {
  std::string lane;
  std::uint64_t position;
};

// Errors of everything below: state_damaged.
[[nodiscard]] result<std::string> parse_outbox_state_key(std::string_view);
[[nodiscard]] result<output_place> parse_output_key(std::string_view);
[[nodiscard]] std::string encode_outbox_state(const outbox_state&);
[[nodiscard]] result<outbox_state> decode_outbox_state(std::string_view);
[[nodiscard]] std::string encode_output(const output_row&);
/// `position`: as the key says.
[[nodiscard]] result<output_row> decode_output(std::uint64_t position, std::string_view);

}  // namespace ratchet::layout
