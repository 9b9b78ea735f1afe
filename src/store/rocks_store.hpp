// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "ports/store.hpp"
#include "ratchet/error.hpp"

/// The store on RocksDB. No header of RocksDB is needed to use it.
namespace ratchet {

/// Where a step is written to the database.
enum class write_on : std::uint8_t {
  own_thread,    ///< while the owner goes on with the next step; an error is told by the call after it
  owner_thread,  ///< before write() returns: one thread does everything, in one order, as a simulation wants
                 ///< it
};

struct store_options {
  std::filesystem::path path;
  std::string group;
  /// The streams of the config. One that the store has and the config has not is refused where it holds
  /// anything, and so is a topic that another stream has read.
  std::vector<stream_meaning> streams;
  /// For memtables and block cache together.
  std::uint64_t database_bytes{std::uint64_t{256} << 20U};
  /// For what is remembered of recent ids and rows, all streams together.
  std::uint64_t remembered_bytes{std::uint64_t{256} << 20U};
  bool create{true};
  /// True: what the config changes is written while the store is opened. False: with the first step, so that
  /// whoever finds that it may not start leaves no trace. Then a directory that was made for it goes again.
  bool adopts_at_once{true};
  write_on writes{write_on::own_thread};
};

/// Opens a state directory for writing, and makes it where there is none.
/// Before any file is changed it is inspected read-only: identity, schema, the meaning of each stream, and
/// whether recovery would give an exact prefix of the steps in every column family, not below SYNCED. A
/// stream of which nothing would be lost (see holdings) takes a changed meaning and starts over: its
/// counters, floor, offsets and rejected rows go, see restarted_streams(). A stream takes more tables at any
/// time: see added_tables(). When this returns, everything recovered is durable. Closing (the destructor)
/// neither flushes nor syncs: what no sync covered is promised to nobody. Errors: state_missing (nothing
/// there, and not create); state_busy; state_foreign (not ours, another group, or a meaning that changed;
/// every changed line is a diagnostic); state_newer_schema; state_damaged; of RocksDB and the system.
[[nodiscard]] reported<std::unique_ptr<store>> open_store(const store_options&);

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
  /// Must not outlive this store.
  [[nodiscard]] virtual result<std::unique_ptr<store_view>> view() const = 0;
};

/// Opens a stopped directory read-only, under the same checks as open_store(); changes no file.
/// Errors: state_missing; state_busy; state_foreign; state_newer_schema; state_damaged; of RocksDB and the
/// system.
[[nodiscard]] reported<std::unique_ptr<read_only_store>> open_store_read_only(const std::filesystem::path&);

/// Checks a stopped directory: that it opens, every checksum, every row, and what must always hold between
/// them. Returns the findings, one line each; none: it is clean. Changes no file. Errors: as
/// open_store_read_only(), but for state_damaged, which is a finding.
[[nodiscard]] reported<std::vector<std::string>> verify_store(const std::filesystem::path&);

}  // namespace ratchet
