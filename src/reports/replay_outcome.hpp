// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ports/store_view.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

/// What came of an event that was to be tried again.
enum class replay_end : std::uint8_t {
  applied,
  superseded,  ///< it waits no more, as a newer event is applied: in `latest`
  gone,        ///< it waits no more, and was not applied: somebody else decided about it
  retrying,    ///< tried: it failed, and is tried again later
  dead,        ///< tried: it failed for good
  parked,      ///< it waits for others
  waiting,     ///< it has not been tried yet
};

/// The stable name of it: "applied", "superseded", "gone", "retrying", "dead", "parked", "waiting".
[[nodiscard]] const char* name_of(replay_end) noexcept;

struct replay_outcome {
  replay_end end{replay_end::waiting};
  std::string error;  ///< of the attempt; of dead and retrying ones
  std::string told;   ///< the whole of it in words
};

/// Of an event that waited, and was to be tried again before this view was made. `payload`: the hash of what
/// its reducer is given, which tells it from others of its number.
/// Errors: state_damaged; of the store.
[[nodiscard]] result<replay_outcome> outcome_of_replay(const store_view&, const named_stream&,
                                                       std::string_view aggregate, sequence,
                                                       const hash128& payload);

}  // namespace ratchet
