// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/output.hpp"
#include "outbox/position_queue.hpp"

namespace ratchet {

/// Which messages must not be sent yet, as one before them of their aggregate was refused: eight bytes each.
/// When that one is out of the way they are taken in order, the lowest of all aggregates first. Only what was
/// published has an order to keep. Thread-safety: none.
class held_aggregates {
 public:
  /// So many of one aggregate are taken and not ended at most, so that few come back if one is refused again.
  static constexpr std::size_t k_most_taken = 100;

  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
  /// One before it waits.
  [[nodiscard]] bool holds(const output_row&) const;
  /// holds() says so: it waits, too.
  void push(const output_row&);

  struct verdict {
    bool is_first;                           ///< it is the one that the others wait for
    std::optional<std::uint64_t> was_first;  ///< in its place; that one waits as the others do
  };
  /// It was refused.
  verdict refuse(const output_row&);
  /// The one that was refused is out of the way.
  void release(const output_row&);

  /// The lowest that may be sent now.
  [[nodiscard]] std::optional<std::uint64_t> next() const;
  /// That one is; ended() says when it no longer is under way.
  void take();
  void ended(const output_row&);

 private:
  using aggregate = std::pair<stream_id, std::string>;
  struct held {
    std::optional<std::uint64_t> refused;
    position_queue behind;
    std::size_t taken{0};
    std::optional<std::uint64_t> ready;  ///< as which it is in ready_
  };
  using aggregates = std::map<aggregate, held>;

  [[nodiscard]] static aggregate of(const output_row& row) { return {row.stream, row.aggregate}; }
  void update_ready(aggregates::iterator);

  aggregates all_;
  std::map<std::uint64_t, aggregates::iterator> ready_;  ///< by the first position that waits
};

}  // namespace ratchet
