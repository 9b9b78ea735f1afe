// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

/// What an owner asks of whatever keeps its log: ports/slot_log.hpp takes it as it is.
namespace ratchet::replicate {

/// What an append is called in its report. A fence has step 0.
struct append_ticket {
  std::uint64_t writer{0};
  std::uint64_t step{0};
  std::uint16_t chunk{0};
  friend bool operator==(const append_ticket&, const append_ticket&) = default;
};

/// A record to be appended, in the order in which they are given out, by a producer that keeps it.
struct append_request {
  append_ticket ticket;
  std::string record;
};

/// Offsets that are to be read. They are read one by one; what is behind the end is not to be given.
struct read_range {
  std::int64_t first{0};
  std::optional<std::int64_t> last;  ///< none: on and on, until this is asked for no more
  friend bool operator==(const read_range&, const read_range&) = default;
};

}  // namespace ratchet::replicate
