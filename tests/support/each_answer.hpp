// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ports/source.hpp"

/// A source is asked of many partitions at once; a test often asks, or answers, of one.
namespace ratchet::testing {

/// What `one` says of each.
template <class Of, class One>
[[nodiscard]] auto each_answer(std::span<const Of> all, One one) {
  std::vector<decltype(one(all.front()))> answers;
  for (const Of& of : all) answers.push_back(one(of));
  return answers;
}

inline result<log_bounds> bounds_of(source& from, const topic_partition& where,
                                    std::chrono::milliseconds timeout) {
  return from.bounds({&where, 1}, timeout).front();
}

inline result<std::optional<owned_record>> record_at(source& from, const topic_partition& where,
                                                     std::int64_t offset, std::chrono::milliseconds timeout) {
  const position there{where, offset};
  return from.read_at({&there, 1}, timeout).front();
}

}  // namespace ratchet::testing
