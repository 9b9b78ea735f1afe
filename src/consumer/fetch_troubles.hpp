// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>

#include "ratchet/types.hpp"

namespace ratchet {

/// How often fetches of one place have failed: what fails there again and again is not the network's fault.
/// Thread-safety: the owner's thread.
class fetch_troubles {
 public:
  /// The partition was out of range at this offset before, and read again from there. Twice means that the
  /// log and its bounds contradict each other.
  [[nodiscard]] bool was_read_again(const topic_partition& where, std::int64_t offset) const {
    const auto at = read_again_.find(where);
    return at != read_again_.end() && at->second == offset;
  }
  void note_read_again(const topic_partition& where, std::int64_t offset) { read_again_[where] = offset; }

  /// A batch could not be read while the partition stood there. How many times in a row, with this one.
  [[nodiscard]] int note_unreadable(const topic_partition& where, std::int64_t next_offset) {
    batch& met = unreadable_[where];
    if (met.next_offset != next_offset) met = {next_offset, 0};
    return ++met.times;
  }

  void forget() {
    read_again_.clear();
    unreadable_.clear();
  }

 private:
  struct batch {
    std::int64_t next_offset{0};  ///< of the partition
    int times{0};
  };
  std::map<topic_partition, std::int64_t> read_again_;
  std::map<topic_partition, batch> unreadable_;
};

}  // namespace ratchet
