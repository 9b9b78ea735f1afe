// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/output.hpp"

namespace ratchet {

/// A message that its receiver does not take.
struct refused_message {
  output_row row;
  std::uint32_t attempts{0};           ///< refused so often in a row
  std::chrono::milliseconds next_try;  ///< from now on; 0: it is under way, or about to be
  std::string why;                     ///< as the receiver said
};

/// The messages of one lane of the outbox that are refused, and what an operator says of them. Thread-safety:
/// the owner's thread.
class refused_messages {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  virtual ~refused_messages() = default;

  /// Those that were refused when they were last sent, the lowest of each aggregate, at most `limit`.
  [[nodiscard]] virtual std::vector<refused_message> refused(time_point now, std::size_t limit) const = 0;
  /// Tries a message that was refused at once. False: there is none at this position.
  virtual bool retry(std::uint64_t position) = 0;
  /// What is to take the place of a message that was refused, in a step of the caller's; then skipped() is
  /// called. None: there is none at this position, or it is under way again.
  [[nodiscard]] virtual std::optional<skipped_output> skip(std::uint64_t position) const = 0;
  /// That step is durable. What its aggregate published behind it goes on.
  virtual void skipped(const skipped_output&) = 0;
};

/// With the name by which operators know the lane: its sink's, or k_topics_name.
struct named_refusals {
  std::string name;
  refused_messages* of{nullptr};  ///< borrowed
};

}  // namespace ratchet
