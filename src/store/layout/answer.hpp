// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/kept_answer.hpp"
#include "ratchet/error.hpp"

/// How the value of an opaque id in `dedup` looks that a transaction has filed. The answer lies in the id's
/// own row, so that one read finds both, and both are forgotten at once:
///
///   u8 format (2), i64 the time that it is filed under, u64 epoch, u64 number, u8 flags (1 fingerprint, 2
///   reply), optional fingerprint (XXH3-128), optional bytes reply
namespace ratchet::layout {

constexpr char k_answered_format = 2;

[[nodiscard]] std::string encode_answered_id(timestamp filed, const kept_answer&);
/// The answer in the value of an opaque id; none: it has none. Errors: state_damaged.
[[nodiscard]] result<std::optional<kept_answer>> decode_answer(std::string_view value);
/// The time in the value of an opaque id, with or without an answer. Errors: state_damaged.
[[nodiscard]] result<timestamp> filed_time_of(std::string_view value);

}  // namespace ratchet::layout
