// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kafka/client.hpp"
#include "ports/source.hpp"

namespace ratchet {

/// Asks brokers for the bounds of logs on a thread of its own, so that a partition whose broker does not
/// answer holds up neither the owner nor, for longer than some seconds, the others. Thread-safety: one owner
/// thread.
class bounds_asker {
 public:
  bounds_asker();
  ~bounds_asker() { stop(); }
  bounds_asker(const bounds_asker&) = delete;
  bounds_asker& operator=(const bounds_asker&) = delete;

  struct question {
    topic_partition where;
    std::optional<std::int64_t> high;  ///< log_bounds::high, where fetches tell it; none: it is asked for
  };
  /// `uncommitted` sees what open transactions hold back; null: nothing is known of that. Passed over while
  /// the round before is under way, or where there is no thread to be had: whoever wants to know asks again.
  /// Whether it was asked.
  bool ask(std::shared_ptr<kafka_client>, std::shared_ptr<kafka_client> uncommitted, std::vector<question>);
  /// The answers since the last call.
  [[nodiscard]] std::vector<notice::bounds_told> take();
  /// The round under way ends with the questions that it is at; nobody waits for it.
  void stop() noexcept;

 private:
  struct round;
  std::shared_ptr<round> round_;
};

}  // namespace ratchet
