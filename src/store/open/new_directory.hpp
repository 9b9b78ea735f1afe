// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <utility>

namespace ratchet {

/// A directory in which a store is being made. Until it is kept nobody was promised anything of it: then it
/// goes again, so that what an operator puts in its place does not end up inside of it.
class new_directory {
 public:
  new_directory() = default;
  /// `made`: the directory itself, too, was made for the store; else what is made in it goes alone.
  new_directory(std::filesystem::path path, bool made) : path_{std::move(path)}, made_{made} {}
  new_directory(new_directory&& other) noexcept { *this = std::move(other); }
  new_directory& operator=(new_directory&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(made_, other.made_);
    std::swap(holds_new_store_, other.holds_new_store_);
    return *this;
  }
  new_directory(const new_directory&) = delete;
  new_directory& operator=(const new_directory&) = delete;
  /// The database must be closed by now. What cannot be removed stays, as does everything that no store
  /// makes.
  ~new_directory();

  /// No store was there, so that the database's files, too, are new.
  void note_new_store() noexcept { holds_new_store_ = true; }
  /// Something in it is to stay.
  void keep() noexcept { path_.clear(); }

 private:
  std::filesystem::path path_;  ///< empty: it is kept
  bool made_{false};
  bool holds_new_store_{false};
};

}  // namespace ratchet
