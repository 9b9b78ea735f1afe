// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "sim/consumer/step_book.hpp"

/// How the book says what is wrong.
namespace ratchet::sim {

[[nodiscard]] inline std::string place(const topic_partition& where) {
  return where.topic + "/" + std::to_string(static_cast<int>(where.partition));
}

inline void must_be(bool holds, const char* what) {
  if (!holds) throw broken(what);
}

inline void must_equal(std::uint64_t found, std::uint64_t wanted, const char* what) {
  if (found != wanted) {
    throw broken(std::string{what} + ": " + std::to_string(found) + ", but the oracle has " +
                 std::to_string(wanted));
  }
}

}  // namespace ratchet::sim
