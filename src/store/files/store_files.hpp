// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "ratchet/error.hpp"

/// The files of a state directory, looked at by name and kind alone.
namespace ratchet {

/// A file that RocksDB makes in its directory, or that we make beside it.
[[nodiscard]] bool is_of_a_store(std::string_view name) noexcept;

/// What is wrong with the files before one is opened, for a person: "CURRENT is a FIFO and no regular file".
/// Whoever opened a FIFO would wait for ever, a device can be read without an end, and a link may lead to
/// either. Empty: nothing, as far as their names and kinds tell. Errors: of the system.
[[nodiscard]] result<std::string> find_irregular_file(const std::filesystem::path& directory);

}  // namespace ratchet
