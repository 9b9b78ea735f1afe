// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ratchet {

/// Says on standard error what does not hold, and where, and ends the process at once, as a kill would: what
/// is durable stays right, and nothing is built upon what cannot be. Any thread.
[[noreturn, gnu::cold]] void assertion_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace ratchet

/// For what must hold whatever comes from outside: where it does not, the code is wrong. On in every build,
/// so that it is to cost next to nothing. What users, brokers, disks or producers can bring about is an error
/// instead.
#define RATCHET_ASSERT(...)                              \
  (static_cast<bool>(__VA_ARGS__) ? static_cast<void>(0) \
                                  : ::ratchet::assertion_failed(#__VA_ARGS__, __FILE__, __LINE__))
