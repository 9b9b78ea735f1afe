// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/stream_state.hpp"
#include "ports/replica.hpp"
#include "ratchet/error.hpp"
#include "replicate/log_reader.hpp"

/// How far a store is in a slot's replicated log, and which rows the log has. The bytes are written down in
/// layout.hpp.
namespace ratchet::layout {

[[nodiscard]] std::string slot_key(slot);
/// The position behind a step, at the last of its records, or before a log. It is never at a fence.
[[nodiscard]] std::string encode_slot(const replicate::log_position&);
/// The key of the mark that a whole copy is being read into the store. Its value is encode_presence().
[[nodiscard]] std::string restore_key();
/// The key of the row that names the log's owner.
[[nodiscard]] std::string owner_key();
[[nodiscard]] std::string encode_owner(const slot_owner&);
// Errors: state_damaged.
[[nodiscard]] result<slot_owner> decode_owner(std::string_view);
[[nodiscard]] result<slot> parse_slot_key(std::string_view);
[[nodiscard]] result<replicate::log_position> decode_slot(std::string_view);

/// Whether a row is of this replica alone, so that no log has it: its step numbers, identity, mark of a
/// copy, incarnations, how far it is in the log, and whose that is. `in_default`: in that column family. A
/// key of `default` of a kind that this version does not know is local.
[[nodiscard]] bool is_local_key(bool in_default, std::string_view key) noexcept;
/// Whether such a row may lie in [begin, behind).
[[nodiscard]] bool may_cover_local_key(bool in_default, std::string_view begin, std::string_view behind);

}  // namespace ratchet::layout
