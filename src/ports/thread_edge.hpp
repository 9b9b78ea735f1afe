// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <utility>

namespace ratchet {

/// Runs `work`, and tells `failed` in its own words what it threw: past the edge of a thread, or of a C
/// library, an exception ends the process and says nothing of where. True where nothing was thrown. `failed`
/// may not throw.
template <class Work, class Failed>
bool at_edge(Work&& work, Failed&& failed) noexcept {
  try {
    std::forward<Work>(work)();
    return true;
  } catch (const std::exception& thrown) {
    std::forward<Failed>(failed)(thrown.what());
  } catch (...) {  // NOLINT: whatever it is, it ends here
    std::forward<Failed>(failed)("an exception that is not a std::exception");
  }
  return false;
}

}  // namespace ratchet
