// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/stream_state.hpp"

/// What people are told of a rejected record, wherever it is told. Pure.
namespace ratchet {

/// What is wrong with what cannot be decoded, and where: "NAME at POINTER, byte N"; empty: it could be.
[[nodiscard]] std::string fault_text(const rejected_row&);
/// What is most likely the matter, where the name of the fault, its pointer and the record tell; else empty.
[[nodiscard]] std::string hint_on_fault(std::string_view fault, const std::optional<std::string>& value,
                                        std::string_view pointer = {});
/// The same of a rejected record; also why an event was rejected that could be decoded, where that needs more
/// than its name.
[[nodiscard]] std::string hint_on(const rejected_row&);
/// What stands for the position of a record of a plain file: 16 hexadecimal digits.
[[nodiscard]] std::string content_hash_text(const rejected_row&);

}  // namespace ratchet
