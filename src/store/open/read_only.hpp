// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ports/replica.hpp"
#include "ports/store_view.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

/// A stream as a directory knows it.
struct stored_stream {
  std::string name;
  stream_id id{0};
  std::string meaning_hash;  ///< "sha256:" and 64 hex digits
  std::vector<std::pair<std::string, std::string>> meaning;
};

/// A state directory opened without its config, for reading. Stands still at the step it was opened at.
/// Thread-safety: all calls from any thread.
class read_only_store {
 public:
  virtual ~read_only_store() = default;
  [[nodiscard]] virtual std::string uuid() const = 0;
  [[nodiscard]] virtual std::string group() const = 0;
  [[nodiscard]] virtual std::string cluster_id() const = 0;
  [[nodiscard]] virtual std::vector<incarnation> incarnations() const = 0;
  [[nodiscard]] virtual std::vector<stored_stream> streams() const = 0;
  /// Where it follows a replicated log.
  [[nodiscard]] virtual std::optional<replica_at_rest> replica() const = 0;
  /// Must not outlive this store.
  [[nodiscard]] virtual result<std::unique_ptr<store_view>> view() const = 0;
};

/// Opens a stopped directory read-only, under the same checks as open_store(); changes no file.
/// Errors: state_missing; state_busy; state_foreign; state_newer_schema; state_damaged; of RocksDB and the
/// system.
[[nodiscard]] reported<std::unique_ptr<read_only_store>> open_store_read_only(const std::filesystem::path&);

}  // namespace ratchet
