// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace ratchet {

/// CRC-32C (Castagnoli, RFC 3720 appendix B.4) of what gave `before` with `size` bytes more behind it; of
/// nothing it is 0. By the processor's own instructions where it has them. Thread-safety: any thread.
[[nodiscard]] std::uint32_t extend_crc32c(std::uint32_t before, const char* bytes, std::size_t size) noexcept;

}  // namespace ratchet
