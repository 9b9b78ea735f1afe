// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/consumer/step_book.hpp"

/// How the book says what is wrong.
namespace ratchet::sim {

[[nodiscard]] inline std::string place(const topic_partition& where) {
  return where.topic + "/" + std::to_string(static_cast<int>(where.partition));
}

/// Of a17.
[[nodiscard]] inline std::uint32_t number_of(std::string_view aggregate) {
  return static_cast<std::uint32_t>(std::stoul(std::string{aggregate.substr(1)}));
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

/// The step says that the positions before it are of another cluster.
[[nodiscard]] inline bool forgets_positions(const std::vector<audit_row>& audits) {
  return std::any_of(audits.begin(), audits.end(), [](const audit_row& row) {
    return row.kind == "cluster_changed" && row.text.find("are forgotten") != std::string::npos;
  });
}

}  // namespace ratchet::sim
