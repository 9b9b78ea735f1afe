// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ratchet/config.hpp"
#include "streams/stream_findings.hpp"

/// The rules of an envelope: where its fields come from, and which types of events it names. The envelopes
/// are given with what their formats know by themselves. Pure.
namespace ratchet {

/// Bits of one half of a sequence.
inline constexpr int k_one_half = 64;

/// Each field has a source that its format takes, and nothing is missing that every stream of events needs.
void check_fields(const stream_config&, const envelope_config&, stream_findings&);

/// `key` says what keys are, so that a field must come from one.
void check_key(const envelope_config&, stream_findings&);

/// Texts that no type can ever be, or that leave nothing.
void check_patterns(const stream_config&, const envelope_config&, stream_findings&);

}  // namespace ratchet
