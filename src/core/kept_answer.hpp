// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "ratchet/types.hpp"

namespace ratchet {

/// What a transaction was answered. Kept with its id, so that who asks again gets it again.
struct kept_answer {
  ratchet::sequence sequence;          ///< the number that it took
  std::optional<hash128> fingerprint;  ///< XXH3-128 of what the caller gave to tell requests apart
  std::optional<std::string> reply;
  friend bool operator==(const kept_answer&, const kept_answer&) = default;
};

}  // namespace ratchet
