// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "ratchet/error.hpp"

/// A state directory is its owner's alone: it holds every snapshot, and whoever may write in it can put
/// another socket or database into its place. Its mode is what keeps others out, whatever the umask gave the
/// files in it.
namespace ratchet {

/// The directory that is there already, or one that is made with the mode 700 from its first moment on; those
/// above it are made as the umask says. True: it was made.
[[nodiscard]] reported<bool> make_private_directory(const std::filesystem::path&);

/// Refuses a directory of another user, who could change its mode and what it holds; and one behind a link of
/// another user but root, who could have chosen a directory that is nobody's state.
[[nodiscard]] reported<void> check_owner(const std::filesystem::path&);

/// Takes the rights of group and others from a directory of this user's.
[[nodiscard]] reported<void> close_to_others(const std::filesystem::path&);

/// The mode as a shell writes it, as in 755, where others than its owner have any rights; none where they
/// have not, or it cannot be asked.
[[nodiscard]] std::optional<std::string> mode_open_to_others(const std::filesystem::path&);

}  // namespace ratchet
