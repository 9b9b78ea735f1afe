// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "ports/stream_meaning.hpp"
#include "ratchet/config.hpp"

namespace ratchet {

/// What the stored state of a stream depends on: order (of `strict` its first number and what a new epoch
/// is), kind of id, where the fields come from, and the reducer. Window, skew, limits, gap policy, retries,
/// time limit, poison and the rules of `kind: flaky` are no part of it: they may change between two runs. The
/// keys and the spelling of the values are compared with what is on disk: a change of either is a change of
/// format.
[[nodiscard]] stream_meaning meaning_of(const stream_config&, std::string_view reducer_name,
                                        std::uint32_t reducer_version);

}  // namespace ratchet
