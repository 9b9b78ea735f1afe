// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "ratchet/error.hpp"

namespace ratchet {

/// Whether a state directory is another consumer group's than the config says. None where it is not; one that
/// no group has claimed yet is anybody's. Nothing may be read for that config then, or changed.
/// Errors as a value: state_foreign.
[[nodiscard]] inline std::optional<problem> foreign_group(const std::filesystem::path& state,
                                                          const std::string& stored,
                                                          const std::string& configured) {
  if (stored.empty() || stored == configured) return std::nullopt;
  std::error_code failed;
  const std::filesystem::path whole = std::filesystem::absolute(state, failed);
  return problem{
      make_error_code(errc::state_foreign),
      "the state directory " + (failed ? state : whole).string() + " belongs to the consumer group \"" +
          stored + "\", the config has \"" + configured + "\"; no file was changed",
      "change kafka.group back, or name another state.path; a relative one counts from the directory "
      "in which you type",
      {}};
}

}  // namespace ratchet
