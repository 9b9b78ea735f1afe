// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <system_error>

#include "ratchet/reducer.hpp"

namespace ratchet {

/// How one call of a reducer ended.
struct reducer_call {
  ending how{ending::done};
  std::error_code cause;        ///< the reducer's own code
  const char* effect{nullptr};  ///< "publish", "put" or "erase": it asked for an effect, which is refused
  std::string thrown;           ///< the text of an exception, where one was thrown

  /// What a person reads of the failure.
  [[nodiscard]] std::string error() const;
};

/// Runs the reducer and lets nothing out of it: an exception is a failure that may pass. Where it did not end
/// with done, `s` may be half changed.
[[nodiscard]] reducer_call call_reducer(const reducer&, const event&, state& s);

}  // namespace ratchet
