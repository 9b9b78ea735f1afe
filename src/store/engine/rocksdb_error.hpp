// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rocksdb/status.h>

#include <system_error>

namespace ratchet {

/// The category "rocksdb". A value is rocksdb::Status::Code in its low 8 bits, SubCode in the next 8 and
/// Severity in the next 8, so that nothing of a status but its text is lost.
[[nodiscard]] const std::error_category& rocksdb_category() noexcept;

/// An OK status gives an empty code. A corruption keeps its rocksdb code: whoever knows what was being read
/// decides whether that is errc::state_damaged.
[[nodiscard]] std::error_code to_error_code(const rocksdb::Status&) noexcept;

}  // namespace ratchet
