// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/pair/cluster.hpp"
#include "sim/pair/judge.hpp"

namespace ratchet::pair_sim {

/// What the reducer makes of an event: it depends on all events before, so that one that is applied twice, or
/// not at all, shows.
[[nodiscard]] std::string folded(const std::string& before, const std::string& payload);

/// What one process without any fault would make of the input.
class plain_oracle {
 public:
  explicit plain_oracle(const cluster&);
  /// Throws `broken` where the rows say something else.
  void compare(const plain_rows::map&) const;
  /// By aggregate, in order.
  [[nodiscard]] const std::map<std::string, std::vector<std::string>>& messages() const { return messages_; }

 private:
  struct aggregate {
    std::uint32_t last{0};
    std::string state;
  };
  std::map<std::string, aggregate> all_;
  std::map<std::string, std::vector<std::string>> messages_;
  std::uint64_t consumed_{0};
  std::uint64_t applied_{0};
  std::uint64_t duplicate_{0};
  std::uint64_t stale_{0};
  std::map<topic_partition, std::int64_t> ends_;
};

}  // namespace ratchet::pair_sim
