// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

#include "ratchet/error.hpp"

namespace ratchet {

/// Whose files can be taken as they are now. Thread-safety: the owner's thread alone.
class checkpointable {
 public:
  virtual ~checkpointable() = default;

  /// Flushes everything and links it into `directory`, an absolute path that must not exist: the state of
  /// last_step(), which is returned. What lies there is no store yet: see finish_checkpoint(). Takes as long
  /// as the flush, where the directory is on the same file system. Errors: operation_not_supported (this
  /// store has no files); of RocksDB and the system. After an error the directory may be there in part.
  [[nodiscard]] virtual result<std::uint64_t> checkpoint(const std::filesystem::path& directory) = 0;
};

}  // namespace ratchet
